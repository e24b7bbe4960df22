import type { Turn } from "../api/client_api.ts";
import { bugText } from "../core/bug.ts";
import { failureAnswer } from "../core/envelope.ts";
import type { Failure } from "../core/failure.ts";
import { isObject, parseJson } from "../core/json.ts";
import type { StreamReply } from "../core/reply.ts";
import { type Failed, fault, refuse, type Result } from "../core/result.ts";
import { changeMembers, membersOf, splice } from "../formats/edit.ts";
import { utf8Text } from "../formats/utf8.ts";
import type { Call } from "../gateway/call.ts";
import { begin, finish, type Rim } from "./respond.ts";
import type { SocketWriter } from "./socket_writer.ts";

/** The turns of one socket: one runs, the others wait for theirs. */
export interface Turns {
  add(call: Call, label: string | null, turn: Turn, size: number): void;
  /** Tells that a message is not answered, out of turn. */
  refuse(call: Call, label: string | null, refused: Failed): void;
  /** The client has gone: nothing that runs or waits is wanted any more. */
  leave(): void;
  readonly isIdle: boolean;
}

/** So many turns may wait, with so many characters together. */
const MOST_WAITING = 16, LARGEST_WAITING = 16 * 1024 * 1024;

interface Waiting {
  readonly call: Call;
  readonly label: string | null;
  readonly turn: Turn;
  readonly size: number;
}

/** No turns yet; `turned` is told whenever none runs or waits any more. */
export function newTurns(writer: SocketWriter, rim: Rim, turned: () => void): Turns {
  const waiting: Waiting[] = [];
  let running: Waiting | null = null;

  async function work(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      running = next;
      await answer(next);
      running = null;
    }
    turned();
  }

  async function answer({ call, label, turn }: Waiting): Promise<void> {
    const reply = await ran(call, turn);
    begin(call, reply);
    const isWhole = reply.ok
      ? await delivered(call, label, reply.value)
      : await writer.send(labelled(errorEvent(reply.failure), label));
    finish(call, rim, isWhole);
  }

  async function delivered(call: Call, label: string | null, reply: StreamReply) {
    try {
      for await (const group of reply.records) {
        for (const { data } of group) {
          if (data === "") continue;
          if (!await writer.send(labelled(data, label))) return false;
        }
      }
      return !call.departure.gone;
    } catch (error) {
      call.report.bug = bugText(error);
      const failure = fault("internal_error", "The gateway has failed; this is a bug in it.");
      await writer.send(labelled(errorEvent(failure.failure), label));
      return false;
    }
  }

  return {
    add(call, label, turn, size) {
      const held = waiting.reduce((sum, one) => sum + one.size, size);
      const isFull = waiting.length >= MOST_WAITING || held > LARGEST_WAITING;
      if (isFull && running !== null) {
        const refused = refuse(
          "too_many_pending_requests",
          `At most ${MOST_WAITING} requests may wait on one socket; send more when some are answered.`,
        );
        return this.refuse(call, label, refused);
      }
      waiting.push({ call, label, turn, size });
      if (running === null && waiting.length === 1) void work();
    },
    refuse(call, label, refused) {
      begin(call, refused);
      writer.tell(labelled(errorEvent(refused.failure), label));
      finish(call, rim, true);
    },
    leave() {
      running?.call.departure.leave();
      for (const { call } of waiting.splice(0)) {
        call.departure.leave();
        const gone = fault("client_cancelled", "The client has gone.");
        begin(call, gone);
        finish(call, rim, false);
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
    // What is thrown is a bug.
    call.report.bug = bugText(error);
    return fault("internal_error", "The gateway has failed; this is a bug in it.");
  }
}

/** Flat and nested at once: clients read either (OpenAI API, Responses over WebSocket). */
function errorEvent(failure: Failure): string {
  const { status, body } = failureAnswer(failure);
  const envelope = parseJson(utf8Text(body) ?? "");
  const told = isObject(envelope) && isObject(envelope.error) ? envelope.error : {};
  const { type = null, code = null, message = null, param = null } = told;
  const error = { ...told, type, code, message, param };
  return JSON.stringify({
    type: "error",
    status,
    code,
    message,
    param,
    sequence_number: 0,
    error,
  });
}

function labelled(data: string, label: string | null): string {
  if (label === null) return data;
  const change = ["stream_id", JSON.stringify(label)] as const;
  return splice(data, changeMembers(data.indexOf("{"), membersOf(data), [change]));
}
