import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { Account } from "../account.ts";
import { invalidValue } from "../field_checks.ts";
import { type ApiError, newApiError } from "../protocol.ts";
import { textOf, typeOf } from "./input_items.ts";

/** The required fields of each input item type (Responses API, input items). */
const REQUIRED_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["message", ["role", "content"]],
  ["function_call", ["call_id", "name", "arguments"]],
  ["function_call_output", ["call_id", "output"]],
  ["custom_tool_call", ["call_id", "name", "input"]],
  ["custom_tool_call_output", ["call_id", "output"]],
  ["reasoning", ["summary"]],
  ["item_reference", ["id"]],
  ["compaction", ["encrypted_content"]],
  ...withoutRequiredFields(
    "compaction_trigger additional_tools configuration_update program program_output " +
      "file_search_call web_search_call computer_call computer_call_output " +
      "code_interpreter_call image_generation_call local_shell_call local_shell_call_output " +
      "shell_call shell_call_output apply_patch_call apply_patch_call_output tool_search_call " +
      "tool_search_output mcp_list_tools mcp_call mcp_approval_request mcp_approval_response",
  ),
]);

const PART_TYPES_BY_ROLE: ReadonlyMap<JsonValue | undefined, readonly string[]> = new Map([
  ["user", ["input_text", "input_image", "input_file"]],
  ["system", ["input_text", "input_image", "input_file"]],
  ["developer", ["input_text", "input_image", "input_file"]],
  ["assistant", ["output_text", "refusal"]],
]);

function withoutRequiredFields(types: string): readonly (readonly [string, readonly string[]])[] {
  return types.split(" ").map((type) => [type, []]);
}

/** Yields the errors in each single item. `path` is the path of the items in the request. */
export function* itemErrors(items: readonly JsonValue[], path: string): Generator<ApiError> {
  for (const [at, item] of items.entries()) {
    const itemPath = `${path}[${at}]`;
    if (!isObject(item)) yield invalidValue(itemPath, "An item must be an object.");
    else yield* oneItemErrors(item, itemPath);
  }
}

function* oneItemErrors(item: JsonObject, path: string): Generator<ApiError> {
  const type = typeOf(item);
  const required = REQUIRED_FIELDS.get(type);
  if (required === undefined) {
    return yield invalidValue(`${path}.type`, `Invalid value: '${type}'.`);
  }
  for (const name of required) {
    if (item[name] === undefined || item[name] === null) {
      const details = { param: `${path}.${name}`, code: "missing_required_parameter" };
      yield newApiError(`Missing required parameter: '${path}.${name}'.`, details);
    }
  }
  if (type !== "message") return;
  const parts = PART_TYPES_BY_ROLE.get(item.role);
  if (parts === undefined) return yield invalidValue(`${path}.role`, "This role is unknown.");
  if (typeof item.content === "string") return;
  if (!Array.isArray(item.content)) {
    return yield invalidValue(`${path}.content`, "content must be a string or an array of parts.");
  }
  for (const [at, part] of item.content.entries()) {
    const fits = isObject(part) && typeof part.type === "string" && parts.includes(part.type);
    if (!fits) {
      yield invalidValue(`${path}.content[${at}]`, `Supported types: ${parts.join(", ")}.`);
    }
  }
}

const CALL_TYPES: readonly (JsonValue | undefined)[] = ["function_call", "custom_tool_call"];
const OUTPUT_TYPES: readonly (JsonValue | undefined)[] = CALL_TYPES.map((type) => `${type}_output`);

/**
 * Yields the errors in the order of tool calls and outputs, and in content sealed by another
 * account.
 */
export function* contextErrors(
  items: readonly JsonObject[],
  account: Account,
): Generator<ApiError> {
  const open = new Set<string>();
  for (const item of items) {
    const { type, call_id: call, encrypted_content: sealed } = item;
    if (CALL_TYPES.includes(type) && typeof call === "string") open.add(call);
    const isOutput = OUTPUT_TYPES.includes(type);
    if (isOutput && (typeof call !== "string" || !open.delete(call))) {
      const message = `No tool call found for function call output with call_id ${call}.`;
      yield newApiError(message, { param: "input" });
    }
    const sealedText = type === "compaction" ? COMPACTION_SEAL_TEXT : textOf(item);
    if (typeof sealed === "string" && sealed !== account.seal(sealedText)) {
      const message = `The encrypted content for item ${item.id} could not be verified.`;
      yield newApiError(message, { code: "invalid_encrypted_content" });
    }
  }
  for (const call of open) {
    yield newApiError(`No tool output found for function call ${call}.`, { param: "input" });
  }
}

/** The text that a compaction item seals. */
export const COMPACTION_SEAL_TEXT = "compaction";
