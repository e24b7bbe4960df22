import type { JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Given, Prompt } from "../../prompt/prompt.ts";
import { permitsCalls } from "../verified/format_promises.ts";
import type { Encoding } from "../wire.ts";

/**
 * Returns the runtime's `format`: "json", or the schema without its envelope; undefined if the
 * request sets no format. The flag of a strict schema is lossy unless the response `isVerified`.
 */
export function encodeFormat(
  prompt: Prompt,
  { target: { provider: { settings } }, carrier }: Encoding,
  isVerified: boolean,
): Result<JsonValue | undefined> {
  const { format } = prompt;
  switch (format?.kind) {
    case undefined:
    case "text":
      return success(undefined);
    case "json_object":
      // The runtime enforces it only where no call is possible: else the gateway checks the
      // response.
      return settings.verify || !permitsCalls(prompt)
        ? success("json")
        : carrier.refuse(format.at, "Use a provider with 'verify: true'.");
    case "json_schema": {
      const { strict } = format;
      const isKept = strict === null || (strict.value && isVerified);
      const refused = isKept ? null : carrier.apply(strict.at);
      return refused ?? success(format.schema.value);
    }
  }
}

/** Returns the runtime's `think`; undefined if the request does not set it. */
export function encodeThink(
  { thinking, effort }: Prompt,
  encoding: Encoding,
): Result<boolean | string | undefined> {
  const isDisabled = thinking?.kind === "disabled";
  if (effort === null) return success(thinking === null ? undefined : !isDisabled);
  const think = encodeLevel(effort, encoding);
  return isDisabled && think.ok && think.value !== false
    ? encoding.carrier.refusePair(thinking.at.path, `'${effort.at.path}' asks for thinking.`)
    : think;
}

const LEVELS: readonly string[] = ["low", "medium", "high"];

function encodeLevel(
  { value: level, at }: Given<string>,
  { target: { provider: { settings } }, carrier }: Encoding,
): Result<boolean | string> {
  const { reasoning_effort_levels: listed } = settings.capabilities;
  // The runtime has only these levels; mapping another level to the nearest one would be a guess.
  const isKnown = LEVELS.includes(level) || level === "max" || level === "none";
  if (!isKnown) return carrier.refuse(at);
  const isPermitted = listed.length === 0 ? LEVELS.includes(level) : listed.includes(level);
  if (!isPermitted) return carrier.refuseUndeclared(at, "reasoning_effort_levels");
  return success(level === "none" ? false : level);
}
