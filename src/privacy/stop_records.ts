import { isObject, type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import type { StreamRecord } from "../core/stream/reply.ts";

/** Why the gateway ends a stream. */
export interface StopReason {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  /** The error of a failed response (Responses API). */
  readonly failed: JsonObject;
}

/**
 * Returns the terminal records of a stream that the gateway ends, with the reason in the form of
 * each protocol: those of a broken stream name none, and a failed response has what the stream has
 * held back.
 */
export function stopRecords(
  records: readonly StreamRecord[],
  reason: StopReason,
): readonly StreamRecord[] {
  return records.map((record) => {
    const value = parseJson(record.data);
    const changed = isObject(value) ? withReason(value, reason) : null;
    return changed === null ? record : { ...record, data: JSON.stringify(changed), raw: null };
  });
}

/**
 * Returns records that follow the last one that was delivered, with the numbers behind its own:
 * what a search has held back had numbers too. Records of protocols without numbers stay.
 */
export function numberedAfter(
  last: StreamRecord | null,
  records: readonly StreamRecord[],
): readonly StreamRecord[] {
  let next = (last === null ? null : sequenceOf(parseJson(last.data))) ?? -1;
  return records.map((record) => {
    const value = parseJson(record.data);
    if (!isObject(value) || sequenceOf(value) === null) return record;
    return { ...record, data: JSON.stringify({ ...value, sequence_number: ++next }), raw: null };
  });
}

/** Returns the records with a number above `number`, those without one and a failure. */
export function recordsAfter(
  records: readonly StreamRecord[],
  number: number,
): readonly StreamRecord[] {
  return records.filter(({ event, data }) =>
    event === "error" || event === "response.failed" ||
    (sequenceOf(parseJson(data)) ?? Infinity) > number
  );
}

function sequenceOf(event: JsonValue | undefined): number | null {
  return isObject(event) && typeof event.sequence_number === "number"
    ? event.sequence_number
    : null;
}

function withReason(
  value: JsonObject,
  { message, type, code, failed }: StopReason,
): JsonObject | null {
  const { response, error } = value;
  if (isObject(response)) {
    return { ...value, response: { ...response, output: [], error: failed } };
  }
  // An error event of the Messages API has its code in the details, as its error responses have.
  if (isObject(error) && value.type === "error" && value.code === undefined) {
    return { ...value, error: { type, message, details: { error_code: code } } };
  }
  return isObject(error) ? { ...value, error: { message, type, param: null, code } } : null;
}
