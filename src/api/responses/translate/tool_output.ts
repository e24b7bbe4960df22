import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import type { Losses } from "../../../wires/chat_request/losses.ts";
import type { WireName } from "../../../wires/wire.ts";
import { newMovedTexts } from "../../moved_media.ts";
import { chatContent, type PathBelow } from "./chat_content.ts";

/** A part of a user message with the client's path of the part that it comes from. */
export interface MovedPart {
  readonly part: JsonObject;
  readonly at: PathBelow;
}

/** The output of a call for Chat: the content of its tool message, and what that cannot hold. */
export interface ToolOutput {
  readonly content: JsonValue;
  /** Images and files for a user message after the results. */
  readonly moved: readonly MovedPart[];
}

/**
 * Translates the output of a call; `at` is its path. Only the Messages API takes images and files
 * in a result. Over other protocols they move to a user message, and a text takes their place.
 */
export function toolOutput(
  output: JsonValue | undefined,
  callId: string,
  at: PathBelow,
  wire: WireName,
  losses: Losses,
): Result<ToolOutput> {
  const content = chatContent(output, at, ["input_image", "input_file"], losses);
  if (!content.ok) return content;
  if (wire === "messages" || !Array.isArray(content.value)) {
    return success({ content: content.value, moved: [] });
  }
  const nextTexts = newMovedTexts(callId);
  const moved: MovedPart[] = [];
  const parts = content.value.map((part, index) => {
    if (!isObject(part) || part.type === "text") return part;
    const { placeholder, title } = nextTexts(part.type === "file" ? "document" : "image");
    const place: PathBelow = (below) => at(`[${index}]${below}`);
    moved.push({ part: { type: "text", text: title }, at: place }, { part, at: place });
    losses.add(place(""));
    return { type: "text", text: placeholder };
  });
  const [first] = parts;
  const isText = parts.length === 1 && isObject(first) && first.text !== undefined;
  return success({ content: isText ? first.text ?? "" : parts, moved });
}
