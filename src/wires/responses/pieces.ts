import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { malformed } from "../openai/errors.ts";
import { decodeTokens } from "./logprobs.ts";
import type { Piece } from "./output.ts";
import type { ItemPosition } from "./output_text.ts";

type PlaceMember = "content_index" | "summary_index";

/** The kind of text in events of one type, and the fields that hold it. */
interface TextEvents extends Pick<Piece, "kind" | "form"> {
  readonly indexField: PlaceMember;
  /** The field of the complete text in the `.done` event. */
  readonly whole: "text" | "refusal";
}

const REASONING_TEXT: TextEvents = {
  kind: "reasoning",
  form: "content",
  indexField: "content_index",
  whole: "text",
};

/** Event types that contain text, without `.delta` and `.done`. */
const TEXT_EVENTS: ReadonlyMap<string, TextEvents> = new Map<string, TextEvents>([
  ["response.output_text", {
    kind: "text",
    form: null,
    indexField: "content_index",
    whole: "text",
  }],
  ["response.refusal", {
    kind: "refusal",
    form: null,
    indexField: "content_index",
    whole: "refusal",
  }],
  ["response.reasoning_text", REASONING_TEXT],
  // Event name in Open Responses.
  ["response.reasoning", REASONING_TEXT],
  [
    "response.reasoning_summary_text",
    { kind: "reasoning", form: "summary", indexField: "summary_index", whole: "text" },
  ],
]);

/** Returns the text of an event; null if events of this type contain none. */
export function parsePiece(type: string, event: JsonObject): Result<Piece> | null {
  const isWhole = type.endsWith(".done");
  const textEvent = isWhole || type.endsWith(".delta")
    ? TEXT_EVENTS.get(type.slice(0, type.lastIndexOf(".")))
    : undefined;
  if (textEvent === undefined) return null;
  const { kind, form } = textEvent;
  const place = parsePlace(event, textEvent.indexField);
  const text = isWhole ? event[textEvent.whole] : event.delta;
  if (place === null || typeof text !== "string") return malformed(`a malformed piece of ${kind}`);
  const tokens = decodeTokens(kind === "text" ? event.logprobs : null);
  if (!tokens.ok) return tokens;
  return success({ kind, form, place, text, tokens: tokens.value, isWhole });
}

/**
 * Returns the position of the part that an event belongs to; null if the event does not have it.
 */
export function parsePlace(event: JsonObject, member: PlaceMember): ItemPosition | null {
  const { output_index: item } = event;
  const part = event[member];
  return typeof item === "number" && typeof part === "number" ? { item, part } : null;
}
