import type { JsonObject, JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type { Content, Part } from "../../prompt/prompt.ts";

/**
 * Returns the content of a message, except of an assistant. A string stays a string; parts become
 * Responses parts.
 */
export function inputContent(content: Content, carrier: Carrier): Result<JsonValue> {
  const [first] = content.parts;
  if (content.isString && first?.kind === "text") return success(first.text);
  const parts = encodeParts(content, inputPart, carrier);
  return parts.ok ? success([...parts.value]) : parts;
}

/** Returns the content of an assistant message as parts. */
export function spokenParts(
  content: Content,
  carrier: Carrier,
): Result<readonly JsonObject[]> {
  return encodeParts(content, spokenPart, carrier);
}

function encodeParts(
  { at, parts }: Content,
  encode: (part: Part) => JsonObject,
  carrier: Carrier,
): Result<readonly JsonObject[]> {
  return parts.length === 0
    ? carrier.refuseValue(at.path, "must be a text or parts, not empty")
    : success(parts.map(encode));
}

function spokenPart(part: Part): JsonObject {
  if (part.kind === "refusal") return { type: "refusal", refusal: part.text };
  const text = part.kind === "text" ? part.text : "";
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function inputPart(part: Part): JsonObject {
  const { breakpoint: mark } = part;
  return { ...plainPart(part), ...mark !== null && { prompt_cache_breakpoint: mark } };
}

function plainPart(part: Part): JsonObject {
  switch (part.kind) {
    case "text":
    case "refusal":
      return { type: "input_text", text: part.text };
    case "image":
      // The URL is not nested, and `detail` is required (Responses API, input image).
      return {
        type: "input_image",
        image_url: part.url.value,
        detail: part.detail?.value ?? "auto",
      };
    case "file": {
      const { id, name, data } = part;
      return {
        type: "input_file",
        ...id !== null && { file_id: id.value },
        ...name !== null && { filename: name.value },
        ...data !== null && { file_data: data.value },
      };
    }
  }
}
