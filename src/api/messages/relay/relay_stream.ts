import { isObject, type JsonObject } from "../../../core/json/json.ts";
import type { StreamRecord } from "../../../core/stream/reply.ts";
import { type Result, streamEndedEarly, success } from "../../../core/failure/result.ts";
import type { StreamTranslation } from "../../../core/stream/stream.ts";
import { reportedFault } from "../../../wires/messages/errors.ts";
import { newStreamUsage } from "../../../wires/messages/response.ts";
import { holdsSecret } from "../../../wires/secret_text.ts";
import { findValue, replaceValue } from "../../../formats/edit.ts";
import { editRecord } from "../../../formats/edit_record.ts";
import { errorRecord } from "../errors.ts";
import { eventData, eventType } from "./event.ts";

/**
 * Creates the relay of a Messages stream: every record keeps its bytes, except `model` if the
 * client of a named model sees another one. Records are held until the first `content_block_start`
 * or `message_delta`; a stream that fails or ends before that is a failed attempt. The first
 * `message_stop` ends the stream, and so does an `error` event of the upstream, which is sent as it
 * is unless it holds one of the `secrets` of the provider or a signature. Indexes, order and
 * unknown events are not checked (Messages API, streaming).
 */
export function newMessageRelay(
  requestId: string,
  secrets: readonly string[],
  shownModel: string | null = null,
): StreamTranslation {
  let waiting: StreamRecord[] | null = [];
  const usage = newStreamUsage();
  let isDone = false;
  let isFiltered = false;
  /** The upstream's own error event, which is the terminal of the stream. */
  let reported: StreamRecord | null = null;

  function push(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (isDone) return success([]);
    const type = eventType(record);
    switch (type) {
      case "message_start": {
        const { message } = eventData(record.data);
        if (isObject(message)) usage.start(message.usage);
        return release(shownModel === null ? record : withModel(record, shownModel), false);
      }
      case "message_delta": {
        const { usage: counts, delta } = eventData(record.data);
        usage.delta(counts);
        isFiltered ||= waiting !== null && isObject(delta) && delta.stop_reason === "refusal";
        return release(record, true);
      }
      case "content_block_start":
        return release(record, true);
      case "message_stop":
        if (waiting !== null) return streamEndedEarly();
        isDone = true;
        return success([record]);
      case "error": {
        const body = eventData(record.data);
        if (waiting === null && !showsSecret(record.data, body, secrets)) reported = record;
        return reportedFault(body);
      }
      default:
        return release(record, false);
    }
  }

  function release(record: StreamRecord, begins: boolean): Result<readonly StreamRecord[]> {
    if (waiting === null) return success([record]);
    waiting.push(record);
    if (!begins) return success([]);
    const released = waiting;
    waiting = null;
    return success(released);
  }

  return {
    push,
    end: () => isDone ? success([]) : streamEndedEarly(),
    fail: (failure) => [reported ?? errorRecord(failure, requestId)],
    done: () => isDone,
    isFiltered: () => isFiltered,
    usage: usage.counted,
    outcome: () => isDone ? { resource: null, usage: usage.counted() } : null,
  };
}

/** Returns the first record of a stream with this model in its message. */
function withModel(record: StreamRecord, model: string): StreamRecord {
  const span = findValue(record.data, ["message", "model"]);
  return span === null ? record : editRecord(record, [replaceValue(span, JSON.stringify(model))]);
}

/** True if the data of a record holds a secret, in the text or behind the escapes of JSON. */
function showsSecret(data: string, body: JsonObject, secrets: readonly string[]): boolean {
  return holdsSecret(data, secrets) ||
    data.includes("\\") && holdsSecret(JSON.stringify(body), secrets);
}
