import type { EventEncoder } from "../../../core/stream/stream.ts";
import type { StreamEvent } from "../../../core/stream/events.ts";
import { pushAll } from "../../../core/push_all.ts";
import type { StreamRecord } from "../../../core/stream/reply.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import type { EncodedResponse } from "../../generate/translated_handler.ts";
import { errorRecord } from "../errors.ts";
import type { MessageEvent } from "./blocks.ts";
import { foldMessage } from "./fold.ts";
import type { MessageLabels } from "./labels.ts";
import { newMessageEvents } from "./message.ts";

export type { MessageLabels } from "./labels.ts";

const PING: StreamRecord = { event: "ping", data: '{"type":"ping"}', raw: null };

/** Returns the sign of life of the Messages API (streaming). */
export function ping(): StreamRecord {
  return PING;
}

/**
 * Creates the encoder of a Messages stream (Messages API, streaming). The stream ends with
 * `message_stop`, or with exactly one `error` record: clients take a stream that ends silently for
 * a complete response.
 */
export function newMessageEncoder(labels: MessageLabels): EventEncoder {
  const events = newMessageEvents(labels);
  let isDone = false;
  let isFailed = false;

  return {
    keepAlive: ping,
    push(event) {
      return records(events.push(event));
    },
    end() {
      if (isDone) return success([]);
      const terminal = records(events.end());
      isDone = terminal.ok;
      return terminal;
    },
    fail(failure) {
      if (isFailed) return [];
      isFailed = true;
      isDone = true;
      return [errorRecord(failure, labels.requestId)];
    },
    done: () => isDone,
    usage: events.usage,
    resource: () => null,
    reasoning: events.reasoning,
    heldBytes: events.heldBytes,
  };
}

/**
 * Returns the message of a complete list of events: the sum of the records of the same response as
 * a stream, with thinking first, then text, then calls. Fails like the stream encoder.
 */
export function encodeMessage(
  events: readonly StreamEvent[],
  labels: MessageLabels,
): Result<EncodedResponse> {
  const translation = newMessageEvents(labels);
  const steps = [...events.map(translation.push), translation.end()];
  const parts: MessageEvent[] = [];
  for (const step of steps) {
    if (!step.ok) return step;
    pushAll(parts, step.value);
  }
  const body = foldMessage(parts);
  if (!body.ok) return body;
  const reasoning = translation.reasoning();
  return success({ body: body.value, resource: null, usage: translation.usage(), reasoning });
}

function records(events: Result<readonly MessageEvent[]>): Result<readonly StreamRecord[]> {
  return events.ok ? success(events.value.map(recordOf)) : events;
}

/**
 * Returns an event as a record. SDKs skip records without an event line (Messages API, streaming).
 */
function recordOf(event: MessageEvent): StreamRecord {
  return { event: event.type, data: JSON.stringify(event), raw: null };
}
