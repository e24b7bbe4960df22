import type { Decoder } from "../../core/stream/stream.ts";
import type { StreamEvent, Usage } from "../../core/stream/events.ts";
import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import type { StreamRecord } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { malformed } from "../openai/errors.ts";
import type { Optional } from "../../prompt/refusals.ts";
import type { IdSource } from "../wire.ts";
import { decodeEnd, decodeStart, findFailure } from "./response.ts";
import { eventError, reportedFault } from "./errors.ts";
import type { CallType } from "./item.ts";
import { newOutputReader } from "./output.ts";
import { parsePiece, parsePlace } from "./pieces.ts";
import { parseResponseUsage } from "../openai/responses_usage.ts";
import { mergeUsage } from "../reported_usage.ts";

type Events = Result<readonly StreamEvent[]>;

const NOTHING: Events = { ok: true, value: [] };

/** The response status that each terminal event requires. */
const TERMINALS: ReadonlyMap<Optional, string> = new Map([
  ["response.completed", "completed"],
  ["response.incomplete", "incomplete"],
  ["response.failed", "failed"],
]);

/**
 * Returns the decoder of a Responses stream, which is complete at its terminal event. Each record
 * must be an event with matching name, type and status, of one response, with an increasing
 * sequence number.
 */
export function newDecoder(idSource: IdSource): Decoder {
  const reader = newOutputReader(idSource);
  let sequence = -1;
  let id: string | null = null;
  let done = false;
  let usage: Usage | null = null;

  function push({ event: name, data }: StreamRecord): Events {
    // A record of comments has no data.
    if (done || data === "") return NOTHING;
    const event = parseJson(data);
    if (!isObject(event)) return malformed("a stream record that is no JSON object");
    const { type, sequence_number: number } = event;
    const isBareError = type === undefined && (event.error ?? null) !== null;
    if (type === "error" || isBareError) return reportedFault(eventError(event));
    if (typeof type !== "string" || (name !== null && name !== type)) {
      return malformed("a stream record that is not of the type that it is named");
    }
    if (!isIndex(number) || number <= sequence) {
      return malformed("a stream record out of its sequence");
    }
    sequence = number;
    usage = mergeUsage(usage, findUsage(event));
    return read(type, event);
  }

  function read(type: string, event: JsonObject): Events {
    switch (type) {
      case "response.created":
      case "response.queued":
      case "response.in_progress":
        return begin(event.response);
      case "response.output_item.added":
      case "response.output_item.done": {
        const { output_index: index, item } = event;
        if (!isIndex(index)) return malformed("an output item without its place");
        return type.endsWith(".done") ? reader.finish(index, item) : reader.begin(index, item);
      }
      case "response.function_call_arguments.delta":
        return write("function_call", event, event.delta, false);
      case "response.function_call_arguments.done":
        return write("function_call", event, event.arguments, true);
      case "response.custom_tool_call_input.delta":
        return write("custom_tool_call", event, event.delta, false);
      case "response.custom_tool_call_input.done":
        return write("custom_tool_call", event, event.input, true);
      case "response.output_text.annotation.added": {
        const place = parsePlace(event, "content_index");
        return place === null
          ? malformed("an annotation without its place")
          : reader.annotate(place, event.annotation ?? null);
      }
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
      case "response.canceled":
        return finish(type, event.response);
      default: {
        // The items contain the content of hosted-tool and part events too.
        const piece = parsePiece(type, event);
        if (piece === null) return NOTHING;
        return piece.ok ? reader.say(piece.value) : piece;
      }
    }
  }

  function write(
    type: CallType,
    { output_index: index }: JsonObject,
    text: Optional,
    isWhole: boolean,
  ): Events {
    return isIndex(index) && typeof text === "string"
      ? reader.write(type, index, text, isWhole)
      : malformed("malformed tool arguments");
  }

  /**
   * Returns the first event, from the first response object in the stream. All later response
   * objects must have the same ID.
   */
  function begin(response: Optional): Events {
    if (!isObject(response)) return malformed("an event without its response");
    // Some servers omit `object` inside an event.
    const start = decodeStart({ object: "response", ...response }, idSource);
    if (!start.ok) return start;
    if (id !== null) {
      return id === start.value.id ? NOTHING : malformed("events of another response");
    }
    id = start.value.id;
    return success([start.value]);
  }

  function finish(type: string, response: Optional): Events {
    const begun = begin(response);
    if (!begun.ok || !isObject(response)) return begun;
    if (response.status !== TERMINALS.get(type)) {
      return malformed("a terminal that does not agree with its response");
    }
    const failure = findFailure(response);
    if (failure !== null) return failure;
    const events = [...begun.value];
    const output = Array.isArray(response.output) ? response.output : [];
    for (const [index, item] of output.entries()) {
      const finished = reader.finish(index, item);
      if (!finished.ok) return finished;
      pushAll(events, finished.value);
    }
    if (response.status === "completed" && reader.isOpen()) {
      return malformed("a completed response with an open item");
    }
    const end = decodeEnd(response, reader.hasCalls(), usage);
    if (!end.ok) return end;
    done = true;
    return success([...events, ...end.value]);
  }

  return {
    push,
    end: () => done ? NOTHING : malformed("a stream that ends before the response does"),
    done: () => done,
    heldBytes: reader.heldBytes,
    usage: () => usage,
  };
}

function isIndex(value: Optional): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/**
 * Returns the token counts of the response in an event; null if it has none. Invalid counts fail at
 * the terminal event.
 */
function findUsage({ response }: JsonObject): Usage | null {
  const counted = isObject(response) ? parseResponseUsage(response) : success(null);
  return counted.ok ? counted.value : null;
}
