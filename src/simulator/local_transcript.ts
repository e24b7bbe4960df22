import { isObject, type JsonObject } from "../core/json/json.ts";
import { callLine, imageText, resultLine, sniffedType, spokenLine } from "./transcript.ts";

/** Returns the conversation of a local chat request in lines, as the model reads it. */
export function localTranscript(messages: readonly JsonObject[]): readonly string[] {
  return messages.flatMap((message) => {
    const { role, content, images, thinking, tool_name: name } = message;
    const shown = Array.isArray(images) ? images.map(String) : [];
    const pictures = shown.map((image) => imageText(sniffedType(image), image)).join("");
    const text = (typeof content === "string" ? content : "") + pictures;
    if (role === "tool") return [resultLine(name, text)];
    return [
      ...typeof thinking === "string" ? [spokenLine("thinking", thinking)] : [],
      ...text === "" ? [] : [spokenLine(String(role), text)],
      ...localCalls(message).map(({ function: called }) =>
        isObject(called) ? callLine(called.name, called.arguments) : ""
      ),
    ];
  });
}

/** Returns the tool calls of an assistant message. */
export function localCalls({ tool_calls: calls }: JsonObject): readonly JsonObject[] {
  return Array.isArray(calls) ? calls.filter(isObject) : [];
}
