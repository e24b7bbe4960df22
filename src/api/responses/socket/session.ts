import { type JsonDocument, parseJson } from "../../../core/json/json.ts";
import type { StreamRecord, StreamReply } from "../../../core/stream/reply.ts";
import { type Failed, refuse, type Result, success } from "../../../core/failure/result.ts";
import type { Call } from "../../../call/call.ts";
import { replaceDocument } from "../../../redaction/request.ts";
import { recordBodySession } from "../../../call/session.ts";
import { parseSteering } from "../../../access/steering.ts";
import { isHidden, resolveOwner } from "../../../routing/ownership.ts";
import { type Creator, isVisible } from "../../../store/bindings.ts";
import type { HoldState, Message, Session } from "../../client_api.ts";
import { createResponse } from "../create.ts";
import { findStreamId, parseCreateMessage, parseMessage } from "./socket_message.ts";
import type { Continuation } from "../state/continuation.ts";
import { continuationAfter, hasAnswered, type SocketContinuation } from "./socket_continuation.ts";
import { unknownPrevious } from "../state/resolve_continuation.ts";
import { warmUp } from "./warm_up.ts";

/**
 * Creates the session of one WebSocket. It holds only the last response, so that the next request
 * can continue it even with `store: false`. A failed continuation also drops the response it
 * continued.
 */
export function newResponsesSession(maxItems: number, hold: HoldState): Session {
  let last: SocketContinuation | null = null;
  /** Caller of the last response: a key may be renamed while the socket is open. */
  let lastCaller: Creator = null;
  let isEnded = false;

  function setLast(next: SocketContinuation | null) {
    last = isEnded ? null : next;
    hold(last?.bytes ?? 0, drop);
  }

  function drop() {
    if (last !== null) last = { ...last, continuation: null, bytes: 0 };
  }

  async function resolvePrevious(
    call: Call,
    id: string,
    provider: string | null,
  ): Promise<Result<Continuation>> {
    if (last === null || last.id !== id || !isVisible(call, lastCaller)) return unknownPrevious();
    const { continuation, isStored } = last;
    // A dialogue that is not stored continues while the store is unavailable.
    const found = isStored ? await call.state.objects.responses.findBinding(id) : success(null);
    if (!found.ok) return found;
    if (isHidden(call, found.value)) return unknownPrevious();
    if (continuation === null) {
      return refuse(
        "state_too_large",
        "This dialogue has grown beyond 16 MiB, or the largest one was dropped because server.max_body_memory " +
          "was full; begin another without previous_response_id.",
        "previous_response_id",
      );
    }
    const param = "previous_response_id";
    const owned = resolveOwner(call, { param, provider }, found.value);
    return owned.ok ? success(continuation) : owned;
  }

  function isContinuation({ value }: JsonDocument): boolean {
    return last !== null && value.previous_response_id === last.id;
  }

  async function run(call: Call, document: JsonDocument): Promise<Result<StreamReply>> {
    const continues = isContinuation(document);
    // True for a response with output, even if nothing can continue it.
    let isLast = false;
    let latest: SocketContinuation | null = null;
    const reply = await createResponse(call, document, {
      resolvePrevious,
      hidesErrors: true,
      async onFinished(finished) {
        latest = await continuationAfter(call, finished);
        isLast = hasAnswered(finished);
      },
    });
    if (!reply.ok) {
      if (continues && !isRepeatable(reply)) setLast(null);
      return reply;
    }
    if (reply.value.kind !== "stream") {
      throw new Error("a WebSocket request got an unstreamed reply");
    }
    return success({ ...reply.value, records: ending(reply.value.records) });

    async function* ending(records: AsyncIterable<readonly StreamRecord[]>) {
      try {
        yield* records;
      } finally {
        if (isLast || continues) {
          setLast(latest);
          lastCaller = call.caller.name;
        }
      }
    }
  }

  async function warm(call: Call, document: JsonDocument): Promise<Result<StreamReply>> {
    const warmed = await warmUp(call, document, resolvePrevious);
    if (!warmed.ok) {
      if (isContinuation(document) && !isRepeatable(warmed)) setLast(null);
      return warmed;
    }
    setLast(warmed.value.continuation);
    lastCaller = call.caller.name;
    return success(warmed.value.reply);
  }

  function serve(call: Call, document: JsonDocument, isWarmUp: boolean) {
    return isWarmUp ? warm(call, document) : run(call, document);
  }

  return {
    end() {
      isEnded = true;
      setLast(null);
    },
    findStreamId: (text) => findStreamId(parseJson(text)),
    parseMessage(text, hold): Message {
      const message = parseMessage(text, { maxItems, hold });
      // The error of a message with a duplicate key must carry the `stream_id` that waits for it.
      if (!message.ok) {
        const isParsed = message.failure.kind === "invalid_json";
        return { streamId: isParsed ? findStreamId(parseJson(text)) : null, turn: message };
      }
      const streamId = findStreamId(message.value.value);
      const frame = parseCreateMessage(message.value);
      if (!frame.ok) return { streamId: streamId, turn: frame };
      const { document, isWarmUp } = frame.value;
      return {
        streamId: streamId,
        turn: success({
          text: document.text,
          async run(call) {
            const { client, controls } = call;
            const members = () => Object.entries(document.value);
            client.steering = parseSteering(client.key, controls.model, members);
            recordBodySession(call, { body: document.value });
            if (client.privacy === null) return await serve(call, document, isWarmUp);
            const sent = await replaceDocument(call, document);
            if (!sent.ok) return sent;
            call.capture?.request(sent.value.text);
            return await serve(call, sent.value, isWarmUp);
          },
        }),
      };
    },
  };
}

/** True if the client may send the same turn again when the state store is back. */
function isRepeatable({ failure }: Failed): boolean {
  return failure.kind === "state_unavailable";
}
