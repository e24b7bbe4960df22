import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { malformed } from "../openai/errors.ts";
import { tokensOf } from "./logprobs.ts";
import type { Piece } from "./output.ts";
import type { Place } from "./speech.ts";

type PlaceMember = "content_index" | "summary_index";

/** The kind of text in events of one type, and the fields that hold it. */
interface Said extends Pick<Piece, "kind" | "form"> {
  readonly at: PlaceMember;
  /** The field of the complete text in the `.done` event. */
  readonly whole: "text" | "refusal";
}

const RAW: Said = { kind: "reasoning", form: "content", at: "content_index", whole: "text" };

/** Event types that contain text, without `.delta` and `.done`. */
const SAID: ReadonlyMap<string, Said> = new Map<string, Said>([
  ["response.output_text", { kind: "text", form: null, at: "content_index", whole: "text" }],
  ["response.refusal", { kind: "refusal", form: null, at: "content_index", whole: "refusal" }],
  ["response.reasoning_text", RAW],
  // Event name in Open Responses.
  ["response.reasoning", RAW],
  [
    "response.reasoning_summary_text",
    { kind: "reasoning", form: "summary", at: "summary_index", whole: "text" },
  ],
]);

/** Returns the text of an event; null if events of this type contain none. */
export function pieceOf(type: string, event: JsonObject): Result<Piece> | null {
  const isWhole = type.endsWith(".done");
  const said = isWhole || type.endsWith(".delta")
    ? SAID.get(type.slice(0, type.lastIndexOf(".")))
    : undefined;
  if (said === undefined) return null;
  const { kind, form } = said;
  const place = placeOf(event, said.at);
  const text = isWhole ? event[said.whole] : event.delta;
  if (place === null || typeof text !== "string") return malformed(`a malformed piece of ${kind}`);
  const tokens = tokensOf(kind === "text" ? event.logprobs : null);
  if (!tokens.ok) return tokens;
  return success({ kind, form, place, text, tokens: tokens.value, isWhole });
}

/** Returns the position of the part that an event belongs to; null if the event does not have it. */
export function placeOf(event: JsonObject, member: PlaceMember): Place | null {
  const { output_index: item } = event;
  const part = event[member];
  return typeof item === "number" && typeof part === "number" ? { item, part } : null;
}
