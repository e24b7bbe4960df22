import type { Message, Turn } from "../../api/client_api.ts";
import type { StreamReply } from "../../core/stream/reply.ts";
import {
  cancelled,
  clientGone,
  type Failed,
  refuse,
  type Result,
} from "../../core/failure/result.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { changeMembers, parseMembers, splice } from "../../formats/edit.ts";
import type { Call } from "../../call/call.ts";
import { internalError } from "../internal_error.ts";
import { finishTurn } from "../finish_answer.ts";
import {
  captureContent,
  failureReply,
  finishCall,
  recordFirstByte,
  type Responder,
} from "../respond.ts";
import { watchSilence } from "../silence.ts";
import { errorEvent } from "./socket_error.ts";
import type { SocketWriter } from "./socket_writer.ts";

/** A message that waits for the decision of a shared store, or for its turn of the event loop. */
export interface EnteringMessage {
  readonly chars: number;
  /** Finds its `stream_id`; null if the message is too large to be parsed before its turn. */
  readonly streamId: (() => string | null) | null;
  /** Resolves with the message once it is admitted or refused. */
  readonly message: Promise<Message>;
}

/** Maximum number of queued turns, and of their characters together. */
const MAX_QUEUED_TURNS = 16, MAX_QUEUED_CHARS = 16 * 1024 * 1024;

/** Maximum size of a message that is parsed although it may be refused, in characters. */
const MAX_SMALL_CHARS = 32 * 1024;

interface Waiting {
  readonly call: Call;
  /** The admitted or refused message replaces the other one: a refusal does not hold its text. */
  message: Message | EnteringMessage;
}

/** State of a socket between its turns. */
interface TurnEnds {
  /** Called before an admitted turn begins, and when it has ended. */
  onTurn(): void;
  /** Called when no turn runs or is queued any more. */
  onIdle(): void;
}

/** Returns the turns of one socket: one runs, further turns are queued. */
export function newTurns(
  writer: SocketWriter,
  responder: Responder,
  { onTurn, onIdle }: TurnEnds,
) {
  const waiting: Waiting[] = [];
  let running: Waiting | null = null;
  let isClosing = false;

  async function work(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      running = next;
      await serveTurn(next);
      running = null;
      onTurn();
    }
    onIdle();
  }

  async function serveTurn(waiting: Waiting): Promise<void> {
    const { call, message } = waiting;
    const { streamId, turn } = isEntering(message) ? await message.message : message;
    onTurn();
    const answered = isClosing ? draining() : turn.ok ? await runTurn(call, turn.value) : turn;
    const { privacy } = call.client;
    const { made: reply, error } = privacy === null
      ? { made: answered }
      : await finishTurn(call, privacy, answered);
    recordFirstByte(call, reply);
    const isWhole = reply.ok
      ? await sendStream(call, streamId, reply.value)
      : await sendText(call, streamId, failureText(call, reply, error));
    finishCall(call, responder, { isWhole });
  }

  async function sendStream(call: Call, streamId: string | null, reply: StreamReply) {
    // What privacy rules have changed is captured before its values come back.
    const isFinished = call.client.privacy !== null;
    const { records, keepAlive } = isFinished ? reply : captureContent(call, reply);
    const { report: { trace }, world, generation: { config: { server } } } = call;
    let isSending = false;
    let lastWrite = world.now();

    // A group was numbered as a whole: a sign of life must not come between its records.
    function sendKeepAlive() {
      const alive = isSending ? null : keepAlive?.() ?? null;
      // A comment has no place in messages.
      if (alive === null || alive.data === "") return;
      lastWrite = world.now();
      writer.sendNow(withStreamId(alive.data, streamId));
    }

    const isWatched = keepAlive !== undefined && server.ping_interval > 0;
    const endWatch = !isWatched ? () => {} : watchSilence({
      world,
      silenceMs: server.ping_interval,
      lastWrite: () => lastWrite,
      onSilence: sendKeepAlive,
    });
    try {
      for await (const group of records) {
        isSending = true;
        if (trace !== null) trace.records += group.length;
        for (const { data } of group) {
          if (data !== "" && !await sendText(call, streamId, data)) return false;
        }
        isSending = false;
        lastWrite = world.now();
      }
      // A client that disconnects here has had all events, though the upstream may still be ending.
      return true;
    } catch (error) {
      await sendText(call, streamId, errorEvent(internalError(call, error).failure, {}));
      return false;
    } finally {
      endWatch();
    }
  }

  async function sendText(call: Call, streamId: string | null, text: string): Promise<boolean> {
    // What an overloaded gateway holds of the turn goes at once, however slowly the client reads.
    const isUrgent = () => call.cancellation.reason?.kind === "overloaded";
    const isSent = await writer.send(withStreamId(text, streamId), isUrgent);
    // The connection is closing; its close event may not have been delivered yet.
    if (!isSent) call.cancellation.clientDisconnected();
    return isSent;
  }

  function refuse(call: Call, streamId: string | null, refused: Failed): void {
    call.cancellation.cancel(refused.failure);
    recordFirstByte(call, refused);
    writer.sendNow(withStreamId(failureText(call, refused), streamId));
    finishCall(call, responder, { isWhole: true });
  }

  /** Rejects a message because the queue is full. */
  function refuseFull(call: Call, message: Message | EnteringMessage): void {
    if (!isEntering(message)) {
      refuse(call, message.streamId, message.turn.ok ? tooManyPending() : message.turn);
    } else if (message.streamId !== null) refuse(call, message.streamId(), tooManyPending());
    else void message.message.then((entered) => refuseFull(call, entered));
  }

  return {
    /**
     * Queues a message, including a refused message: a client that pipelines messages matches
     * responses by their order. Only a message that exceeds the queue limits is refused out of
     * order. A message that a shared store has not admitted yet waits for it in its place.
     */
    add(call: Call, message: Message | EnteringMessage): void {
      const added: Waiting = { call, message };
      if (!isEntering(message)) captureRequest(call, message);
      else {
        void message.message.then((entered) => {
          added.message = entered;
          captureRequest(call, entered);
        });
      }
      const size = waiting.reduce((sum, one) => sum + queuedChars(one), queuedChars(added));
      const isFull = waiting.length >= MAX_QUEUED_TURNS || size > MAX_QUEUED_CHARS;
      if (isFull && running !== null) return refuseFull(call, message);
      waiting.push(added);
      if (running === null) void work();
    },
    /**
     * Rejects a message immediately, out of order. What a shared store grants it afterwards is
     * given back.
     */
    refuse,
    /** Refuses queued and further turns, because the gateway shuts down. */
    close(): void {
      isClosing = true;
    },
    /** Cancels the running turn and drops queued turns, because the client disconnected. */
    leave(): void {
      running?.call.cancellation.clientDisconnected();
      for (const { call } of waiting.splice(0)) {
        call.cancellation.clientDisconnected();
        recordFirstByte(call, clientGone());
        finishCall(call, responder, { isWhole: false });
      }
    },
    get isIdle() {
      return running === null && waiting.length === 0;
    },
  };
}

/** True if a message of this size is parsed only once it is admitted, in its turn. */
export function isLarge(chars: number): boolean {
  return chars > MAX_SMALL_CHARS;
}

/**
 * Returns the turn of the event loop in which an admitted message of this size is parsed, or then
 * served; null if that may be done now. Without turns, messages that arrive together keep the event
 * loop until the last one is served.
 */
export function nextTurn(
  call: Call,
  chars: number,
  kind: "large" | "entering" = "entering",
): Promise<void> | null {
  // A message that is not parsed yet is not looked at again before its turn.
  const cancellation = kind === "large" ? call.cancellation : null;
  return call.turns.next(isLarge(chars) ? kind : "start", cancellation);
}

function isEntering(message: Message | EnteringMessage): message is EnteringMessage {
  return "message" in message;
}

/**
 * Captures the text of a turn, unless it was refused without a look at it. With privacy rules the
 * turn captures what they have left.
 */
function captureRequest(call: Call, { turn }: Message): void {
  if (turn.ok && call.client.privacy === null) call.capture?.request(turn.value.text);
}

async function runTurn(call: Call, turn: Turn): Promise<Result<StreamReply>> {
  const begins = nextTurn(call, turn.text.length, "large");
  if (begins !== null) await begins;
  if (call.cancellation.isCancelled) return cancelled(call.cancellation.reason);
  try {
    return await turn.run(call);
  } catch (error) {
    return internalError(call, error);
  }
}

/**
 * Returns the size of a queue entry in characters. A rejected message has only its stream ID, which
 * is short.
 */
function queuedChars({ message }: Waiting): number {
  if (isEntering(message)) return message.chars;
  return message.turn.ok ? message.turn.value.text.length : 0;
}

function draining(): Failed {
  return refuse("draining", "The gateway is shutting down; send the request on another socket.");
}

function tooManyPending(): Failed {
  return refuse(
    "too_many_pending_requests",
    `At most ${MAX_QUEUED_TURNS} requests may wait on one socket; send more when some are answered.`,
  );
}

/**
 * Returns the error event of a failure, with the error that a search has finished; the equivalent
 * HTTP response is captured, if the search has not done it.
 */
function failureText(call: Call, { failure }: Failed, finished?: JsonObject): string {
  if (finished === undefined) call.capture?.reply(failureReply(call, failure));
  return errorEvent(failure, call.responseHeaders, finished);
}

function withStreamId(data: string, streamId: string | null): string {
  if (streamId === null) return data;
  const change = ["stream_id", JSON.stringify(streamId)] as const;
  return splice(data, changeMembers(data.indexOf("{"), parseMembers(data), [change]));
}
