import { usedCapabilities } from "../config/unused_keys.ts";
import type { ProviderConfig } from "../config/schema.ts";
import type { RouteTarget } from "../call/generation.ts";

type Capability = keyof ProviderConfig["capabilities"];

/** What the gateway refuses for a provider that does not declare a capability. */
const REFUSED: Readonly<Record<Exclude<Capability, "reasoning_effort_levels">, string>> = {
  chat_completions_lifecycle: "list, read, change and delete stored completions",
  responses_lifecycle: "read and delete responses that the provider stores",
  conversations: "conversations that the provider stores",
  background_responses: "background: true",
  response_cancellation: "cancel a response",
  response_compaction: "POST /v1/responses/compact",
  response_input_tokens: "POST /v1/responses/input_tokens",
  embeddings_base64: "embeddings with encoding_format base64, the default of the OpenAI SDKs",
  structured_outputs: "response_format json_schema",
  reasoning_effort: "reasoning_effort",
  adaptive_thinking: "thinking of type adaptive",
  relay: "completions, moderations, images, audio, files, batches, rerank",
  hosted_tools: "tools that the provider runs, such as web_search",
};

/** What is refused at type compat, which gets Chat requests unchanged. */
const REFUSED_OVER_COMPAT: Readonly<Partial<Record<Capability, string>>> = {
  structured_outputs: "output_config.format of Messages requests",
  reasoning_effort: "output_config.effort of Messages requests",
};

/** Capabilities for requests that only a target with the Responses API can take. */
const OVER_RESPONSES: readonly string[] = ["background_responses", "hosted_tools"];

/** Returns one line for each capability that a target's provider does not declare, with what is refused. */
export function undeclaredLines({ provider, wire }: RouteTarget): readonly string[] {
  const { type, capabilities } = provider.settings;
  const used = usedCapabilities(type);
  const all = type === "compat" ? { ...REFUSED, ...REFUSED_OVER_COMPAT } : REFUSED;
  return Object.entries(all).flatMap(([name, refused]) => {
    const value = Object.entries(capabilities).find(([key]) => key === name)?.[1];
    const isOn = Array.isArray(value) ? value.length > 0 : value === true;
    const matters = used.includes(name) &&
      (wire.name === "responses" || !OVER_RESPONSES.includes(name));
    return isOn || !matters ? [] : [`off: ${name} (refuses ${refused})`];
  });
}
