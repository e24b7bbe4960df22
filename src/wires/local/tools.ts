import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { ProviderConfig } from "../../config/schema.ts";
import { type Result, success } from "../../core/result.ts";
import type { ChatRequest } from "../chat_request/chat_request.ts";
import {
  findFunction,
  mapObjects,
  mapTools,
  type OmittedTools,
  refuseBothTools,
} from "../chat_request/chat_tools.ts";
import {
  isEmpty,
  missing,
  unknownMember,
  unsupported,
  wrongType,
} from "../chat_request/refusals.ts";
import type { Losses } from "../chat_request/losses.ts";
import type { ResponsePromise } from "../verified/response_promise.ts";
import { strictPromises } from "../verified/strict_tools.ts";
import { parseChoice, type ToolChoice } from "./choice.ts";
import { exactMember, FIELDS } from "./fields.ts";
import { hidesKeyword } from "./shown_keywords.ts";

const FUNCTION = FIELDS.members("tools[function].function");

/** The tools of a request for the local runtime. */
export interface EncodedTools {
  /** Empty if the model must not call tools, or if its text is the call. */
  readonly tools: readonly JsonObject[];
  /** Schema of the text that is the arguments of the required call; null if calls come as calls. */
  readonly callSchema: JsonValue | null;
  /** Fields that the runtime does not enforce. */
  readonly promises: readonly ResponsePromise[];
}

/** One tool of the request, before and after translation. */
interface Tool {
  readonly name: string;
  readonly encoded: JsonObject;
  readonly parameters: JsonObject;
  /** Path of the parameters in the request. */
  readonly schemaPath: string;
}

const NO_TOOLS: EncodedTools = { tools: [], callSchema: null, promises: [] };

/**
 * Returns the tools of a Chat request for the local runtime, which enforces neither a choice nor a strict
 * schema nor a single call: the gateway checks these, unless the provider's `verify` is false.
 */
export function encodeTools(
  chat: ChatRequest,
  settings: ProviderConfig,
  omitted: OmittedTools,
): Result<EncodedTools> {
  const { document } = chat;
  const refused = refuseBothTools(document.value);
  if (refused !== null) return refused;
  const choice = parseChoice(document.value, settings.verify);
  if (!choice.ok) return choice;
  // The runtime has no choice "none": the tools are not sent, so the model cannot call them.
  if (choice.value.kind === "none") return success(NO_TOOLS);
  const source = isEmpty(document.value.functions) ? "tools" : "functions";
  const given = exactMember(document, source);
  const made = source === "tools"
    ? mapTools(given, omitted, encodeTool)
    : mapObjects(given, source, encodeFunction);
  if (!made.ok) return made;
  const strict = strictPromises(chat, source, settings.verify);
  if (!strict.ok) return strict;
  const permitted = choice.value.permitted(made.value.map(({ name }) => name));
  if (!permitted.ok) return permitted;
  if (made.value.length === 0) return success(NO_TOOLS);
  const isSingle = document.value.parallel_tool_calls === false;
  if (isSingle && !settings.verify) return unsupported("parallel_tool_calls", VERIFY);
  return success(selected(made.value, choice.value, permitted.value, {
    promises: [
      ...strict.value.filter(({ name }) => permitted.value?.has(name) ?? true),
      ...isSingle ? [{ kind: "parallel_tool_calls", path: "parallel_tool_calls" } as const] : [],
    ],
    constrainsText: settings.capabilities.structured_outputs,
    losses: omitted.losses,
  }));
}

/** Advice for a field that only a check of the response can serve. */
const VERIFY = "Only providers with 'verify: true' take it.";

interface SelectOptions {
  readonly promises: readonly ResponsePromise[];
  /** True if the runtime can be given a schema for its text. */
  readonly constrainsText: boolean;
  readonly losses: Losses;
}

function selected(
  tools: readonly Tool[],
  choice: ToolChoice,
  permitted: ReadonlySet<string> | null,
  { promises, constrainsText, losses }: SelectOptions,
): EncodedTools {
  const sent = permitted === null ? tools : tools.filter(({ name }) => permitted.has(name));
  const [only] = sent;
  const { path, isRequired } = choice;
  const isText = isRequired && constrainsText && sent.length === 1 && only !== undefined;
  // A schema of the text is enforced as a whole.
  for (const { parameters, schemaPath } of isText ? [] : sent) {
    if (hidesKeyword(parameters)) losses.add(schemaPath);
  }
  const chosen = permitted === null ? [] : [
    { kind: "tool_choice", path, permitted: [...permitted], isRequired, isText } as const,
  ];
  return {
    tools: isText ? [] : sent.map(({ encoded }) => encoded),
    callSchema: isText ? only.parameters : null,
    promises: [...promises, ...chosen],
  };
}

function encodeTool(tool: JsonObject, path: string): Result<Tool> {
  const called = findFunction(tool, path, FIELDS.members("tools[function]"));
  return called.ok ? encodeFunction(called.value, `${path}.function`) : called;
}

function encodeFunction(value: JsonObject, path: string): Result<Tool> {
  const unknown = unknownMember(value, FUNCTION, path);
  if (unknown !== null) return unknown;
  if (typeof value.name !== "string") return missing(`${path}.name`);
  const { name, description } = value;
  const parameters: JsonValue = value.parameters ?? { type: "object", properties: {} };
  if (!isObject(parameters)) return wrongType(`${path}.parameters`, "an object");
  const described = (description ?? null) === null ? {} : { description };
  const encoded = { type: "function", function: { name, ...described, parameters } };
  return success({ name, encoded, parameters, schemaPath: `${path}.parameters` });
}
