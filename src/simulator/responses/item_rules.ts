import { isObject, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { Account } from "../account.ts";
import { invalid } from "../checks.ts";
import { complain, type Complaint } from "../voice.ts";
import { textOf, typeOf } from "./items.ts";

/** The fields that each type of input item needs (Responses API, input items). */
const NEEDED: ReadonlyMap<string, readonly string[]> = new Map([
  ["message", ["role", "content"]],
  ["function_call", ["call_id", "name", "arguments"]],
  ["function_call_output", ["call_id", "output"]],
  ["custom_tool_call", ["call_id", "name", "input"]],
  ["custom_tool_call_output", ["call_id", "output"]],
  ["reasoning", ["summary"]],
  ["item_reference", ["id"]],
  ["compaction", ["encrypted_content"]],
  ...others(
    "compaction_trigger additional_tools configuration_update program program_output " +
      "file_search_call web_search_call computer_call computer_call_output " +
      "code_interpreter_call image_generation_call local_shell_call local_shell_call_output " +
      "shell_call shell_call_output apply_patch_call apply_patch_call_output tool_search_call " +
      "tool_search_output mcp_list_tools mcp_call mcp_approval_request mcp_approval_response",
  ),
]);

const PARTS: ReadonlyMap<JsonValue | undefined, readonly string[]> = new Map([
  ["user", ["input_text", "input_image", "input_file"]],
  ["system", ["input_text", "input_image", "input_file"]],
  ["developer", ["input_text", "input_image", "input_file"]],
  ["assistant", ["output_text", "refusal"]],
]);

function others(types: string): readonly (readonly [string, readonly string[]])[] {
  return types.split(" ").map((type) => [type, []]);
}

/** What is wrong with items, each by itself; `path` is where they stand. */
export function* itemComplaints(items: readonly JsonValue[], path: string): Generator<Complaint> {
  for (const [at, item] of items.entries()) {
    const place = `${path}[${at}]`;
    if (!isObject(item)) yield invalid(place, "An item must be an object.");
    else yield* oneComplaint(item, place);
  }
}

function* oneComplaint(item: JsonObject, path: string): Generator<Complaint> {
  const type = typeOf(item);
  const needed = NEEDED.get(type);
  if (needed === undefined) return yield invalid(`${path}.type`, `Invalid value: '${type}'.`);
  for (const name of needed) {
    if (item[name] === undefined || item[name] === null) {
      const details = { param: `${path}.${name}`, code: "missing_required_parameter" };
      yield complain(`Missing required parameter: '${path}.${name}'.`, details);
    }
  }
  if (type !== "message") return;
  const parts = PARTS.get(item.role);
  if (parts === undefined) return yield invalid(`${path}.role`, "This role is unknown.");
  if (typeof item.content === "string") return;
  if (!Array.isArray(item.content)) {
    return yield invalid(`${path}.content`, "content must be a string or an array of parts.");
  }
  for (const [at, part] of item.content.entries()) {
    const fits = isObject(part) && typeof part.type === "string" && parts.includes(part.type);
    if (!fits) yield invalid(`${path}.content[${at}]`, `Supported types: ${parts.join(", ")}.`);
  }
}

/** What is wrong with items in their order, and with what this account has not sealed. */
export function* contextComplaints(
  items: readonly JsonObject[],
  account: Account,
): Generator<Complaint> {
  const open = new Set<string>();
  for (const item of items) {
    const { type, call_id: call, encrypted_content: sealed } = item;
    if (type === "function_call" && typeof call === "string") open.add(call);
    if (type === "function_call_output" && (typeof call !== "string" || !open.delete(call))) {
      const message = `No tool call found for function call output with call_id ${call}.`;
      yield complain(message, { param: "input" });
    }
    const meant = type === "compaction" ? COMPACTED : textOf(item);
    if (typeof sealed === "string" && sealed !== account.seal(meant)) {
      const message = `The encrypted content for item ${item.id} could not be verified.`;
      yield complain(message, { code: "invalid_encrypted_content" });
    }
  }
  for (const call of open) {
    yield complain(`No tool output found for function call ${call}.`, { param: "input" });
  }
}

/** What stands in a compaction item before it is sealed. */
export const COMPACTED = "compaction";
