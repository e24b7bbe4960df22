import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import type { StreamRecord } from "../../core/stream/reply.ts";
import { type Result, streamEndedEarly, success } from "../../core/failure/result.ts";
import type { Outcome, StreamTranslation } from "../../core/stream/stream.ts";
import type { Usage } from "../../core/stream/events.ts";
import { malformed, providerError } from "../../wires/openai/errors.ts";
import { BROKEN, BROKEN_END } from "../generate/openai_stream_end.ts";
import { mergeUsage } from "../../wires/reported_usage.ts";
import type { RelayedRequest } from "./request.ts";
import type { RoutedEndpoint } from "./table.ts";
import { relayedUnits, relayedUsage } from "./usage.ts";

/** The parts of an endpoint and its response that determine a stream. */
type StreamedEndpoint = Pick<RoutedEndpoint, "billed"> & {
  readonly ends: NonNullable<RoutedEndpoint["ends"]>;
  /** True if the body has a length or a last chunk, so that its end is no break. */
  readonly isDelimited: boolean;
};

/**
 * Creates the relay of an event stream: every record keeps its bytes. Comments before the first
 * event are held, so that a failure until then is a failed attempt. A stream is complete with an
 * event of the endpoint's last type, for each image; with `[DONE]`, as servers end it that do not
 * send this event; or with the end of a body that has a length or a last chunk, for completions
 * after a finish reason. An error event of the upstream is the failure of the stream.
 */
export function newRelayStream(
  { ends, billed, isDelimited }: StreamedEndpoint,
  { count, characters }: RelayedRequest,
): StreamTranslation {
  let waiting: StreamRecord[] | null = [];
  let usage: Usage | null = null;
  let last: JsonObject = {};
  let lastChars = 0;
  let ended = 0;
  let isDone = false;
  /**
   * The end of the body may be the end of the stream: completions say before it that they are
   * finished.
   */
  let isFinished = false;
  const expected = billed === "images" ? count : 1;

  function push(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (isDone) return success([]);
    const data = record.data.trim();
    if (data === "") return hold(record);
    if (data === "[DONE]") {
      if (waiting !== null) return streamEndedEarly();
      isDone = true;
      return success([record]);
    }
    const value = record.outline?.value ?? parseJson(data);
    if (!isObject(value)) return malformed("a record that is not a JSON object");
    const type = typeof value.type === "string" ? value.type : record.event ?? "";
    const isError = record.event === "error" || type === "error" || (value.error ?? null) !== null;
    if (isError) return providerError(value);
    usage = mergeUsage(usage, relayedUsage(value));
    if (isObject(value.usage)) setLast(value, data.length);
    isFinished ||= ends !== "[DONE]" || hasFinish(value);
    if (ends !== "[DONE]" && type.endsWith(ends)) {
      setLast(value, data.length);
      ended += 1;
      isDone = ended >= expected;
    }
    const released = [...waiting ?? [], record];
    waiting = null;
    return success(released);
  }

  function setLast(value: JsonObject, chars: number) {
    last = value;
    lastChars = chars;
  }

  function hold(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (waiting === null) return success([record]);
    waiting.push(record);
    return success([]);
  }

  function outcome(): Outcome | null {
    if (!isDone) return null;
    const units = relayedUnits(billed, { value: last, images: ended, characters });
    return { resource: null, usage, ...units !== null && { units } };
  }

  function end(): Result<readonly StreamRecord[]> {
    if (!isDone && (!isDelimited || !isFinished)) return streamEndedEarly();
    isDone = true;
    return success([]);
  }

  return {
    push,
    end,
    fail: () => ends === "[DONE]" ? BROKEN_END : [{ ...BROKEN, event: "error" }],
    done: () => isDone,
    usage: () => usage,
    heldBytes: () => lastChars,
    outcome,
  };
}

/** True if a choice of a chunk of completions has a finish reason. */
function hasFinish({ choices }: JsonObject): boolean {
  return Array.isArray(choices) &&
    choices.some((choice) => isObject(choice) && typeof choice.finish_reason === "string");
}
