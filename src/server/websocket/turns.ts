import type { Turn } from "../../api/client_api.ts";
import type { StreamReply } from "../../core/reply.ts";
import { type Failed, fault, refuse, type Result } from "../../core/result.ts";
import { changeMembers, parseMembers, splice } from "../../formats/edit.ts";
import type { Call } from "../../call/call.ts";
import { internalError } from "../internal_error.ts";
import {
  captureContent,
  failureReply,
  finishCall,
  recordFirstByte,
  type Responder,
} from "../respond.ts";
import { errorEvent } from "./socket_error.ts";
import type { SocketWriter } from "./socket_writer.ts";

/** The turns of one socket: one runs, the others wait for theirs. */
export interface Turns {
  /**
   * Takes a message, also one that is refused: a client that sends ahead tells answers apart by their
   * order. Only what too many wait before is answered out of turn.
   */
  add(call: Call, label: string | null, turn: Result<Turn>): void;
  /** The gateway is about to end: what waits is not begun any more. */
  close(): void;
  /** The client has gone: nothing that runs or waits is wanted any more. */
  leave(): void;
  readonly isIdle: boolean;
}

/** So many turns may wait, with so many characters together. */
const MOST_WAITING = 16, LARGEST_WAITING = 16 * 1024 * 1024;

interface Waiting {
  readonly call: Call;
  readonly label: string | null;
  readonly turn: Result<Turn>;
}

/** No turns yet; `turned` is told whenever none runs or waits any more. */
export function newTurns(writer: SocketWriter, rim: Responder, turned: () => void): Turns {
  const waiting: Waiting[] = [];
  let running: Waiting | null = null;
  let isClosing = false;

  async function work(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      running = next;
      await answer(next);
      running = null;
    }
    turned();
  }

  async function answer({ call, label, turn }: Waiting): Promise<void> {
    const reply = isClosing ? draining() : turn.ok ? await ran(call, turn.value) : turn;
    recordFirstByte(call, reply);
    const isWhole = reply.ok
      ? await delivered(call, label, reply.value)
      : await said(call, label, failureText(call, reply));
    finishCall(call, rim, isWhole);
  }

  async function delivered(call: Call, label: string | null, reply: StreamReply) {
    const { records } = captureContent(call, reply);
    try {
      for await (const group of records) {
        for (const { data } of group) {
          if (data !== "" && !await said(call, label, data)) return false;
        }
      }
      // Who leaves now has had everything, though the upstream may still have been ending.
      return true;
    } catch (error) {
      await said(call, label, errorEvent(internalError(call, error).failure, {}));
      return false;
    }
  }

  async function said(call: Call, label: string | null, text: string): Promise<boolean> {
    const isSent = await writer.send(labelled(text, label));
    // The connection is ending, which may not have been told yet.
    if (!isSent) call.cancellation.clientDisconnected();
    return isSent;
  }

  /** Because so many wait, this one is told at once that it is not answered. */
  function refuseAtOnce({ call, label, turn }: Waiting): void {
    const refused = turn.ok ? tooManyPending() : turn;
    recordFirstByte(call, refused);
    writer.tell(labelled(failureText(call, refused), label));
    finishCall(call, rim, true);
  }

  return {
    add(call, label, turn) {
      if (turn.ok) call.capture?.request(turn.value.text);
      const added = { call, label, turn };
      const size = waiting.reduce((sum, one) => sum + sizeOf(one), sizeOf(added));
      const isFull = waiting.length >= MOST_WAITING || size > LARGEST_WAITING;
      if (isFull && running !== null) return refuseAtOnce(added);
      waiting.push(added);
      if (running === null) void work();
    },
    close() {
      isClosing = true;
    },
    leave() {
      running?.call.cancellation.clientDisconnected();
      for (const { call } of waiting.splice(0)) {
        call.cancellation.clientDisconnected();
        recordFirstByte(call, fault("client_cancelled", "The client has gone."));
        finishCall(call, rim, false);
      }
    },
    get isIdle() {
      return running === null && waiting.length === 0;
    },
  };
}

async function ran(call: Call, turn: Turn): Promise<Result<StreamReply>> {
  try {
    return await turn.run(call);
  } catch (error) {
    return internalError(call, error);
  }
}

/** A message that is refused is only remembered by its label, which may be as long as it was. */
function sizeOf({ label, turn }: Waiting): number {
  return (label?.length ?? 0) + (turn.ok ? turn.value.text.length : 0);
}

function draining(): Failed {
  return refuse("draining", "The gateway is shutting down; send the request on another socket.");
}

function tooManyPending(): Failed {
  return refuse(
    "too_many_pending_requests",
    `At most ${MOST_WAITING} requests may wait on one socket; send more when some are answered.`,
  );
}

/** Returns the event for a failure; what it would be over HTTP is captured. */
function failureText(call: Call, { failure }: Failed): string {
  call.capture?.reply(failureReply(call, failure));
  return errorEvent(failure, call.answerHeaders);
}

function labelled(data: string, label: string | null): string {
  if (label === null) return data;
  const change = ["stream_id", JSON.stringify(label)] as const;
  return splice(data, changeMembers(data.indexOf("{"), parseMembers(data), [change]));
}
