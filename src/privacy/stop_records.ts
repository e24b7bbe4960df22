import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import type { StreamRecord } from "../core/stream/reply.ts";

/** Why the gateway ends a stream. */
export interface StopReason {
  readonly message: string;
  readonly type: string;
  readonly code: string;
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

function withReason(value: JsonObject, { message, type, code }: StopReason): JsonObject | null {
  const { response, error } = value;
  if (isObject(response)) {
    return { ...value, response: { ...response, output: [], error: { code, message } } };
  }
  // An error event of the Messages API has its code in the details, as its error responses have.
  if (isObject(error) && value.type === "error" && value.code === undefined) {
    return { ...value, error: { type, message, details: { error_code: code } } };
  }
  return isObject(error) ? { ...value, error: { message, type, param: null, code } } : null;
}
