import { Buffer } from "node:buffer";
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

/** Records, comments and blank lines among them, that may come before the first that carries something. */
const MAX_UNCOMMITTED_RECORDS = 1024;

/** Bytes of all these records together. */
const MAX_UNCOMMITTED_BYTES = 4 * 1024 * 1024;

/**
 * Reads up to the first record that carries something. A failure until then is a failed attempt,
 * not a broken stream, and so is a stream that begins with too much that carries nothing: it would
 * fill the memory or keep the client waiting for ever.
 */
export async function commit(
  stream: Stream,
): Promise<Result<AsyncIterable<readonly StreamRecord[]>>> {
  const budget = newBudget();
  for (;;) {
    const step = await advance(stream, budget);
    if (step.records.length > 0) return success(deliver(step, stream));
    if (step.failure !== null) {
      const failure = uncommitted(step.failure);
      await stream.over(failure);
      return { ok: false, failure };
    }
  }
}

/** Returns a failure as that of an attempt of which nothing was delivered: silence is a timeout then. */
export function uncommitted(failure: Failure): Failure {
  return failure.kind === "upstream_idle"
    ? fault("upstream_timeout", failure.message).failure
    : failure;
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

/** Counts records that carry nothing. */
interface Budget {
  /** Returns whether the stream may still go on after this record. */
  admits(record: StreamRecord): boolean;
}

function newBudget(): Budget {
  let records = 0;
  let bytes = 0;
  return {
    admits(record) {
      records += 1;
      bytes += Buffer.byteLength(record.raw ?? record.data);
      return records <= MAX_UNCOMMITTED_RECORDS && bytes <= MAX_UNCOMMITTED_BYTES;
    },
  };
}

/** Reads the next group of records; `budget` is for those before the first one that goes out. */
async function advance(
  { source, delivery, settle, threw }: Stream,
  budget: Budget | null = null,
): Promise<Step> {
  const group = await source.next();
  if (!group.ok) return { records: [], failure: group.failure };
  const records: StreamRecord[] = [];
  for (const record of group.value ?? [null]) {
    const out = taken(delivery, record, threw);
    if (!out.ok) return { records, failure: out.failure };
    pushAll(records, out.value);
    if (delivery.done()) break;
    const isWaiting = budget !== null && record !== null && records.length === 0;
    if (isWaiting && !budget.admits(record)) return { records, failure: tooMuchWaiting() };
  }
  const outcome = delivery.outcome();
  if (outcome !== null) settle(outcome);
  return { records, failure: null };
}

function tooMuchWaiting(): Failure {
  return fault(
    "upstream_response_too_large",
    "The provider's stream began with too much that carries nothing.",
  ).failure;
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
