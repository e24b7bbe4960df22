import { isObject, type JsonObject } from "../core/json/json.ts";
import { blocksOf, type Turn } from "./messages_turn_rules.ts";
import { callLine, imageText, namesById, resultLine, spokenLine } from "./transcript.ts";

/** Returns the conversation of a Messages request in lines, as the model reads it. */
export function messagesTranscript(
  system: readonly JsonObject[],
  turns: readonly Turn[],
): readonly string[] {
  const calls = turns.flatMap(({ blocks }) => blocks.filter(({ type }) => type === "tool_use"));
  const names = namesById(calls, "id");
  return [{ role: "system", blocks: system }, ...turns].flatMap(({ role, blocks }) => {
    const said = blocks.map(shownText).join("");
    const apart = blocks.flatMap((block) => {
      if (block.type === "thinking") return [spokenLine("thinking", String(block.thinking))];
      if (block.type === "tool_use") return [callLine(block.name, block.input)];
      if (block.type !== "tool_result") return [];
      const text = blocksOf(block.content).map(shownText).join("");
      return [resultLine(names.get(block.tool_use_id ?? null), text)];
    });
    const line = said === "" ? [] : [spokenLine(role, said)];
    return role === "user" ? [...apart, ...line] : [...line, ...apart];
  });
}

function shownText(block: JsonObject): string {
  if (block.type === "text") return String(block.text);
  if (block.type !== "image" || !isObject(block.source)) return "";
  const { type, media_type: mediaType, data, url } = block.source;
  return type === "base64" ? imageText(mediaType, data) : `[image at ${url}]`;
}
