import { isObject, type JsonDocument, type JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import { parseElements, type Span } from "../../../formats/edit.ts";
import { isEmpty, unsupported } from "../../../prompt/refusals.ts";
import type { WireName } from "../../../wires/wire.ts";
import { shortName } from "../../tool_names.ts";
import { invalidValue, unknownMember, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { type ChatField, copiedField, memberText } from "./chat_text.ts";
import { MESSAGES_FIELDS } from "./fields.ts";

/** A custom tool of the request, as a Chat function. */
export interface DeclaredTool {
  /** Position in the client's `tools`. */
  readonly index: number;
  /** Name that the client uses. */
  readonly name: string;
  /** True if the tool is sent only when the request names it. */
  readonly isDeferred: boolean;
  /** The Chat tool. */
  readonly value: JsonObject;
  readonly text: string;
}

/** The tools of a request for one protocol. */
export interface DeclaredTools {
  readonly list: readonly DeclaredTool[];
  /** Tools by the names that the client uses. */
  readonly byName: ReadonlyMap<string, DeclaredTool>;
  /** Names of the client by the names that the upstream gets, where they differ. */
  readonly original: ReadonlyMap<string, string>;
  /** Paths of the members that are carried in part. */
  readonly lossy: readonly string[];
}

const MEMBERS = MESSAGES_FIELDS.members("tools[custom]");

/** Returns the name of a tool for an upstream: Chat servers limit its length. */
export function upstreamName(name: string, wire: WireName): string {
  return wire === "local" ? name : shortName(name);
}

/**
 * Translates `tools` (Messages API, tool use). Only tools that the client runs have a counterpart;
 * the hosted ones of the types in `omitted` are left out and lossy.
 */
export function declaredTools(
  { text, value, members }: JsonDocument,
  wire: WireName,
  omitted: readonly string[] = [],
): Result<DeclaredTools> {
  const given = value.tools ?? [];
  if (!Array.isArray(given)) return wrongType(given, "tools", "a valid list");
  const member = members.find(({ key }) => key === "tools");
  const spans = member === undefined ? [] : parseElements(text, member.start);
  const list: DeclaredTool[] = [];
  const byName = new Map<string, DeclaredTool>();
  const original = new Map<string, string>();
  const names = new Set<string>();
  const lossy: string[] = [];
  for (const [index, tool] of given.entries()) {
    if (!isObject(tool)) return wrongType(tool, `tools.${index}`, "a valid dictionary");
    if (omitted.some((type) => type === tool.type)) {
      lossy.push(`tools.${index}`);
      continue;
    }
    const made = declaredTool(tool, index, { text, span: spans[index], wire });
    if (!made.ok) return made;
    const { name } = made.value;
    const short = upstreamName(name, wire);
    if (names.has(short)) return invalidValue("tools", SENTENCES.toolNamesNotUnique);
    names.add(short);
    if (short !== name) original.set(short, name);
    // Other callers than the model have no counterpart.
    if (
      Array.isArray(tool.allowed_callers) && tool.allowed_callers.some((one) => one !== "direct")
    ) {
      lossy.push(`tools.${index}.allowed_callers`);
    }
    list.push(made.value);
    byName.set(name, made.value);
  }
  return success({ list, byName, original, lossy });
}

interface ToolText {
  readonly text: string;
  readonly span: Span | undefined;
  readonly wire: WireName;
}

function declaredTool(
  tool: JsonObject,
  index: number,
  { text, span, wire }: ToolText,
): Result<DeclaredTool> {
  const path = `tools.${index}`;
  const type = tool.type ?? "custom";
  if (typeof type !== "string") return wrongType(type, `${path}.type`, "a valid string");
  if (type !== "custom") {
    return unsupported(`${path}.type`, SENTENCES.toolNotOffered(type));
  }
  const problem = memberProblem(tool, `${path}.custom`);
  if (problem !== null) return problem;
  const { name, input_schema: parameters } = tool;
  if (typeof name !== "string") return wrongType(name, `${path}.custom.name`, "a valid string");
  if (name === "") {
    return invalidValue(`${path}.custom.name`, "String should have at least 1 character");
  }
  if (!isObject(parameters)) {
    return wrongType(parameters, `${path}.custom.input_schema`, "a valid dictionary");
  }
  const own = {
    name: upstreamName(name, wire),
    ...typeof tool.description === "string" && { description: tool.description },
  };
  const isStrict = tool.strict === true;
  const schema = memberText(text, span, "input_schema") ?? "{}";
  const head = JSON.stringify(own).slice(0, -1);
  const strictText = isStrict ? ',"strict":true' : "";
  return success({
    index,
    name,
    isDeferred: tool.defer_loading === true,
    value: {
      type: "function",
      function: { ...own, parameters, ...isStrict && { strict: true } },
    },
    // The schema keeps its text, so that no number and no order of keys changes.
    text: `{"type":"function","function":${head},"parameters":${schema}${strictText}}}`,
  });
}

const FLAGS = ["strict", "defer_loading", "eager_input_streaming"];

function memberProblem(tool: JsonObject, path: string): Result<never> | null {
  const unknown = unknownMember(tool, MEMBERS, path);
  if (unknown !== null) return unknown;
  const { description = null } = tool;
  if (description !== null && typeof description !== "string") {
    return wrongType(description, `${path}.description`, "a valid string");
  }
  const wrong = FLAGS.find((key) => (tool[key] ?? null) !== null && typeof tool[key] !== "boolean");
  if (wrong !== undefined) return wrongType(tool[wrong], `${path}.${wrong}`, "a valid boolean");
  if (!isEmpty(tool.input_examples)) return unsupported(`${path}.input_examples`);
  const { allowed_callers: callers } = tool;
  return isEmpty(callers) || (Array.isArray(callers) && callers.includes("direct"))
    ? null
    : unsupported(`${path}.allowed_callers`);
}

/**
 * Returns the tools to send: those that are not deferred, then the deferred ones that the request
 * names, in the order of their first mention, so that the head of the prompt stays equal.
 */
export function sentTools(
  { list, byName }: DeclaredTools,
  mentioned: ReadonlySet<string>,
): readonly DeclaredTool[] {
  const named = [...mentioned].flatMap((name) => byName.get(name) ?? []);
  return [
    ...list.filter(({ isDeferred }) => !isDeferred),
    ...named.filter(({ isDeferred }) => isDeferred),
  ];
}

/**
 * Returns the `tools` of the Chat request; none if no tool is sent, because servers refuse an empty
 * list.
 */
export function toolsField(tools: readonly DeclaredTool[]): readonly ChatField[] {
  if (tools.length === 0) return [];
  const text = `[${tools.map((tool) => tool.text).join(",")}]`;
  return [copiedField("tools", tools.map(({ value }) => value), text)];
}
