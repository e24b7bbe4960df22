import { isObject, type JsonDocument, type JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import { parseElements } from "../../../formats/edit.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import { exactMember } from "../../../prompt/exact_member.ts";
import type { FieldRef, FunctionTool } from "../../../prompt/prompt.ts";
import { isEmpty, unsupported } from "../../../prompt/refusals.ts";
import type { WireName } from "../../../wires/wire.ts";
import { MAX_OWN_NAME_CHARS, shortName } from "../../generate/tool_names.ts";
import { invalidValue, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { flagAt, memberText, objectAt, textAt, unknownIn } from "./read.ts";

/** A custom tool of the request. */
interface DeclaredTool {
  /** Name that the client uses. */
  readonly name: string;
  /** True if the tool is sent only when the request names it. */
  readonly isDeferred: boolean;
  readonly tool: FunctionTool;
}

/** The tools of a request. */
export interface DeclaredTools {
  /** Tools by the names that the client uses, in the order of the request. */
  readonly byName: ReadonlyMap<string, DeclaredTool>;
  /** Names of the client by the names that the upstream gets, where they differ. */
  readonly original: ReadonlyMap<string, string>;
}

/** Returns the name of a tool for an upstream: Chat servers limit its length. */
export function upstreamName(name: string, wire: WireName): string {
  return wire === "local" ? name : shortName(name);
}

/**
 * Parses `tools` (Messages API, tool use). Only tools that the client runs have a counterpart; the
 * hosted ones that the route leaves out are lossy.
 */
export function parseTools(
  document: JsonDocument,
  { wire, carrier, lossy }: {
    readonly wire: WireName;
    readonly carrier: Carrier;
    readonly lossy: string[];
  },
): Result<DeclaredTools> {
  const given = exactMember(document, "tools") ?? [];
  if (!Array.isArray(given)) return wrongType(given, "tools", "a valid list");
  const member = document.members.findLast(({ key }) => key === "tools");
  const spans = member === undefined ? [] : parseElements(document.text, member.start);
  const byName = new Map<string, DeclaredTool>();
  const original = new Map<string, string>();
  const names = new Set<string>();
  for (const [index, tool] of given.entries()) {
    const path = `tools.${index}`;
    if (!isObject(tool)) return wrongType(tool, path, "a valid dictionary");
    if (carrier.omits(tool.type)) {
      lossy.push(path);
      continue;
    }
    // The schema keeps its text, so that no order of keys changes.
    const schemaText = memberText(document.text, spans[index], "input_schema") ?? "{}";
    const made = parseTool(tool, path, { wire, carrier, schemaText });
    if (!made.ok) return made;
    const { name, tool: { name: { value: short } } } = made.value;
    if (names.has(short)) return invalidValue("tools", SENTENCES.toolNamesNotUnique);
    names.add(short);
    if (short !== name) original.set(short, name);
    const { allowed_callers: callers } = tool;
    // Other callers than the model have no counterpart.
    if (Array.isArray(callers) && callers.some((one) => one !== "direct")) {
      lossy.push(`${path}.allowed_callers`);
    }
    byName.set(name, made.value);
  }
  return success({ byName, original });
}

function parseTool(
  tool: JsonObject,
  listed: string,
  { wire, carrier, schemaText }: {
    readonly wire: WireName;
    readonly carrier: Carrier;
    readonly schemaText: string;
  },
): Result<DeclaredTool> {
  const type = textAt(tool.type ?? "custom", `${listed}.type`);
  if (!type.ok) return type;
  if (type.value !== "custom") {
    return unsupported(`${listed}.type`, SENTENCES.toolNotOffered(type.value));
  }
  // A refusal names the type of the tool, as the vendor does.
  const path = `${listed}.custom`;
  const problem = memberProblem(tool, path);
  if (problem !== null) return problem;
  const name = textAt(tool.name, `${path}.name`);
  if (!name.ok) return name;
  if (name.value === "") {
    return invalidValue(`${path}.name`, "String should have at least 1 character");
  }
  if (name.value.length > MAX_OWN_NAME_CHARS) {
    const sentence = `String should have at most ${MAX_OWN_NAME_CHARS} characters`;
    return invalidValue(`${path}.name`, sentence);
  }
  const schema = objectAt(tool.input_schema, `${path}.input_schema`);
  if (!schema.ok) return schema;
  const member = (field: "name" | "parameters" | "strict", own: string): FieldRef => ({
    field: `tools[function].function.${field}`,
    path: `${path}.${own}`,
    listedPath: `${listed}.${own}`,
  });
  const at: FieldRef = { field: "tools[function]", path, listedPath: listed };
  const parametersAt = member("parameters", "input_schema");
  const strictAt = member("strict", "strict");
  const isStrict = tool.strict === true;
  const refused = carrier.use(at) ?? carrier.use(parametersAt) ??
    (isStrict ? carrier.use(strictAt) : null);
  return refused ?? success({
    name: name.value,
    isDeferred: tool.defer_loading === true,
    tool: {
      kind: "function",
      at,
      name: { value: upstreamName(name.value, wire), at: member("name", "name") },
      description: typeof tool.description === "string" ? tool.description : null,
      parameters: { value: schema.value, text: schemaText, at: parametersAt },
      strict: isStrict ? { value: true, at: strictAt } : null,
      cache: null,
    },
  });
}

const FLAGS = ["strict", "defer_loading", "eager_input_streaming"];

function memberProblem(tool: JsonObject, path: string): Result<never> | null {
  const unknown = unknownIn(tool, "tools[custom]", path);
  if (unknown !== null) return unknown;
  const description = textAt(tool.description ?? "", `${path}.description`);
  if (!description.ok) return description;
  for (const key of FLAGS) {
    const flag = flagAt(tool[key], `${path}.${key}`);
    if (!flag.ok) return flag;
  }
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
  { byName }: DeclaredTools,
  mentioned: ReadonlySet<string>,
): readonly FunctionTool[] {
  const named = [...mentioned].flatMap((name) => byName.get(name) ?? []);
  return [
    ...[...byName.values()].filter(({ isDeferred }) => !isDeferred),
    ...named.filter(({ isDeferred }) => isDeferred),
  ].map(({ tool }) => tool);
}
