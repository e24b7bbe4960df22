import { isObject, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { Members } from "../../prompt/field_table.ts";
import { COMMON } from "./common_rows.ts";
import { missing, type Optional, unknownMember, unsupported, wrongType } from "./refusals.ts";

/** Types of tool call: functions with JSON arguments, and custom tools with free text input. */
export type CallKind = "function" | "custom";

/** A tool call in an assistant message of the request's history. */
export interface PastCall {
  readonly kind: CallKind;
  /** Null for the legacy `function_call`, which has no ID. */
  readonly id: string | null;
  readonly idPath: string;
  readonly name: string;
  /** Text written by the model: the arguments of a function or the input of a custom tool. */
  readonly text: Optional;
  readonly textPath: string;
}

/** The field that holds the model's text, by call type. */
const TEXT_FIELD = { function: "arguments", custom: "input" } as const satisfies Record<
  CallKind,
  string
>;

const CALL: Readonly<Record<CallKind, Members>> = {
  function: COMMON.members("messages[assistant].tool_calls[function]"),
  custom: COMMON.members("messages[assistant].tool_calls[custom]"),
};

const CALLED: Readonly<Record<CallKind, Members>> = {
  function: COMMON.members("messages[assistant].tool_calls[function].function"),
  custom: COMMON.members("messages[assistant].tool_calls[custom].custom"),
};

/**
 * Returns the result of `make` for each call of an assistant message: first its `tool_calls`, then
 * its legacy `function_call`. A Refusal names the first field that is wrong or has an unsupported
 * call type.
 */
export function mapCalls<Made>(
  message: JsonObject,
  path: string,
  kinds: readonly CallKind[],
  make: (call: PastCall, index: number) => Result<Made>,
): Result<readonly Made[]> {
  const given = message.tool_calls ?? [];
  if (!Array.isArray(given)) return wrongType(`${path}.tool_calls`, "an array");
  const made: Made[] = [];
  for (const [index, item] of given.entries()) {
    const call = parseCall(item, `${path}.tool_calls[${index}]`, kinds);
    if (!call.ok) return call;
    const one = make(call.value, index);
    if (!one.ok) return one;
    made.push(one.value);
  }
  const legacy = message.function_call ?? null;
  if (legacy === null) return success(made);
  const call = parseCalled(legacy, `${path}.function_call`, "function", null, path);
  if (!call.ok) return call;
  const one = make(call.value, made.length);
  return one.ok ? success([...made, one.value]) : one;
}

function parseCall(item: Optional, path: string, kinds: readonly CallKind[]): Result<PastCall> {
  if (!isObject(item)) return wrongType(path, "an object");
  const type = item.type ?? "function";
  const kind = kinds.find((known) => known === type);
  if (kind === undefined) return unsupported(`${path}.type`);
  const unknown = unknownMember(item, CALL[kind], path);
  if (unknown !== null) return unknown;
  const idPath = `${path}.id`;
  if (typeof item.id !== "string") return missing(idPath);
  return parseCalled(item[kind], `${path}.${kind}`, kind, item.id, idPath);
}

function parseCalled(
  called: Optional,
  path: string,
  kind: CallKind,
  id: string | null,
  idPath: string,
): Result<PastCall> {
  if (!isObject(called)) return wrongType(path, "an object");
  const member = TEXT_FIELD[kind];
  const unknown = unknownMember(called, CALLED[kind], path);
  if (unknown !== null) return unknown;
  const { name } = called;
  if (typeof name !== "string") return missing(`${path}.name`);
  return success({
    kind,
    id,
    idPath,
    name,
    text: called[member],
    textPath: `${path}.${member}`,
  });
}
