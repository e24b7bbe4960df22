import { isObject, type JsonObject } from "../../core/json/json.ts";
import { callLine, imageUrlText, namesById, resultLine, spokenLine } from "../transcript.ts";
import { textOf, typeOf } from "./input_items.ts";

/** Returns the conversation of a Responses request in lines, as the model reads it. */
export function responsesTranscript(
  instructions: string,
  items: readonly JsonObject[],
): readonly string[] {
  const names = namesById(items.filter(({ type }) => type === "function_call"), "call_id");
  const lines = items.map((item) => {
    switch (typeOf(item)) {
      case "message":
        return spokenLine(item.role === "developer" ? "system" : String(item.role), said(item));
      case "reasoning":
        return spokenLine("thinking", textOf(item));
      case "function_call":
        return callLine(item.name, item.arguments);
      case "function_call_output":
        return resultLine(names.get(item.call_id ?? null), textOf(item));
      default:
        return `[${item.type}]`;
    }
  });
  return [...instructions === "" ? [] : [spokenLine("system", instructions)], ...lines];
}

function said({ content }: JsonObject): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return content.filter(isObject).map((part) =>
    part.type === "input_image"
      ? imageUrlText(part.image_url)
      : String(part.text ?? part.refusal ?? `[${part.type}]`)
  ).join("");
}
