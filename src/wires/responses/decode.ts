import type { StreamEvent } from "../../core/stream/events.ts";
import type { JsonText } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { malformed } from "../openai/errors.ts";
import type { IdSource } from "../wire.ts";
import { decodeEnd, decodeStart, findFailure } from "./response.ts";
import { newOutputReader } from "./output.ts";

/**
 * Returns a complete response as events. Fails on an error, on a response without an ID, on a
 * status other than completed or incomplete for a known reason, and on an item type that has no
 * counterpart in Chat.
 */
export function decode(
  { value }: JsonText,
  idSource: IdSource,
): Result<readonly StreamEvent[]> {
  const failure = findFailure(value);
  if (failure !== null) return failure;
  if (!Array.isArray(value.output)) return malformed("a response without output");
  const start = decodeStart(value, idSource);
  if (!start.ok) return start;
  const reader = newOutputReader(idSource);
  const events: StreamEvent[] = [start.value];
  for (const [index, item] of value.output.entries()) {
    const finished = reader.finish(index, item);
    if (!finished.ok) return finished;
    pushAll(events, finished.value);
  }
  const end = decodeEnd(value, reader.hasCalls());
  return end.ok ? success([...events, ...end.value]) : end;
}
