import { Buffer } from "node:buffer";
import type { Outcome, StreamTranslation } from "../../../core/stream/stream.ts";
import type { Usage } from "../../../core/stream/events.ts";
import {
  isObject,
  type JsonDocument,
  type JsonObject,
  parseExact,
} from "../../../core/json/json.ts";
import type { StreamRecord } from "../../../core/stream/reply.ts";
import {
  type Failed,
  responseTooLarge,
  type Result,
  streamEndedEarly,
  success,
} from "../../../core/failure/result.ts";
import type { Edit, Entry } from "../../../formats/edit.ts";
import { editRecord } from "../../../formats/edit_record.ts";
import { malformed } from "../../../wires/openai/errors.ts";
import { parseResponseUsage } from "../../../wires/openai/responses_usage.ts";
import { mergeUsage } from "../../../wires/reported_usage.ts";
import { commentKeepAlive } from "../../generate/keep_alive.ts";
import { hasContent, identityAfter, type NativeEvent, parseEvent, parseTerminal } from "./event.ts";
import { responseError } from "../generate/error_code.ts";
import { failedRecord, newDeliveredItems } from "./failed.ts";
import { memberEdits, type OwnMembers, ownMembers } from "./own_members.ts";

/** Options of the relay of a native Responses stream. */
export interface NativeOptions extends OwnMembers {
  /** Response ID that the stream must have; null accepts the first ID of the stream. */
  readonly expected: string | null;
  /** Returns a new response ID, for a failure before the stream has sent one. */
  newId(): string;
  /** Returns the current time in seconds since 1970. */
  unix(): number;
  /** Model name for a failure of a stream that has not sent one. */
  readonly model: string;
  /**
   * True if clients treat an `error` event as the end of the stream: only the terminal is sent
   * then.
   */
  readonly hidesErrors?: boolean;
}

/** Limits of the records that are buffered after an `error` event until the terminal event. */
const MAX_WAITING_RECORDS = 1024, MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** An `error` event that is buffered until the terminal event of its stream. */
interface HeldError {
  readonly failed: Failed;
  /** Records to send: the event itself, unless hidden, and the records after it. */
  readonly records: StreamRecord[];
  sequence: number;
}

/**
 * Creates the relay of a native Responses stream. It checks every event, and changes a record's
 * bytes only to set the gateway's own members. Comments and keep-alives are buffered until the
 * first event. An `error` event is buffered until the provider's own `response.failed`; without
 * that, or before the first event, the stream fails. A stream has one response ID, ascending
 * sequence numbers and one terminal event, after which everything is ignored.
 */
export function newNativeRelay(options: NativeOptions): StreamTranslation {
  let waiting: StreamRecord[] | null = [];
  /** Bytes of the records after a buffered error. */
  let heldBytes = 0;
  let id = options.expected;
  let sequence = -1;
  let lastEvent: string | null = null;
  let isEnded = false;
  let isFailed = false;
  let outcome: Outcome | null = null;
  let error: HeldError | null = null;
  let usage: Usage | null = null;
  const items = newDeliveredItems();

  function push(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (isEnded) return success([]);
    const accepted = take(record);
    // The provider's error explains more than an invalid record after it.
    return accepted.ok ? accepted : error?.failed ?? accepted;
  }

  function take(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (record.data === "") return holdOrPass(record);
    const read = parseEvent(record);
    if (!read.ok) return read;
    const event = read.value;
    if (event.error !== null) return holdError(record, event, event.error);
    if (event.sequence <= (error?.sequence ?? sequence)) {
      return malformed("an event whose sequence number is not above the one before");
    }
    const identity = identityAfter(event, id);
    if (!identity.ok) return identity;
    usage = mergeUsage(usage, parseUsage(event));
    const terminal = parseTerminal(event);
    if (!terminal.ok) return terminal;
    if (error !== null && event.type !== "response.failed") {
      if (hasContent(event)) return error.failed;
      error.sequence = event.sequence;
      return holdOrPass(record);
    }
    const entries = event.response === null ? [] : ownMembers(event.response, options);
    const sent = entries.length === 0
      ? record
      : editRecord(record, responseEdits(event.document, entries));
    if (terminal.value !== null) {
      const finished = finish(sent.data);
      // ID and sequence stay at their values before the terminal event, which `fail` may replace.
      return finished.ok ? success([...error?.records ?? waiting ?? [], sent]) : finished;
    }
    const released = hasContent(event) ? releaseWith(sent) : holdOrPass(sent);
    id = identity.value;
    sequence = event.sequence;
    if (event.response !== null) lastEvent = sent.data;
    items.add(event);
    return released;
  }

  function holdError(
    record: StreamRecord,
    event: NativeEvent,
    failed: Failed,
  ): Result<readonly StreamRecord[]> {
    const isNext = waiting === null && error === null && event.sequence > sequence;
    if (!isNext || !identityAfter(event, id).ok) return failed;
    error = { failed, records: options.hidesErrors ? [] : [record], sequence: event.sequence };
    heldBytes = 0;
    return success([]);
  }

  /** Passes a record without content on, or holds it back while earlier records wait. */
  function holdOrPass(record: StreamRecord): Result<readonly StreamRecord[]> {
    const before = error?.records ?? waiting;
    if (before === null) return success([record]);
    // Before the response is committed, the driver of the stream limits the buffered records.
    if (error !== null) heldBytes += Buffer.byteLength(record.raw ?? record.data);
    const isFull = error !== null && before.length >= MAX_WAITING_RECORDS;
    if (isFull || heldBytes > MAX_WAITING_BYTES) {
      return responseTooLarge("The provider's stream holds too much behind an error event.");
    }
    before.push(record);
    return success([]);
  }

  /** Returns the records that wait, then this record, which has content. */
  function releaseWith(record: StreamRecord): Result<readonly StreamRecord[]> {
    const before = error?.records ?? waiting;
    if (before === null) return success([record]);
    waiting = null;
    return success([...before, record]);
  }

  function finish(data: string): Result<void> {
    const event = parseExact(data);
    const response = isObject(event) && isObject(event.response) ? event.response : null;
    const resource = response === null ? null : withOutput(response);
    // The counts in it are among those that were read; they must be valid.
    const counted = resource === null ? success(null) : parseResponseUsage(resource);
    if (!counted.ok) return counted;
    isEnded = true;
    outcome = { resource, usage, ...resource?.status === "failed" && { isFailed: true } };
    return success(undefined);
  }

  /**
   * Returns the Response object with the delivered items if a provider omits `output` at the end.
   */
  function withOutput(resource: JsonObject): JsonObject {
    if ((resource.output ?? null) !== null) return resource;
    return { ...resource, output: parseExact(items.text()) ?? [] };
  }

  return {
    keepAlive: commentKeepAlive,
    push,
    end: () => isEnded ? success([]) : error?.failed ?? streamEndedEarly(),
    fail(failure) {
      if (isFailed) return [];
      isFailed = true;
      isEnded = true;
      outcome = null;
      const broken = {
        id: id ?? options.newId(),
        sequence: sequence + 1,
        lastEvent,
        output: items.text(),
        error: responseError(failure),
      };
      return [...waiting ?? [], failedRecord(broken, options)];
    },
    done: () => isEnded,
    outcome: () => outcome,
    identity: () => waiting === null ? id : null,
    usage: () => usage,
    heldBytes: () => items.bytes() + heldBytes + (lastEvent?.length ?? 0),
  };
}

/**
 * Returns the token counts of an event's Response object; null if absent or invalid (only a
 * terminal event fails).
 */
function parseUsage({ response }: NativeEvent): Usage | null {
  const counted = response === null ? success(null) : parseResponseUsage(response);
  return counted.ok ? counted.value : null;
}

function responseEdits(
  { text, members }: JsonDocument,
  entries: readonly Entry[],
): readonly Edit[] {
  const member = members.find(({ key }) => key === "response");
  return member === undefined ? [] : memberEdits(text, member.start, entries);
}
