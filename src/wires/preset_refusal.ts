import type { Failed } from "../core/failure/result.ts";
import { textContent } from "../prompt/content.ts";
import type { Parameters, Preset } from "../prompt/preset.ts";
import type { Prompt } from "../prompt/prompt.ts";
import { encodePromptFor, newTargetCarrier } from "./prompt_encoder.ts";
import { pathsOf } from "../prompt/response_promise.ts";
import { newStrictSchemas } from "./verified/strict_schemas.ts";
import type { Target } from "./wire.ts";

const AT = { field: "messages[user]", path: "messages[0]" } as const;

/** The simplest request: one text of the user. */
const PLAIN: Prompt = {
  at: { field: "messages", path: "messages" },
  messages: [{
    kind: "user",
    at: AT,
    content: textContent("Hello", { ...AT, field: "messages[user].content" }),
    cache: null,
  }],
  tools: [],
  hasLegacyTools: false,
  choice: { kind: "unset" },
  parallelCalls: null,
  format: null,
  sampling: {
    temperature: null,
    topP: null,
    topK: null,
    presencePenalty: null,
    frequencyPenalty: null,
    seed: null,
  },
  limits: { completion: null, legacy: null },
  stop: null,
  effort: null,
  thinking: null,
  verbosity: null,
  logprobs: { isWanted: false, top: null },
  webSearch: null,
  labels: {
    user: null,
    safetyIdentifier: null,
    serviceTier: null,
    metadata: null,
    cacheControl: null,
    cacheKey: null,
    cacheRetention: null,
    cacheOptions: null,
    moderation: null,
  },
  stream: false,
  isUnpadded: false,
};

/**
 * Returns the refusal of the first of these parameters that a target cannot carry, as the wire
 * refuses it in a request of a client; null if it carries all, and for a target of a route. What
 * the gateway would check on the response is refused too if that `isRelayed`.
 */
export function refuseParameters(
  parameters: Parameters,
  target: Target,
  isRelayed = false,
): Failed | null {
  const { named } = target;
  if (named === undefined || Object.keys(parameters).length === 0) return null;
  const preset: Preset = { ...named.preset, parameters, maxOutput: null, system: null };
  const carrier = newTargetCarrier(target);
  const schemas = newStrictSchemas();
  const asked = { ...target, named: { ...named, preset } };
  const encoded = encodePromptFor(PLAIN, { target: asked, carrier, schemas });
  if (!encoded.ok) return encoded;
  const [promised] = isRelayed ? pathsOf(encoded.value.promises ?? []) : [];
  return promised === undefined ? null : carrier.refuse({ path: promised });
}
