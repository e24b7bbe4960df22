import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Choice, ChosenTool, FunctionTool, Prompt } from "../../prompt/prompt.ts";
import { wrongValue } from "../../prompt/refusals.ts";
import type { ResponsePromise } from "../verified/response_promise.ts";
import { strictPromises } from "../verified/strict_tools.ts";
import type { Encoding } from "../wire.ts";
import { hidesKeyword } from "./shown_keywords.ts";

/** The tools of a request for the local runtime. */
export interface EncodedTools {
  /** Empty if the model must not call tools, or if its text is the call. */
  readonly tools: readonly JsonObject[];
  /** Schema of the text when a required call is requested as text; null if calls are calls. */
  readonly callSchema: JsonObject | null;
  /** Fields that the runtime does not enforce. */
  readonly promises: readonly ResponsePromise[];
}

const NO_TOOLS: EncodedTools = { tools: [], callSchema: null, promises: [] };

const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

/**
 * Returns the tools of a prompt for the local runtime, which enforces neither a choice nor a strict
 * schema nor a single call: the gateway checks these.
 */
export function encodeTools(
  { tools, choice, parallelCalls }: Prompt,
  { target, carrier, schemas }: Encoding,
): Result<EncodedTools> {
  // The runtime has no choice "none": the tools are not sent, so the model cannot call them.
  if (choice.kind === "none") return success(NO_TOOLS);
  const functions = tools.filter((tool) => tool.kind === "function");
  const permitted = permittedNames(choice, functions);
  if (!permitted.ok) return permitted;
  if (functions.length === 0) return success(NO_TOOLS);
  const names = permitted.value;
  const sent = functions.filter(({ name }) => names?.has(name.value) ?? true);
  const single = parallelCalls?.value === false ? parallelCalls.at : null;
  for (const { strict } of functions) {
    const refused = strict?.value === true ? carrier.apply(strict.at) : null;
    if (refused !== null) return refused;
  }
  const refused = single === null ? null : carrier.apply(single);
  if (refused !== null) return refused;
  const strict = strictPromises(functions, schemas);
  if (!strict.ok) return strict;

  const { structured_outputs: constrainsText } = target.provider.settings.capabilities;
  const isRequired = choice.kind !== "allowed" || choice.mode === "required";
  const [only] = sent;
  const isText = names !== null && isRequired && constrainsText && sent.length === 1;
  const callSchema = isText && only !== undefined ? only.parameters.value ?? NO_PARAMETERS : null;
  // A schema of the text is enforced as a whole.
  for (const { parameters } of callSchema === null ? sent : []) {
    const isHidden = parameters.value !== null && hidesKeyword(parameters.value);
    const lost = isHidden ? carrier.apply(parameters.at) : null;
    if (lost !== null) return lost;
  }
  const promises: ResponsePromise[] = strict.value.filter(({ name }) => names?.has(name) ?? true);
  if (single !== null) promises.push({ kind: "parallel_tool_calls", path: single.path });
  if (names !== null && choice.kind !== "unset") {
    const { path } = choice.at;
    promises.push({ kind: "tool_choice", path, permitted: [...names], isRequired, isText });
  }
  return success({
    tools: callSchema === null ? sent.map(encodeFunction) : [],
    callSchema,
    promises,
  });
}

/**
 * Returns the names that may be called, of those declared; null for all of them without a check.
 */
function permittedNames(
  choice: Choice,
  tools: readonly FunctionTool[],
): Result<ReadonlySet<string> | null> {
  if (choice.kind === "unset" || choice.kind === "auto" || choice.kind === "none") {
    return success(null);
  }
  if (tools.length === 0) {
    return wrongValue(choice.at.path, "'auto' or 'none' when there are no tools");
  }
  const declared = new Set(tools.map(({ name }) => name.value));
  switch (choice.kind) {
    case "required":
      return success(declared);
    case "named":
      return chosenNames([choice.tool], declared);
    case "allowed":
      return choice.tools.length === 0
        ? wrongValue(choice.listAt.path, "a list with at least one tool")
        : chosenNames(choice.tools, declared);
  }
}

function chosenNames(
  chosen: readonly ChosenTool[],
  declared: ReadonlySet<string>,
): Result<ReadonlySet<string>> {
  const unknown = chosen.find(({ name }) => !declared.has(name));
  return unknown === undefined
    ? success(new Set(chosen.map(({ name }) => name)))
    : wrongValue(unknown.at.path, "the name of one of the tools");
}

function encodeFunction({ name, description, parameters }: FunctionTool): JsonObject {
  return {
    type: "function",
    function: {
      name: name.value,
      ...description !== null && { description },
      parameters: parameters.value ?? NO_PARAMETERS,
    },
  };
}
