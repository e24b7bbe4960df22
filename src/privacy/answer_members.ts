import { SEALED_PREFIX } from "../core/stream/sealed_text.ts";
import { isNamedByClient, isWithin } from "./answer_paths.ts";
import { textOfDataUrl } from "./classes.ts";
import { isWrittenAsJson } from "./escaped_texts.ts";
import { isInLogprobs } from "./logprobs.ts";
import type { StringPlace } from "./answer_strings.ts";
import type { TextKind } from "./answer_text.ts";
import type { AnswerForm } from "./types.ts";

/** Members with identifiers and names that providers and the gateway make, and enumerated ones. */
const NAMES: ReadonlySet<string> = new Set([
  "call_id",
  "connector_id",
  "container_id",
  "file_id",
  "id",
  "item_id",
  "model",
  "object",
  "previous_response_id",
  "request_id",
  "response_id",
  "role",
  "server_label",
  "status",
  "tool_call_id",
  "tool_use_id",
  "type",
]);

/** Members with bytes, and with what only a provider can read. */
const OPAQUE: ReadonlySet<string> = new Set([
  "b64_json",
  "embedding",
  "encrypted_content",
  "encrypted_index",
  "obfuscation",
  "partial_image_b64",
  "redacted_content",
  "signature",
  "thought_signature",
]);

/** Types of objects with bytes. */
const BYTES_TYPES =
  /^(?:redacted_thinking|base64|image_generation_call|output_audio|.*audio\.delta)$/;

/** Members that have bytes in objects of these types. */
const BYTES_MEMBERS: ReadonlySet<string> = new Set(["audio", "data", "delta", "result"]);

/** Members whose text is the JSON of a tool call. */
const ARGUMENTS: ReadonlySet<string> = new Set(["arguments", "partial_json"]);

/** Members with the text of a model. */
const TEXTS: ReadonlySet<string> = new Set(["content", "delta", "text"]);

/** Types of objects and events with other text than that of the answer itself. */
const OTHER_TEXTS = /reasoning|summary|refusal|input|_call/;

/** Returns how a string of an answer is written; null if it is not searched. */
export function kindOf(
  place: StringPlace,
  string: string,
  form: AnswerForm,
): TextKind | null {
  const { path, parent, isKey } = place;
  const { isJsonText, jsonObjects, isThinkingSigned } = form;
  if (isInLogprobs(path)) return null;
  const isWritten = () => isWrittenAsJson(string, form);
  const key = path.at(-1);
  const isNamed = isNamedByClient(path);
  if (isKey || typeof key === "number" || isNamed) {
    if (isData(string)) return null;
    return !isKey && isNamed && !isWithin(path, "input") && isWritten() ? "json" : "plain";
  }
  const type = typeof parent?.type === "string" ? parent.type : "";
  if (key === undefined) return "plain";
  if (NAMES.has(key)) return null;
  if (OPAQUE.has(key)) return string.startsWith(SEALED_PREFIX) ? "sealed" : null;
  if (key === "name" && isTool(path, parent)) return null;
  if (BYTES_MEMBERS.has(key) && BYTES_TYPES.test(type)) return null;
  const holder = path.at(-2);
  if (key === "data" && (holder === "audio" || holder === "input_audio")) return null;
  if (isData(string)) return null;
  const isThinking = key === "thinking" || (key === "text" && path.at(-3) === "reasoning_details");
  const mayBeSigned = isThinkingSigned || isBlockOfChunk(path);
  if (isThinking && isSigned(parent?.signature, mayBeSigned)) return "signed";
  if (ARGUMENTS.has(key) || (key === "delta" && type.endsWith("arguments.delta"))) return "json";
  if (isOfClient(key, type, place) && isWritten()) return "json";
  const isText = TEXTS.has(key) && !OTHER_TEXTS.test(type);
  return isText && (isJsonText || jsonObjects?.has(Number(path[1])) === true) ? "json" : "plain";
}

/** Members with the result of a shell. One that the provider runs itself comes in pieces. */
const SHELL_TEXTS: ReadonlySet<string> = new Set(["stderr", "stdout"]);

const CLIENT_ROLES: ReadonlySet<unknown> = new Set(["developer", "system", "tool", "user"]);

/** True for a text of the client that a provider repeats, such as the result of a tool. */
function isOfClient(key: string, type: string, { path, parent }: StringPlace): boolean {
  return type === "input_text" || key === "instructions" || path.at(-3) === "content_parts" ||
    isWithin(path, "tools") || (key === "output" && type.endsWith("_call_output")) ||
    (path[0] === "data" && SHELL_TEXTS.has(key)) ||
    (key === "content" && CLIENT_ROLES.has(parent?.role));
}

/** True for bytes in an address (RFC 2397), with no text behind them. */
function isData(string: string): boolean {
  const address = string.startsWith("data:") ? textOfDataUrl(string) : null;
  return address !== null && address !== string;
}

/** True if the member `name` is that of a tool. */
function isTool(path: StringPlace["path"], parent: StringPlace["parent"]): boolean {
  if (path.at(-2) === "function" || path.at(-2) === "custom") return true;
  return parent !== null && ("arguments" in parent || "input" in parent || "parameters" in parent);
}

/** True in a list of blocks of a chat stream, where the signature comes after the text. */
function isBlockOfChunk(path: StringPlace["path"]): boolean {
  return path[0] === "choices" && path[2] === "delta" && typeof path.at(-2) === "number";
}

/**
 * True if the provider has signed thinking; `isSigned` says it where the object does not. What the
 * gateway itself has signed may change.
 */
function isSigned(signature: unknown, isSigned: boolean): boolean {
  if (typeof signature !== "string" || signature === "") return isSigned;
  return !signature.startsWith(SEALED_PREFIX);
}
