import { Buffer } from "node:buffer";
import {
  isObject,
  isTooDeep,
  type JsonObject,
  type JsonValue,
  numberOf,
  parseExact,
} from "../../../core/json/json.ts";
import type { StreamRecord } from "../../../core/reply.ts";
import { emptyDocument } from "../../../formats/document.ts";
import { findValue, replaceValue, splice } from "../../../formats/edit.ts";
import type { NativeEvent } from "./event.ts";
import { resourceMaker } from "../generate/resource.ts";

/** Most that the items of one stream may make the gateway hold, in bytes. */
const LARGEST_OUTPUT = 16 * 1024 * 1024;

/** An item costs more than its text: each counts for this many bytes beside it. */
const PIECE = 1024;

/** The items of a stream that were delivered whole. */
export interface DeliveredItems {
  add(event: NativeEvent): void;
  /** Them as the text of a JSON array, in the order of the output; empty when they are too large. */
  text(): string;
}

/** Collects the items that a stream has finished. */
export function deliveredItems(): DeliveredItems {
  const items = new Map<number, string>();
  let size = 0;

  return {
    add({ type, document }) {
      if (type !== "response.output_item.done") return;
      const { item, output_index: index } = document.value;
      const member = document.members.find(({ key }) => key === "item");
      if (member === undefined || !isObject(item) || typeof index !== "number") return;
      const text = document.text.slice(member.start, member.end);
      size += Buffer.byteLength(text) + PIECE;
      if (size > LARGEST_OUTPUT) items.clear();
      else items.set(index, text);
    },
    text() {
      const ordered = [...items].toSorted(([a], [b]) => a - b);
      return `[${ordered.map(([, text]) => text).join(",")}]`;
    },
  };
}

/** What is known of a stream that broke. */
export interface BrokenStream {
  readonly id: string;
  readonly sequence: number;
  /** Data of the last event with a Response object, whose options are told again; null for none. */
  readonly told: string | null;
  /** The text of a JSON array. */
  readonly output: string;
  readonly message: string;
}

/** What else its failure tells. */
export interface FailureLabels {
  readonly conversation: string | null;
  /** Where the stream told no model. */
  readonly model: string;
  /** Seconds since 1970. */
  unix(): number;
  newId(): string;
}

/** The one `response.failed` that ends a broken stream (Responses API, streaming). */
export function failedRecord(broken: BrokenStream, labels: FailureLabels): StreamRecord {
  const { id, sequence, told, message } = broken;
  const seen = toldResponse(told);
  const model = typeof seen.model === "string" ? seen.model : labels.model;
  const made = resourceMaker({
    id,
    created: labels.unix(),
    model,
    request: {
      document: emptyDocument,
      model,
      stream: true,
      store: true,
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
    // The list of codes is closed; some clients demand a type beside it.
    error: { code: "server_error", type: "server_error", message },
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

/** What the stream said of its response; where it said null, the usual value serves clients better. */
function toldResponse(told: string | null): JsonObject {
  const event: JsonValue | undefined = told === null ? undefined : parseExact(told);
  const response = isObject(event) ? event.response : undefined;
  if (!isObject(response) || isTooDeep(response)) return {};
  return Object.fromEntries(Object.entries(response).filter(([, value]) => value !== null));
}
