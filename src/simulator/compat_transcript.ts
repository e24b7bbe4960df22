import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { callLine, imageUrlText, namesById, resultLine, spokenLine } from "./transcript.ts";

/** Returns the conversation of a chat request in lines, as the model reads it. */
export function compatTranscript(messages: readonly JsonObject[]): readonly string[] {
  const names = namesById(messages.flatMap(callsOf), "id");
  return messages.flatMap((message) => {
    const { role, content, reasoning_content: thinking, tool_call_id: id } = message;
    const text = shownText(content);
    if (role === "tool") return [resultLine(names.get(id ?? null), text)];
    return [
      ...typeof thinking === "string" ? [spokenLine("thinking", thinking)] : [],
      ...text === "" ? [] : [spokenLine(role === "developer" ? "system" : String(role), text)],
      ...callsOf(message).map(({ function: called }) =>
        isObject(called) ? callLine(called.name, called.arguments) : ""
      ),
    ];
  });
}

/** Returns the tool calls of an assistant message. */
export function callsOf({ tool_calls: calls }: JsonObject): readonly JsonObject[] {
  return Array.isArray(calls) ? calls.filter(isObject) : [];
}

function shownText(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.filter(isObject).map((part) => {
    if (part.type === "image_url" && isObject(part.image_url)) {
      return imageUrlText(part.image_url.url);
    }
    return String(part.text ?? part.refusal ?? `[${part.type}]`);
  }).join("");
}
