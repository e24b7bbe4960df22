import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { listedPath } from "../../prompt/carry.ts";
import type { AssistantTurn, Format, Given, Prompt } from "../../prompt/prompt.ts";
import { parameterAt } from "../../prompt/preset.ts";
import type { SectionInput } from "./controls.ts";
import { formatPromises, permitsCalls } from "../verified/format_promises.ts";
import { closeSchema, isAnyObject } from "./closed_schema.ts";
import { VERIFY } from "./fields.ts";

/** Maximum number of named objects of one schema, more than a response header can name. */
const MAX_OPENED_PATHS = 512;

const DEFAULT_LEVELS: readonly string[] = ["low", "medium", "high"];

/** The highest level of effort that every model takes while thinking is off. */
export const MAX_UNTHINKING_EFFORT = "high";

/** True for a level of effort that some models refuse while thinking is off. */
export function needsThinking(effort: JsonValue | undefined): boolean {
  return effort === "xhigh" || effort === "max";
}

/**
 * Returns `thinking` as the client sent it. A reasoning effort never adds it. It is turned off for
 * a tool loop that has come from another account: a model that thinks refuses calls without the
 * signed thinking before them, and newer models also think without the field. If such a loop has no
 * thinking at all, only the model knows whether it refuses it.
 */
export function thinking(input: SectionInput): Result<JsonObject> {
  const { prompt: { thinking: given }, carrier } = input;
  if (isTurnedOff(input)) {
    if (given !== null) carrier.lose(given.at.path);
    return success({ thinking: { type: "disabled" } });
  }
  return success(given === null ? {} : { thinking: given.value });
}

/** True if thinking is off although the client has not disabled it. */
function isTurnedOff({ prompt, target }: SectionInput): boolean {
  const { isThinkingOff = isUnsignedLoop(prompt, target) } = target;
  return prompt.thinking?.kind !== "disabled" && isThinkingOff;
}

/**
 * True if a request continues after calls with a model that may think, also if a text of the user
 * follows them: only the model knows whether that ends their loop.
 */
export function mayLackThinking({ messages }: Prompt, { thinking: sent }: JsonObject): boolean {
  const isOff = isObject(sent) && sent.type === "disabled";
  const last = messages.findLastIndex(({ kind }) => kind === "assistant");
  return !isOff && callingTurns(messages.slice(0, last + 1)).length > 0;
}

/** True if calls after the last user message follow thinking that the account has not signed. */
function isUnsignedLoop(prompt: Prompt, { account }: SectionInput["target"]): boolean {
  return callingTurns(prompt.messages).some(({ thinking, reasoning, stored }) =>
    thinking.length === 0 && (reasoning ?? stored) !== null && stored?.account !== account.digest
  );
}

/** Returns the messages with calls after the last user message. */
function callingTurns(messages: Prompt["messages"]): readonly AssistantTurn[] {
  return messages.slice(messages.findLastIndex(({ kind }) => kind === "user") + 1)
    .filter((turn) => turn.kind === "assistant")
    .filter(({ calls }) => calls.length > 0);
}

/** Returns `output_config`: the effort and the format of the response. */
export function outputConfig(input: SectionInput): Result<JsonObject> {
  const { prompt, carrier, schemas, target: { provider: { settings } } } = input;
  const { effort: requested, format: given } = prompt;
  const effort = requested === null ? success({}) : encodeEffort(requested, input);
  if (!effort.ok) return effort;
  // The API has no format of any object: the gateway checks the response.
  if (given?.kind === "json_object" && !settings.verify) {
    return carrier.refuse(given.at, VERIFY);
  }
  const format = given?.kind === "json_schema" ? schemaFormat(given, input) : success({});
  if (!format.ok) return format;
  carrier.promise(...formatPromises(prompt, settings, schemas, false));
  const config = { ...effort.value, ...format.value };
  return success(Object.keys(config).length === 0 ? {} : { output_config: config });
}

function encodeEffort(
  { value: effort, at }: Given<string>,
  input: SectionInput,
): Result<JsonObject> {
  const { carrier, target } = input;
  const { reasoning_effort_levels: listed } = target.provider.settings.capabilities;
  // The Messages API has neither level, whatever the provider's list contains.
  if (effort === "none" || effort === "minimal") return carrier.refuse(at);
  const isPermitted = (listed.length === 0 ? DEFAULT_LEVELS : listed).includes(effort);
  if (!isPermitted) return carrier.refuseUndeclared(at, "reasoning_effort_levels");
  if (!needsThinking(effort) || !isTurnedOff(input)) return success({ effort });
  // Of the parameter of a named model the client has lost nothing.
  const preset = target.named?.preset;
  const isOwn = preset === undefined || parameterAt(preset, "effort").path !== at.path;
  if (isOwn) carrier.lose(listedPath(at));
  return success({ effort: MAX_UNTHINKING_EFFORT });
}

/**
 * Returns the schema format. The upstream always enforces a schema. The objects of a schema that is
 * not strict are closed. If that would permit only `{}`, the gateway checks that the response is an
 * object.
 */
function schemaFormat(
  { schema: { value: given, at }, strict }: Format & { readonly kind: "json_schema" },
  { prompt, carrier, target: { provider: { settings } } }: SectionInput,
): Result<JsonObject> {
  const isAny = isAnyObject(given);
  const opened: string[] = [];
  const schema = closeSchema(given, at.path, (path) => {
    if (opened.length < MAX_OPENED_PATHS) opened.push(path);
  });
  const [first] = opened;
  if (first !== undefined && strict?.value === true) {
    return carrier.refuse(
      { path: first },
      "The objects of a strict schema need 'additionalProperties: false'.",
    );
  }
  if (isAny) {
    carrier.lose(at.path);
    if (!settings.verify) return carrier.refuse(at, VERIFY);
    carrier.promise({ kind: "json_object", path: at.path, permitsCalls: permitsCalls(prompt) });
    return success({});
  }
  for (const path of opened) carrier.lose(path);
  const refused = strict?.value === false ? carrier.apply(strict.at) : null;
  return refused ?? success({ format: { type: "json_schema", schema } });
}
