import { type JsonDocument, parseJson } from "../../../core/json/json.ts";
import type { StreamRecord, StreamReply } from "../../../core/reply.ts";
import { refuse, type Result, success } from "../../../core/result.ts";
import type { Call } from "../../../call/call.ts";
import { isHidden, isVisible, resolveOwner } from "../../../call/owner.ts";
import type { Creator } from "../../../state/bindings.ts";
import type { Message, Session } from "../../client_api.ts";
import { createResponse } from "../create.ts";
import { labelOf, readFrame, readMessage } from "./socket_message.ts";
import type { Continuation } from "../state/continuation.ts";
import { hasAnswered, keptOf, type SocketContinuation } from "./socket_continuation.ts";
import { unknownPrevious } from "../state/resolve_continuation.ts";
import { warmUp } from "./warm_up.ts";

/**
 * The dialogue of one socket. It remembers one response, its last one, so that the next turn can
 * continue it, stored or not; a continuation that fails is forgotten with what it continued.
 */
export function newResponsesSession(maxItems: number): Session {
  let kept: SocketContinuation | null = null;
  /** Whose turn that was: a key may get another name while the socket is open. */
  let keeper: Creator = null;

  async function resolvePrevious(
    call: Call,
    id: string,
    provider: string | null,
  ): Promise<Result<Continuation>> {
    if (kept === null || kept.id !== id || !isVisible(call, keeper)) return unknownPrevious();
    const { continuation } = kept;
    const found = await call.state.objects.responses.findBinding(id);
    if (!found.ok) return found;
    if (isHidden(call, found.value)) return unknownPrevious();
    if (continuation === null) {
      return refuse(
        "state_too_large",
        "This dialogue has grown beyond 16 MiB; begin another without previous_response_id.",
        "previous_response_id",
      );
    }
    const param = "previous_response_id";
    const owned = resolveOwner(call, { param, provider }, found.value);
    return owned.ok ? success(continuation) : owned;
  }

  function isContinuation({ value }: JsonDocument): boolean {
    return kept !== null && value.previous_response_id === kept.id;
  }

  async function run(call: Call, document: JsonDocument): Promise<Result<StreamReply>> {
    const continues = isContinuation(document);
    // The last response also when nothing can continue it.
    let isLast = false;
    let latest: SocketContinuation | null = null;
    const reply = await createResponse(call, document, {
      resolvePrevious,
      hidesErrors: true,
      settled(settled) {
        isLast = hasAnswered(settled);
        latest = keptOf(call, settled);
      },
    });
    if (!reply.ok) {
      if (continues) kept = null;
      return reply;
    }
    if (reply.value.kind === "whole") throw new Error("a turn was answered as a whole");
    return success({ ...reply.value, records: ending(reply.value.records) });

    async function* ending(records: AsyncIterable<readonly StreamRecord[]>) {
      try {
        yield* records;
      } finally {
        if (isLast || continues) {
          kept = latest;
          keeper = call.caller.name;
        }
      }
    }
  }

  async function warm(call: Call, document: JsonDocument): Promise<Result<StreamReply>> {
    const warmed = await warmUp(call, document, resolvePrevious);
    if (!warmed.ok) {
      if (isContinuation(document)) kept = null;
      return warmed;
    }
    kept = warmed.value.kept;
    keeper = call.caller.name;
    return success(warmed.value.reply);
  }

  return {
    read(text): Message {
      const message = readMessage(text, maxItems);
      // A lane waits for its answer also when the message is refused for a key that comes twice.
      if (!message.ok) {
        const isParsed = message.failure.kind !== "request_too_large";
        return { label: isParsed ? labelOf(parseJson(text)) : null, turn: message };
      }
      const label = labelOf(message.value.value);
      const frame = readFrame(message.value);
      if (!frame.ok) return { label, turn: frame };
      const { document, isWarmUp } = frame.value;
      return {
        label,
        turn: success({
          text: document.text,
          run: (call) => isWarmUp ? warm(call, document) : run(call, document),
        }),
      };
    },
  };
}
