import { Buffer } from "node:buffer";
import {
  isObject,
  isTooDeep,
  type JsonObject,
  type JsonValue,
  numberOf,
  parseExact,
} from "../../../core/json/json.ts";
import type { StreamRecord } from "../../../core/stream/reply.ts";
import { ownText } from "../../../core/text_beginning.ts";
import { emptyDocument } from "../../../formats/document.ts";
import { findValue, replaceValue, splice } from "../../../formats/edit.ts";
import type { NativeEvent } from "./event.ts";
import type { OwnMembers } from "./own_members.ts";
import { newResourceBuilder } from "../generate/resource.ts";

/** Memory limit of the items of one stream, in bytes. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Overhead of one item in bytes, counted in addition to its text. */
const ITEM_OVERHEAD_BYTES = 1024;

/** Output items that a stream has delivered completely. */
export interface DeliveredItems {
  add(event: NativeEvent): void;
  /** Returns the items as a JSON array in output order; an empty array if they exceed the limit. */
  text(): string;
  /** Returns the size of the items. */
  bytes(): number;
}

/** Creates the collector of a stream's completed output items. */
export function newDeliveredItems(): DeliveredItems {
  const items = new Map<number, string>();
  let size = 0;

  return {
    add({ type, document }) {
      if (type !== "response.output_item.done") return;
      const { item, output_index: index } = document.value;
      const member = document.members.find(({ key }) => key === "item");
      if (member === undefined || !isObject(item) || typeof index !== "number") return;
      const text = document.text.slice(member.start, member.end);
      size += Buffer.byteLength(text) + ITEM_OVERHEAD_BYTES;
      if (size > MAX_OUTPUT_BYTES) items.clear();
      else items.set(index, ownText(text));
    },
    bytes: () => items.size === 0 ? 0 : size,
    text() {
      const ordered = [...items].toSorted(([a], [b]) => a - b);
      return `[${ordered.map(([, text]) => text).join(",")}]`;
    },
  };
}

/** Known state of a stream that broke before its terminal event. */
export interface BrokenStream {
  readonly id: string;
  readonly sequence: number;
  /** Data of the last event with a Response object, whose options are repeated; null if none. */
  readonly lastEvent: string | null;
  /** Delivered output items as the text of a JSON array. */
  readonly output: string;
  readonly error: JsonObject;
}

/** Values for fields of a failed response that its stream did not send. */
export interface FailureLabels extends OwnMembers {
  /** Model name, used if the stream sent none. */
  readonly model: string;
  /** Returns the current time in seconds since 1970. */
  unix(): number;
  newId(): string;
}

/** Builds the `response.failed` record that ends a broken stream (Responses API, streaming). */
export function failedRecord(broken: BrokenStream, labels: FailureLabels): StreamRecord {
  const { id, sequence, lastEvent } = broken;
  const seen = parseKnownFields(lastEvent);
  const model = typeof seen.model === "string" ? seen.model : labels.model;
  const made = newResourceBuilder({
    id,
    created: labels.unix(),
    model,
    request: {
      document: emptyDocument,
      exact: emptyDocument.value,
      model,
      stream: true,
      store: !labels.storesNothing,
      input: [],
      previousResponseId: null,
      conversation: labels.conversation,
    },
    newId: () => labels.newId(),
    unix: () => labels.unix(),
  })({
    status: "failed",
    model,
    completedAt: null,
    incompleteReason: null,
    error: broken.error,
    output: [],
    usage: null,
  });
  const { status, error, completed_at, incomplete_details, output, usage } = made;
  const response = {
    ...made,
    ...seen,
    ...{ id, object: "response", model, status, error, completed_at },
    ...{ incomplete_details, output, usage },
    created_at: numberOf(seen.created_at) === null ? made.created_at : seen.created_at,
  };
  const data = JSON.stringify({ type: "response.failed", sequence_number: sequence, response });
  const span = findValue(data, ["response", "output"]);
  return {
    event: "response.failed",
    data: span === null ? data : splice(data, [replaceValue(span, broken.output)]),
    raw: null,
  };
}

/**
 * Returns the fields of the stream's last Response object except nulls, for which clients need
 * defaults.
 */
function parseKnownFields(lastEvent: string | null): JsonObject {
  const event: JsonValue | undefined = lastEvent === null ? undefined : parseExact(lastEvent);
  const response = isObject(event) ? event.response : undefined;
  if (!isObject(response) || isTooDeep(response)) return {};
  return Object.fromEntries(Object.entries(response).filter(([, value]) => value !== null));
}
