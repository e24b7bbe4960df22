import type { Delivery, Outcome } from "../../core/codec.ts";
import { isExactId } from "../../core/ids.ts";
import { isObject, type JsonDocument, parseExact } from "../../core/json.ts";
import type { Answer, StreamRecord, UpstreamAnswer } from "../../core/reply.ts";
import { fault, type Result, success } from "../../core/result.ts";
import { skipBlanks } from "../../core/scan.ts";
import { hasKeyTwice } from "../../formats/document.ts";
import { utf8Bytes } from "../../formats/utf8.ts";
import { malformed, providerError } from "../../wires/compat_errors.ts";
import { responseUsage } from "../../wires/responses/usage.ts";
import { answerDocument } from "../answer_document.ts";
import { associated } from "./native_association.ts";
import { beginsAnswer, identityAfter, readEvent, terminalOf } from "./native_event.ts";
import { deliveredItems, failedRecord } from "./native_failed.ts";

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
  /** Hears the id of the stream once, when it is locked and goes to the client. */
  identified?(id: string): void;
}

/**
 * Relays a Responses stream of a provider that speaks the client's protocol: every event is checked,
 * and keeps its bytes unless a local conversation is put into it. Comments and signs of life wait for
 * the first event. One response, rising sequence numbers, one terminal, which ends the stream.
 */
export function nativeRelay(options: NativeOptions): Delivery {
  let waiting: StreamRecord[] | null = [];
  let id = options.expected;
  let sequence = -1;
  let told: string | null = null;
  let isIdentified = false;
  let isOver = false;
  let outcome: Outcome | null = null;
  const items = deliveredItems();

  function push(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (isOver) return success([]);
    if (record.data === "") return success(release(record, false));
    const read = readEvent(record);
    if (!read.ok) return read;
    const event = read.value;
    if (event.sequence <= sequence) {
      return malformed("an event whose sequence number is not above the one before");
    }
    const identity = identityAfter(event, id);
    if (!identity.ok) return identity;
    const terminal = terminalOf(event);
    if (!terminal.ok) return terminal;
    const { conversation } = options;
    const sent = conversation === null || event.response === null
      ? record
      : { ...record, data: rewritten(event.document, conversation), raw: null };
    const released = release(sent, beginsAnswer(event));
    if (waiting === null) tellIdentity(identity.value);
    id = identity.value;
    sequence = event.sequence;
    if (event.response !== null) told = sent.data;
    items.add(event);
    if (terminal.value !== null) finish(sent.data);
    return success(released);
  }

  function tellIdentity(known: string | null) {
    if (isIdentified || known === null) return;
    isIdentified = true;
    options.identified?.(known);
  }

  /** How much may wait is for the driver of the stream to say. */
  function release(record: StreamRecord, begins: boolean): readonly StreamRecord[] {
    if (waiting === null) return [record];
    waiting.push(record);
    if (!begins) return [];
    const released = waiting;
    waiting = null;
    return released;
  }

  function finish(data: string) {
    const event = parseExact(data);
    const resource = isObject(event) && isObject(event.response) ? event.response : null;
    isOver = true;
    outcome = { resource, usage: resource === null ? null : responseUsage(resource) };
  }

  return {
    push,
    end: () => isOver ? success([]) : endedEarly(),
    fail({ message }) {
      if (isOver) return [];
      isOver = true;
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
  };
}

/**
 * A whole Response of a provider that speaks the client's protocol: the same bytes unless a local
 * conversation is put into it. Anything that is not the Response asked for is a fault.
 */
export function nativeAnswer(
  answer: UpstreamAnswer,
  { conversation, expected }: Pick<NativeOptions, "conversation" | "expected">,
): Result<{ readonly answer: Answer; readonly outcome: Outcome }> {
  const document = answerDocument(answer);
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
  return success({
    answer: {
      status: answer.status,
      headers: answer.headers(),
      body: conversation === null ? answer.body : utf8Bytes(sent),
    },
    outcome: { resource, usage: responseUsage(resource) },
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
