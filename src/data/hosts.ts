/**
 * Known hosts of models: addresses, credentials, what they can do, and how their Chat
 * protocol differs from that of the OpenAI API. Each host states its date and its sources. Nothing
 * is inferred from an address: a file names the profile of its provider, and `check` suggests one.
 */

/** Features of a host, as the capabilities of a provider are written in a configuration. */
type Capabilities = Readonly<Record<string, boolean | readonly string[]>>;

/** How the Chat protocol of a host differs from that of the OpenAI API. */
export interface HostProfile {
  /** Name of the limit of completion tokens, if the host takes only one of the two. */
  readonly tokenLimit?: "max_tokens" | "max_completion_tokens";
  /** Present if the host refuses messages of role `developer`. */
  readonly hasDeveloperRole?: false;
  /** Present if the host takes reasoning back as `reasoning`, not as `reasoning_content`. */
  readonly takesReasoning?: true;
  /**
   * Present if the host sends signed or encrypted reasoning as `reasoning_details`, and needs it
   * back unchanged.
   */
  readonly hasReasoningDetails?: true;
  /** Present if assistant messages with tool calls must have `reasoning_content`, even if empty. */
  readonly needsReasoning?: true;
  /** Members that a message and its tool calls may have; absent for any. */
  readonly members?: { readonly message: readonly string[]; readonly call: readonly string[] };
  /**
   * Signature for tool calls that the host did not make; absent if it does not sign its calls. The
   * host refuses calls of the current turn without a signature.
   */
  readonly unsignedCall?: string;
  /** Matches models whose parts may have `cache_control`; absent for none. */
  readonly cacheMarks?: RegExp;
  /** Present if the host knows only a part of JSON Schema in the parameters of functions. */
  readonly rewritesSchemas?: true;
}

/** One host of models. */
export interface Host {
  readonly title: string;
  readonly type: "compat" | "messages" | "local";
  /** Base address in a configuration. Its user chooses the parts in braces. */
  readonly baseUrl: string;
  /** Matches host name, port and path of base addresses; absent if they can be any. */
  readonly address?: RegExp;
  /** How requests carry the credential. */
  readonly auth: "bearer" | "x-api-key" | "none";
  /** Name of the service in signatures of AWS; absent for other hosts. */
  readonly signedAs?: string;
  /** Capabilities of the host for every model, for configurations that name it. */
  readonly capabilities?: Capabilities;
  /** Absent if the host needs none. */
  readonly profile?: HostProfile;
  /** Facts for the user of the host. */
  readonly notes?: string;
  /** Day of the facts. */
  readonly asOf: string;
  /** Pages and repositories that state the facts. */
  readonly sources: readonly string[];
}

/** Capabilities of a provider that stores responses and completions itself. */
export const LIFECYCLES = {
  chat_completions_lifecycle: true,
  responses_lifecycle: true,
  background_responses: true,
  response_cancellation: true,
  response_compaction: true,
  response_input_tokens: true,
} as const satisfies Capabilities;

/** Members that Chat Completions defines for messages of every role and for tool calls. */
const CHAT_MEMBERS = {
  message: ["role", "content", "name", "tool_calls", "tool_call_id", "function_call"],
  // `index` is that of a call in a stream, which clients send back.
  call: ["id", "type", "index", "function", "custom"],
};

/**
 * The known hosts by their names. A provider with one of the first three IDs has the type and
 * address of the host; the names of those with a profile are values of `compatibility_profile`.
 */
export const HOSTS = {
  // Conversations are not among its capabilities: the gateway stores them for every provider, and a
  // conversation at OpenAI could be used over its Responses API only.
  openai: {
    title: "OpenAI",
    type: "compat",
    baseUrl: "https://api.openai.com/v1",
    address: /^api\.openai\.com\//,
    auth: "bearer",
    capabilities: {
      structured_outputs: true,
      reasoning_effort: true,
      embeddings_base64: true,
      ...LIFECYCLES,
      custom_tools: true,
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
    asOf: "2026-11-23",
    sources: ["platform.openai.com/docs/api-reference"],
  },
  anthropic: {
    title: "Anthropic",
    type: "messages",
    baseUrl: "https://api.anthropic.com",
    address: /^api\.anthropic\.com\//,
    auth: "x-api-key",
    capabilities: {
      structured_outputs: true,
      reasoning_effort: true,
      reasoning_effort_levels: ["low", "medium", "high", "xhigh", "max"],
      adaptive_thinking: true,
    },
    asOf: "2026-11-23",
    sources: ["platform.claude.com/docs/en/api/messages"],
  },
  ollama: {
    title: "Ollama",
    type: "local",
    baseUrl: "http://127.0.0.1:11434",
    auth: "none",
    capabilities: {
      structured_outputs: true,
      reasoning_effort: true,
      reasoning_effort_levels: ["none", "low", "medium", "high", "max"],
    },
    asOf: "2026-11-23",
    sources: ["github.com/ollama/ollama:docs/api.md"],
  },
  gemini: {
    title: "Google Gemini, the endpoint for OpenAI clients",
    type: "compat",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    address: /^generativelanguage\.googleapis\.com\/v1(?:alpha|beta)?\/openai/,
    auth: "bearer",
    capabilities: { structured_outputs: true, reasoning_effort: true },
    profile: {
      unsignedCall: "skip_thought_signature_validator",
      rewritesSchemas: true,
    },
    notes: "Signs its tool calls, and refuses a call of the current turn without its signature.",
    asOf: "2026-11-23",
    sources: [
      "ai.google.dev/gemini-api/docs/openai",
      "ai.google.dev/gemini-api/docs/thought-signatures",
      "openai/openai-agents-python#2137",
    ],
  },
  deepseek: {
    title: "DeepSeek",
    type: "compat",
    baseUrl: "https://api.deepseek.com",
    address: /^api\.deepseek\.com\//,
    auth: "bearer",
    capabilities: { reasoning_effort: true },
    profile: {
      tokenLimit: "max_tokens",
      hasDeveloperRole: false,
      needsReasoning: true,
    },
    notes: "Refuses a tool loop of a thinking model whose assistant messages have no reasoning. " +
      "It also serves the Messages API at /anthropic.",
    asOf: "2026-11-23",
    sources: ["api-docs.deepseek.com/guides/thinking_mode", "anomalyco/opencode#24722"],
  },
  openrouter: {
    title: "OpenRouter",
    type: "compat",
    baseUrl: "https://openrouter.ai/api/v1",
    address: /^openrouter\.ai\//,
    auth: "bearer",
    capabilities: { structured_outputs: true, reasoning_effort: true },
    profile: { takesReasoning: true, hasReasoningDetails: true, cacheMarks: /^anthropic\// },
    notes:
      "Sends signed and encrypted reasoning as reasoning_details, and needs it back unchanged. " +
      "A thinking model may refuse a tool loop that another account has begun: " +
      "no value stands for missing details.",
    asOf: "2026-11-23",
    sources: [
      "openrouterteam/ai-sdk-provider:src/schemas/reasoning-details.ts",
    ],
  },
  groq: {
    title: "Groq",
    type: "compat",
    baseUrl: "https://api.groq.com/openai/v1",
    address: /^api\.groq\.com\//,
    auth: "bearer",
    capabilities: { structured_outputs: true, reasoning_effort: true },
    profile: {
      tokenLimit: "max_completion_tokens",
      members: CHAT_MEMBERS,
    },
    notes:
      "Refuses members of messages and tool calls that it does not know, reasoning among them.",
    asOf: "2026-11-23",
    sources: [
      "BerriAI/litellm:litellm/llms/groq/chat/transformation.py",
      "vercel/ai#8057",
      "janhq/jan#8136",
    ],
  },
  vllm: {
    title: "vLLM",
    type: "compat",
    baseUrl: "http://{host}:8000/v1",
    auth: "bearer",
    capabilities: { structured_outputs: true, reasoning_effort: true },
    profile: { takesReasoning: true },
    notes: "Needs a key only if it was started with one. Reasoning has the member `reasoning`.",
    asOf: "2026-11-23",
    sources: ["vllm-project/vllm:docs/features/reasoning_outputs.md"],
  },
  azure: {
    title: "Azure OpenAI",
    type: "compat",
    baseUrl: "https://{resource}.openai.azure.com/openai/v1",
    address: /^[^/]+\.openai\.azure\.com\//,
    auth: "bearer",
    notes: "The model is the name of the deployment. No api-version is needed.",
    asOf: "2026-11-23",
    sources: ["learn.microsoft.com/azure/foundry/openai/api-version-lifecycle"],
  },
  foundry: {
    title: "Claude in Microsoft Foundry",
    type: "messages",
    baseUrl: "https://{resource}.services.ai.azure.com/anthropic",
    address: /^[^/]+\.services\.ai\.azure\.com\/anthropic/,
    auth: "x-api-key",
    notes: "The model is the name of the deployment. It has no list of models.",
    asOf: "2026-11-28",
    sources: ["npm:@anthropic-ai/foundry-sdk@1.1.1"],
  },
  bedrock: {
    title: "Amazon Bedrock",
    type: "compat",
    baseUrl: "https://bedrock-runtime.{region}.amazonaws.com/openai/v1",
    address: /^bedrock-runtime\.[^/]+\//,
    auth: "bearer",
    signedAs: "bedrock",
    notes: "Takes an API key of Bedrock, or signed requests (credential of type aws).",
    asOf: "2026-11-23",
    sources: ["docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api"],
  },
  bedrock_mantle: {
    title: "Amazon Bedrock Mantle",
    type: "compat",
    baseUrl: "https://bedrock-mantle.{region}.api.aws/openai/v1",
    address: /^bedrock-mantle\.[^/]+\//,
    auth: "bearer",
    signedAs: "bedrock-mantle",
    notes: "Takes an API key of Bedrock, or signed requests (credential of type aws).",
    asOf: "2026-11-28",
    sources: ["npm:openai@7.57.0:internal/bedrock.mjs"],
  },
  bedrock_claude: {
    title: "Claude in Amazon Bedrock Mantle",
    type: "messages",
    baseUrl: "https://bedrock-mantle.{region}.api.aws/anthropic",
    address: /^bedrock-mantle\.[^/]+\/anthropic/,
    auth: "bearer",
    signedAs: "bedrock-mantle",
    notes: "Takes an API key of Bedrock as a header, or signed requests (credential of type aws).",
    asOf: "2026-11-28",
    sources: ["npm:@anthropic-ai/bedrock-sdk@1.1.3"],
  },
  vertex: {
    title: "Google Vertex AI",
    type: "compat",
    baseUrl:
      "https://{region}-aiplatform.googleapis.com/v1/projects/{project}/locations/{region}/endpoints/openapi",
    address: /^[^/]*aiplatform\.googleapis\.com\//,
    auth: "bearer",
    notes:
      "Needs a token that is valid for an hour (credential of type google). Models are named google/….",
    asOf: "2026-11-28",
    sources: ["cloud.google.com/vertex-ai/generative-ai/docs/migrate/openai/overview"],
  },
  mistral: {
    title: "Mistral",
    type: "compat",
    baseUrl: "https://api.mistral.ai/v1",
    address: /^api\.mistral\.ai\//,
    auth: "bearer",
    notes: "IDs of tool calls must have 9 letters or digits; unknown members are refused.",
    asOf: "2026-11-23",
    sources: ["BerriAI/litellm:litellm/llms/mistral/chat/transformation.py"],
  },
  moonshot: {
    title: "Moonshot",
    type: "compat",
    baseUrl: "https://api.moonshot.ai/v1",
    address: /^api\.moonshot\.(?:ai|cn)\//,
    auth: "bearer",
    notes: "A tool choice of `required` and strict functions are refused.",
    asOf: "2026-11-23",
    sources: ["BerriAI/litellm:litellm/llms/moonshot/chat/transformation.py"],
  },
  xai: {
    title: "xAI",
    type: "compat",
    baseUrl: "https://api.x.ai/v1",
    address: /^api\.x\.ai\//,
    auth: "bearer",
    notes: "Completion tokens leave out those of reasoning; the total has them.",
    asOf: "2026-11-23",
    sources: ["BerriAI/litellm:litellm/llms/xai/chat/transformation.py"],
  },
  zai: {
    title: "Z.ai",
    type: "compat",
    baseUrl: "https://api.z.ai/api/paas/v4",
    address: /^api\.z\.ai\//,
    auth: "bearer",
    notes: "Lists of parts in tool and assistant messages are dropped by the host.",
    asOf: "2026-11-23",
    sources: ["BerriAI/litellm:litellm/llms/zai/chat/transformation.py"],
  },
  llamacpp: {
    title: "llama.cpp server",
    type: "compat",
    baseUrl: "http://{host}:8080/v1",
    auth: "none",
    asOf: "2026-11-23",
    sources: ["ggml-org/llama.cpp:tools/server/README.md"],
  },
  lmstudio: {
    title: "LM Studio",
    type: "compat",
    baseUrl: "http://{host}:1234/v1",
    auth: "none",
    notes: "A tool choice that names a tool is refused.",
    asOf: "2026-11-23",
    sources: ["lmstudio-ai/lmstudio-bug-tracker#894"],
  },
} as const satisfies Readonly<Record<string, Host>>;

/** The known hosts by name, for names that a file states. */
const BY_NAME: ReadonlyMap<string, Host> = new Map(Object.entries(HOSTS));

/** Names of the hosts with a profile. */
export const PROFILE_NAMES: readonly string[] = [...BY_NAME].flatMap(([name, { profile }]) =>
  profile === undefined ? [] : [name]
);

/** Returns a host by its name; null if it is unknown. */
export function hostNamed(name: string): Host | null {
  return BY_NAME.get(name) ?? null;
}

/** The profile of a provider that names none: the Chat protocol of the OpenAI API. */
const USUAL: HostProfile = {};

/** Returns the profile of a host by its name; the usual one if it names none or is unknown. */
export function profileOf(name: string | undefined): HostProfile {
  return name === undefined ? USUAL : hostNamed(name)?.profile ?? USUAL;
}

/** Returns the known host with a base address, and its name. */
export function hostAt(
  type: Host["type"],
  baseUrl: string,
): { readonly name: string; readonly host: Host } | null {
  const address = baseUrl.replace(/^https?:\/\//i, "").toLowerCase();
  const place = address.includes("/") ? address : `${address}/`;
  for (const [name, host] of BY_NAME) {
    if (host.type === type && host.address?.test(place) === true) return { name, host };
  }
  return null;
}
