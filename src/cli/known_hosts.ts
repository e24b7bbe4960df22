import type { ProviderConfig } from "../config/schema.ts";

/** Capabilities of a provider as they are written in a configuration. */
type Written = Partial<ProviderConfig["capabilities"]>;

/** Capabilities of a provider that stores responses and completions itself. */
export const LIFECYCLES = {
  chat_completions_lifecycle: true,
  responses_lifecycle: true,
  background_responses: true,
  response_cancellation: true,
  response_compaction: true,
  response_input_tokens: true,
} as const satisfies Written;

/**
 * Capabilities of the hosts that starter configurations name. Conversations are not among those of
 * openai: the gateway stores them for every provider, and a conversation at OpenAI could be used
 * over the Responses API of OpenAI only.
 */
export const KNOWN_HOSTS = {
  openai: {
    structured_outputs: true,
    reasoning_effort: true,
    custom_tools: true,
    embeddings_base64: true,
    ...LIFECYCLES,
    hosted_tools: [
      "web_search",
      "web_search_preview",
      "file_search",
      "code_interpreter",
      "image_generation",
      "mcp",
      "computer_use_preview",
    ],
  },
  anthropic: {
    structured_outputs: true,
    reasoning_effort: true,
    reasoning_effort_levels: ["low", "medium", "high", "xhigh", "max"],
    adaptive_thinking: true,
  },
  ollama: {
    structured_outputs: true,
    reasoning_effort: true,
    reasoning_effort_levels: ["none", "low", "medium", "high", "max"],
  },
} as const satisfies Readonly<Record<string, Written>>;

/** Returns the capabilities of a known host as lines of YAML, each after `indent`. */
export function capabilitiesText(host: keyof typeof KNOWN_HOSTS, indent: string): string {
  const lines = Object.entries(KNOWN_HOSTS[host]).map(([name, value]) =>
    `${indent}  ${name}: ${typeof value === "boolean" ? value : `[${value.join(", ")}]`}`
  );
  return [`${indent}capabilities:`, ...lines].join("\n");
}
