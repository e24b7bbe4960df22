import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import type { StreamRecord } from "../../core/reply.ts";
import { fault, type Result, success } from "../../core/result.ts";
import type { Outcome, StreamTranslation } from "../../core/stream.ts";
import type { Usage } from "../../core/events.ts";
import { malformed, providerError } from "../../wires/openai/errors.ts";
import { BROKEN, BROKEN_END } from "../openai_stream_end.ts";
import type { RelayedRequest } from "./request.ts";
import type { RoutedEndpoint } from "./table.ts";
import { relayedUnits, relayedUsage } from "./usage.ts";

/** The parts of an endpoint that determine its streams. */
type StreamedEndpoint = Pick<RoutedEndpoint, "billed"> & {
  readonly ends: NonNullable<RoutedEndpoint["ends"]>;
};

/**
 * Creates the relay of an event stream: every record keeps its bytes. Comments before the first event are
 * held, so that a failure until then is a failed attempt. A stream of completions is complete with
 * `[DONE]`, any other one with an event of the endpoint's last type for each image. An error event of the
 * upstream is the failure of the stream.
 */
export function newRelayStream(
  { ends, billed }: StreamedEndpoint,
  { count, characters }: RelayedRequest,
): StreamTranslation {
  let waiting: StreamRecord[] | null = [];
  let usage: Usage | null = null;
  let last: JsonObject = {};
  let ended = 0;
  let isDone = false;
  const expected = billed === "images" ? count : 1;

  function push(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (isDone) return success([]);
    const data = record.data.trim();
    if (data === "") return hold(record);
    if (data === "[DONE]") {
      if (ends !== "[DONE]") return hold(record);
      if (waiting !== null) return endedEarly();
      isDone = true;
      return success([record]);
    }
    const value = parseJson(data);
    if (!isObject(value)) return malformed("a record that is not a JSON object");
    const type = typeof value.type === "string" ? value.type : record.event ?? "";
    const isError = record.event === "error" || type === "error" || (value.error ?? null) !== null;
    if (isError) return providerError(value);
    usage = relayedUsage(value) ?? usage;
    if (ends !== "[DONE]" && type.endsWith(ends)) {
      last = value;
      ended += 1;
      isDone = ended >= expected;
    }
    const released = [...waiting ?? [], record];
    waiting = null;
    return success(released);
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

  return {
    push,
    end: () => isDone ? success([]) : endedEarly(),
    fail: () => ends === "[DONE]" ? BROKEN_END : [{ ...BROKEN, event: "error" }],
    done: () => isDone,
    usage: () => usage,
    outcome,
  };
}

function endedEarly(): Result<never> {
  return fault(
    "invalid_upstream_response",
    "The provider's stream ended before the answer was finished.",
  );
}
