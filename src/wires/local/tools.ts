import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import { choiceProblem } from "../../prompt/choice_problem.ts";
import type { FunctionTool, Prompt } from "../../prompt/prompt.ts";
import { strictPromises } from "../verified/strict_tools.ts";
import type { Encoding } from "../wire.ts";
import { hidesKeyword } from "./shown_keywords.ts";

/** The tools of a request for the local runtime. */
export interface EncodedTools {
  /** Empty if the model must not call tools, or if its text is the call. */
  readonly tools: readonly JsonObject[];
  /** Schema of the text when a required call is requested as text; null if calls are calls. */
  readonly callSchema: JsonObject | null;
  /** True if the response must be a call. */
  readonly isCallRequired: boolean;
}

const NO_TOOLS: EncodedTools = { tools: [], callSchema: null, isCallRequired: false };

const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

/**
 * Returns the tools of a prompt for the local runtime, which enforces neither a choice nor a strict
 * schema nor a single call: the gateway checks these.
 */
export function encodeTools(
  prompt: Prompt,
  { target, carrier, schemas }: Encoding,
): Result<EncodedTools> {
  const { tools, choice, parallelCalls } = prompt;
  // The runtime has no choice "none": the tools are not sent, so the model cannot call them.
  if (choice.kind === "none") return success(NO_TOOLS);
  const functions = tools.filter((tool) => tool.kind === "function");
  const permitted = choiceProblem(prompt, carrier) ?? permittedNames(prompt, carrier);
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
  const strict = strictPromises(functions, { schemas, carrier });
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
  carrier.promise(...strict.value.filter(({ name }) => names?.has(name) ?? true));
  if (single !== null) carrier.promise({ kind: "parallel_tool_calls", path: single.path });
  if (names !== null && choice.kind !== "unset") {
    const { path } = choice.at;
    carrier.promise({ kind: "tool_choice", path, permitted: [...names], isRequired, isText });
  }
  return success({
    tools: callSchema === null ? sent.map(encodeFunction) : [],
    callSchema,
    isCallRequired: names !== null && isRequired,
  });
}

/**
 * Returns the names that may be called, of those declared; null for all of them without a check.
 */
function permittedNames(
  { choice, tools }: Prompt,
  carrier: Carrier,
): Result<ReadonlySet<string> | null> {
  switch (choice.kind) {
    case "required":
      return success(new Set(tools.map(({ name }) => name.value)));
    case "named":
      return success(new Set([choice.tool.name]));
    case "allowed":
      return choice.tools.length === 0
        ? carrier.refuseValue(choice.listAt.path, "must be a list with at least one tool")
        : success(new Set(choice.tools.map(({ name }) => name)));
    default:
      return success(null);
  }
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
