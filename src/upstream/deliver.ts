import type { Delivery, Outcome } from "../core/codec.ts";
import type { Failure } from "../core/failure.ts";
import { pushAll } from "../core/push_all.ts";
import type { StreamRecord } from "../core/reply.ts";
import { fault, type Result, success } from "../core/result.ts";
import type { Source } from "./source.ts";

/** One upstream stream on its way to the client. */
export interface Stream {
  readonly source: Source;
  readonly delivery: Delivery;
  settle(outcome: Outcome): void;
  /** A codec threw, which is a bug. */
  threw(error: unknown): void;
  /** The stream is over: null when it was complete. Runs once. */
  over(failure: Failure | null): Promise<void>;
}

interface Step {
  readonly records: readonly StreamRecord[];
  readonly failure: Failure | null;
}

/**
 * Reads up to the first record that carries something. A failure until then is a failed attempt,
 * not a broken stream.
 */
export async function commit(
  stream: Stream,
): Promise<Result<AsyncIterable<readonly StreamRecord[]>>> {
  for (;;) {
    const step = await advance(stream);
    if (step.records.length > 0) return success(deliver(step, stream));
    if (step.failure !== null) {
      const failure = step.failure.kind === "upstream_idle"
        ? fault("upstream_timeout", "The provider's stream was silent for too long.").failure
        : step.failure;
      await stream.over(failure);
      return { ok: false, failure };
    }
  }
}

async function* deliver(
  first: Step,
  stream: Stream,
): AsyncGenerator<readonly StreamRecord[], void, void> {
  let step = first;
  // A consumer that stops early is a client that went: the generator is returned at its yield.
  let ending: Failure | null = fault("client_cancelled", "The client has gone.").failure;
  try {
    for (;;) {
      if (step.failure === null && stream.delivery.done()) ending = null;
      if (step.records.length > 0) yield step.records;
      if (step.failure !== null) {
        ending = step.failure;
        if (ending.kind !== "client_cancelled") yield stream.delivery.fail(ending);
        return;
      }
      if (ending === null) return;
      step = await advance(stream);
    }
  } finally {
    await stream.over(ending);
  }
}

async function advance({ source, delivery, settle, threw }: Stream): Promise<Step> {
  const group = await source.next();
  if (!group.ok) return { records: [], failure: group.failure };
  const records: StreamRecord[] = [];
  for (const record of group.value ?? [null]) {
    const out = taken(delivery, record, threw);
    if (!out.ok) return { records, failure: out.failure };
    pushAll(records, out.value);
    if (delivery.done()) break;
  }
  const outcome = delivery.outcome();
  if (outcome !== null) settle(outcome);
  return { records, failure: null };
}

/** A codec that throws is a bug; the client still gets its one terminal. */
function taken(
  delivery: Delivery,
  record: StreamRecord | null,
  threw: (error: unknown) => void,
): Result<readonly StreamRecord[]> {
  try {
    return record === null ? delivery.end() : delivery.push(record);
  } catch (error) {
    threw(error);
    return fault("internal_error", "The gateway has failed; this is a bug in it.");
  }
}
