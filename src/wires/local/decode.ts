import type { Decoder } from "../../core/stream/stream.ts";
import type { FinishReason, StreamEvent, Usage } from "../../core/stream/events.ts";
import { newId } from "../../core/ids.ts";
import { isObject, type JsonObject, type JsonText, parseJson } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { IdSource } from "../wire.ts";
import { type Call, newCallReader } from "./calls.ts";
import { isError, malformed, recordFault } from "./errors.ts";
import type { Optional } from "../../prompt/refusals.ts";
import { countOrZero, fractionProblem, tokenCount, usageFrom } from "../token_counts.ts";

/** Returns a complete response as stream events. It is parsed like a stream with one record. */
export function decode(body: JsonText, idSource: IdSource): Result<readonly StreamEvent[]> {
  const reading = newRecordReader(idSource);
  const events = reading.read(body.value, body.text);
  if (events.ok && !reading.done()) return malformed("a response that is not finished");
  return events;
}

/**
 * Returns the decoder of a stream with one JSON object per line, the last with `done: true`.
 * Records without client content produce no event. A stream that ends before the last record is a
 * failure.
 */
export function newDecoder(idSource: IdSource): Decoder {
  const reading = newRecordReader(idSource);
  return {
    push({ data }) {
      if (reading.done() || data.trim() === "") return success([]);
      const record = parseJson(data);
      return isObject(record)
        ? reading.read(record, data)
        : malformed("a line that is no JSON object");
    },
    end() {
      return reading.done() ? success([]) : malformed("a stream that ended too early");
    },
    done: () => reading.done(),
    usage: () => reading.usage(),
  };
}

interface RecordReader {
  /** Returns the events of a record. `text` is its JSON text, in which numbers are exact. */
  read(record: JsonObject, text: string): Result<readonly StreamEvent[]>;
  /** True after the last record. */
  done(): boolean;
  /** Returns the token counts of the last record; null before it arrives or if it has none. */
  usage(): Usage | null;
}

function newRecordReader(idSource: IdSource): RecordReader {
  const readCalls = newCallReader(idSource);
  let isStarted = false;
  let callCount = 0;
  let isDone = false;
  let usage: Usage | null = null;

  function read(record: JsonObject, text: string): Result<readonly StreamEvent[]> {
    if (isError(record.error)) return recordFault(record, isStarted);
    const message = record.message ?? {};
    if (!isObject(message)) return malformed("a message that is no object");
    const decoded = decodeMessage(message);
    if (!decoded.ok) return decoded;
    const calls = readCalls(message.tool_calls, record, text);
    if (!calls.ok) return calls;
    const events = [
      ...decoded.value,
      ...calls.value.map((call, at) => spoken(call, callCount + at)),
    ];
    callCount += calls.value.length;
    if (record.done === true) {
      const counted = parseUsage(record);
      if (!counted.ok) return counted;
      usage = counted.value;
      const reason = parseFinishReason(record.done_reason, callCount > 0);
      if (!reason.ok) return reason;
      if (usage !== null) events.push({ type: "usage", usage });
      events.push({ type: "finish", reason: reason.value });
      isDone = true;
    }
    if (isStarted || events.length === 0) return success(events);
    isStarted = true;
    return success([decodeStart(record, idSource), ...events]);
  }

  return {
    read,
    done: () => isDone,
    usage: () => usage,
  };
}

function decodeStart(record: JsonObject, idSource: IdSource): StreamEvent {
  const { model, created_at } = record;
  const at = typeof created_at === "string" ? Date.parse(created_at) : NaN;
  return {
    type: "start",
    id: newId("chatcmpl-", idSource),
    model: typeof model === "string" ? model : "",
    created: Number.isNaN(at) ? idSource.unix() : Math.floor(at / 1000),
  };
}

/**
 * Returns the events of a message. Reasoning comes before the content of the same record, because
 * the model generated it first.
 */
function decodeMessage(message: JsonObject): Result<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for (const [key, type] of [["thinking", "reasoning"], ["content", "text"]] as const) {
    const delta = message[key] ?? "";
    if (typeof delta !== "string") return malformed(`a message whose ${key} is no string`);
    if (delta !== "") events.push({ type, delta });
  }
  return success(events);
}

function spoken({ id, name, text }: Call, index: number): StreamEvent {
  return { type: "tool_call", index, id, name, arguments: text };
}

/**
 * Returns the finish reason. The runtime ends tool calls with "stop" too. An unknown reason is a
 * failure, because the response may be incomplete.
 */
function parseFinishReason(reason: Optional, hasCalls: boolean): Result<FinishReason> {
  switch (reason ?? "stop") {
    case "stop":
    case "":
      return success(hasCalls ? "tool_calls" : "stop");
    case "length":
      return success("length");
    default:
      return malformed("a response that ended for no known reason");
  }
}

const COUNTS = ["prompt_eval_count", "eval_count", "prompt_eval_cached_count"];

/**
 * Returns the token counts; null if both are missing, because they are unknown then, not zero. The
 * runtime omits a count that is zero, so a single missing count is zero; an invalid one is unknown.
 */
function parseUsage(record: JsonObject): Result<Usage | null> {
  const problem = fractionProblem(record, COUNTS);
  if (problem !== null) return problem;
  const { prompt_eval_count: input = null, eval_count: output = null } = record;
  if (input === null && output === null) return success(null);
  return success(usageFrom({
    input: countOrZero(input),
    output: countOrZero(output),
    cached: tokenCount(record.prompt_eval_cached_count),
  }));
}
