import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { extraInputErrors, oneOf, words } from "./field_checks.ts";
import { signThinking } from "./hash.ts";

const isImageType = oneOf("image/jpeg image/png image/gif image/webp");
const isResultPartType = oneOf("text image document search_result tool_reference browser_state");
const RESULT_FIELDS = words("tool_use_id content is_error cache_control toolset_name");
const USE_FIELDS = words("id name input cache_control caller toolset_name");
const TOOL_USE_ID = /^[a-zA-Z0-9_-]+$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Yields the errors in a content block of a user or an assistant message (Messages API, blocks).
 */
export function* blockErrors(block: JsonValue, user: boolean, path: string): Generator<string> {
  if (!isObject(block)) return yield `${path}: Input should be an object`;
  switch (block.type) {
    case "text":
      if (typeof block.text !== "string") yield `${path}.text: Field required`;
      if (block.text === "") yield `${path}: text content blocks must be non-empty`;
      return yield* unknownFieldErrors(block, ["text", "cache_control", "citations"], path);
    case "image":
      if (!user) yield `${path}: image blocks are not permitted in an assistant message`;
      yield* imageErrors(block.source, `${path}.source`);
      return yield* unknownFieldErrors(block, ["source", "cache_control"], path);
    case "tool_use":
      if (user) yield `${path}: \`tool_use\` blocks can only be in \`assistant\` messages`;
      return yield* toolUseErrors(block, path);
    case "tool_result":
      if (!user) yield `${path}: \`tool_result\` blocks can only be in \`user\` messages`;
      return yield* toolResultErrors(block, path);
    case "thinking":
      if (user) yield `${path}: thinking blocks can only be in \`assistant\` messages`;
      return yield* thinkingErrors(block, path);
    case "redacted_thinking":
      if (typeof block.data !== "string") yield `${path}.data: Field required`;
      return;
    case "document":
    case "search_result":
      if (!isObject(block.source) && typeof block.source !== "string") {
        yield `${path}.source: Field required`;
      }
      return;
    default:
      yield `${path}: Input tag '${block.type}' does not match any of the expected tags`;
  }
}

/** Yields the errors of members other than the known ones and `type`. */
function* unknownFieldErrors(block: JsonObject, known: readonly string[], path: string) {
  yield* extraInputErrors(block, ["type", ...known], `${path}.`);
}

function* imageErrors(source: JsonValue | undefined, path: string): Generator<string> {
  if (!isObject(source)) return yield `${path}: Field required`;
  const { type, data, media_type: media, url } = source;
  if (type === "url") {
    if (typeof url !== "string" || !/^https?:/.test(url)) yield `${path}.url: Invalid URL`;
    return;
  }
  if (type === "file") return;
  if (type !== "base64") return yield `${path}.type: Input should be 'base64', 'url' or 'file'`;
  if (!isImageType(media ?? null)) yield `${path}.media_type: Input should be an image type`;
  if (typeof data !== "string" || data === "" || !BASE64.test(data)) {
    yield `${path}.data: invalid base64 data`;
  }
}

function* toolUseErrors(block: JsonObject, path: string): Generator<string> {
  const { id, name, input } = block;
  if (typeof id !== "string" || !TOOL_USE_ID.test(id)) {
    yield `${path}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
  }
  if (typeof name !== "string" || name === "" || name.length > 200) {
    yield `${path}.name: String should have 1 to 200 characters`;
  }
  if (!isObject(input)) yield `${path}.input: Input should be an object`;
  yield* unknownFieldErrors(block, USE_FIELDS, path);
}

function* toolResultErrors(block: JsonObject, path: string): Generator<string> {
  const { tool_use_id: id, content, is_error: isError } = block;
  if (typeof id !== "string" || !TOOL_USE_ID.test(id)) {
    yield `${path}.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
  }
  const fits = content === undefined || typeof content === "string" ||
    Array.isArray(content) &&
      content.every((part) => isObject(part) && isResultPartType(part.type ?? null));
  if (!fits) yield `${path}.content: Input should be a string or a list of blocks`;
  if (isError !== undefined && typeof isError !== "boolean") {
    yield `${path}.is_error: Input should be a valid boolean`;
  }
  yield* unknownFieldErrors(block, RESULT_FIELDS, path);
}

function* thinkingErrors(block: JsonObject, path: string): Generator<string> {
  const { thinking, signature } = block;
  if (typeof thinking !== "string") return yield `${path}.thinking: Field required`;
  if (typeof signature !== "string") return yield `${path}.signature: Field required`;
  if (signature !== signThinking(thinking)) {
    yield `${path}: Invalid \`signature\` in \`thinking\` block`;
  }
  yield* unknownFieldErrors(block, ["thinking", "signature"], path);
}
