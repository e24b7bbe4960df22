import { Buffer } from "node:buffer";
import type { Outcome, StreamTranslation } from "../../../core/codec.ts";
import type { Usage } from "../../../core/events.ts";
import { isExactId } from "../../../core/ids.ts";
import {
  isObject,
  type JsonDocument,
  type JsonObject,
  parseExact,
} from "../../../core/json/json.ts";
import type { HttpResponse, StreamRecord, UpstreamResponse } from "../../../core/reply.ts";
import { type Failed, fault, type Result, success } from "../../../core/result.ts";
import { skipBlanks } from "../../../core/json/scan.ts";
import { hasKeyTwice } from "../../../formats/document.ts";
import { utf8Bytes } from "../../../formats/utf8.ts";
import { malformed, providerError } from "../../../wires/openai/errors.ts";
import { responseUsage } from "../../../wires/openai/responses_usage.ts";
import { parseResponseDocument } from "../../answer_document.ts";
import { associated } from "./association.ts";
import { beginsAnswer, identityAfter, type NativeEvent, readEvent, terminalOf } from "./event.ts";
import { deliveredItems, failedRecord } from "./failed.ts";

/** How a native Responses stream is relayed. */
export interface NativeOptions {
  /** The local conversation that the response belongs to; null leaves every frame as it is. */
  readonly conversation: string | null;
  /** The id that the stream must have; null: its first one locks it. */
  readonly expected: string | null;
  /** For a synthetic failure before an identity is known. */
  newId(): string;
  /** Seconds since 1970. */
  unix(): number;
  /** For a synthetic failure of a stream that told none. */
  readonly model: string;
  /** True where clients take an error event for the end of the stream: they get the terminal alone. */
  readonly hidesErrors?: boolean;
}

/** Limits of the records that wait for the terminal behind an error. */
const MAX_WAITING = 1024, MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** An error event that waits for the terminal of its stream. */
interface HeldError {
  readonly failed: Failed;
  /** The event, unless it is hidden, and what has come behind it. */
  readonly records: StreamRecord[];
  sequence: number;
}

/**
 * Relays a Responses stream of a provider that speaks the client's protocol: every event is checked,
 * and keeps its bytes unless a local conversation is put into it. Comments and signs of life wait for
 * the first event, and an error event for the provider's own `response.failed`: without it, and before
 * the first event, it is a failure. One response, rising sequence numbers, one terminal, which ends the
 * stream.
 */
export function nativeRelay(options: NativeOptions): StreamTranslation {
  let waiting: StreamRecord[] | null = [];
  /** Bytes behind a held error. */
  let held = 0;
  let id = options.expected;
  let sequence = -1;
  let told: string | null = null;
  let isOver = false;
  let isFailed = false;
  let outcome: Outcome | null = null;
  let error: HeldError | null = null;
  let usage: Usage | null = null;
  const items = deliveredItems();

  function push(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (isOver) return success([]);
    const taken = take(record);
    // An error says more than what is wrong behind it.
    return taken.ok ? taken : error?.failed ?? taken;
  }

  function take(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (record.data === "") return release(record, false);
    const read = readEvent(record);
    if (!read.ok) return read;
    const event = read.value;
    if (event.error !== null) return holdError(record, event, event.error);
    if (event.sequence <= (error?.sequence ?? sequence)) {
      return malformed("an event whose sequence number is not above the one before");
    }
    const identity = identityAfter(event, id);
    if (!identity.ok) return identity;
    usage = usageIn(event) ?? usage;
    const terminal = terminalOf(event);
    if (!terminal.ok) return terminal;
    if (error !== null && event.type !== "response.failed") {
      if (beginsAnswer(event)) return error.failed;
      error.sequence = event.sequence;
      return release(record, false);
    }
    const { conversation } = options;
    const sent = conversation === null || event.response === null
      ? record
      : { ...record, data: rewritten(event.document, conversation), raw: null };
    if (terminal.value !== null) {
      const finished = finish(sent.data);
      // The state stays as it was before the terminal, which `fail` may have to replace.
      return finished.ok ? success([...error?.records ?? waiting ?? [], sent]) : finished;
    }
    const released = release(sent, beginsAnswer(event));
    id = identity.value;
    sequence = event.sequence;
    if (event.response !== null) told = sent.data;
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
    held = 0;
    return success([]);
  }

  function release(record: StreamRecord, begins: boolean): Result<readonly StreamRecord[]> {
    const before = error?.records ?? waiting;
    if (before === null) return success([record]);
    if (!begins) {
      // Before the commit the driver of the stream limits what waits.
      if (error !== null) held += Buffer.byteLength(record.raw ?? record.data);
      const isFull = error !== null && before.length >= MAX_WAITING;
      if (isFull || held > MAX_WAITING_BYTES) return tooMuchWaiting();
      before.push(record);
      return success([]);
    }
    waiting = null;
    return success([...before, record]);
  }

  function finish(data: string): Result<void> {
    const event = parseExact(data);
    const given = isObject(event) && isObject(event.response) ? event.response : null;
    const resource = given === null ? null : withOutput(given);
    const usage = resource === null ? success(null) : responseUsage(resource);
    if (!usage.ok) return usage;
    isOver = true;
    outcome = { resource, usage: usage.value };
    return success(undefined);
  }

  /** Some providers leave the output out of the terminal: it is what the stream has delivered. */
  function withOutput(resource: JsonObject): JsonObject {
    if ((resource.output ?? null) !== null) return resource;
    return { ...resource, output: parseExact(items.text()) ?? [] };
  }

  return {
    push,
    end: () => isOver ? success([]) : error?.failed ?? endedEarly(),
    fail({ message }) {
      if (isFailed) return [];
      isFailed = true;
      isOver = true;
      outcome = null;
      const broken = {
        id: id ?? options.newId(),
        sequence: sequence + 1,
        told,
        output: items.text(),
        message,
      };
      const failure = failedRecord(broken, options);
      return [...waiting ?? [], failure];
    },
    done: () => isOver,
    outcome: () => outcome,
    identity: () => waiting === null ? id : null,
    usage: () => usage,
  };
}

/** The token counts of the response in an event; null for none. Ones that are wrong fail the terminal. */
function usageIn({ response }: NativeEvent): Usage | null {
  const counted = response === null ? success(null) : responseUsage(response);
  return counted.ok ? counted.value : null;
}

/**
 * A whole Response of a provider that speaks the client's protocol: the same bytes unless a local
 * conversation is put into it. Anything that is not the Response asked for is a fault.
 */
export function nativeAnswer(
  answer: UpstreamResponse,
  { conversation, expected }: Pick<NativeOptions, "conversation" | "expected">,
): Result<{ readonly answer: HttpResponse; readonly outcome: Outcome }> {
  const document = parseResponseDocument(answer);
  if (!document.ok) return document;
  const { text, value, members } = document.value;
  // Its id binds an owner: no reader may take another one from the same bytes.
  if (hasKeyTwice(members, value)) return malformed("an answer in which a key comes twice");
  if (value.object !== "response") {
    return (value.error ?? null) === null
      ? malformed("an answer that is no Response object")
      : providerError(value);
  }
  if (!isExactId(value.id)) return malformed("a response without an exact id");
  if (expected !== null && value.id !== expected) {
    return malformed("another response than the one asked for");
  }
  const sent = conversation === null ? text : associated(text, skipBlanks(text, 0), conversation);
  const exact = parseExact(sent);
  const resource = isObject(exact) ? exact : value;
  const usage = responseUsage(resource);
  if (!usage.ok) return usage;
  return success({
    answer: {
      status: answer.status,
      headers: answer.headers(),
      body: conversation === null ? answer.body : utf8Bytes(sent),
    },
    outcome: { resource, usage: usage.value },
  });
}

function rewritten({ text, members }: JsonDocument, conversation: string): string {
  const member = members.find(({ key }) => key === "response");
  return member === undefined ? text : associated(text, member.start, conversation);
}

function endedEarly(): Result<never> {
  return fault(
    "invalid_upstream_response",
    "The provider's stream ended before the answer was finished.",
  );
}

function tooMuchWaiting(): Result<never> {
  return fault(
    "upstream_response_too_large",
    "The provider's stream holds too much behind an error event.",
  );
}
