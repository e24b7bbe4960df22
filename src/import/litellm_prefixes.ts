import { HOSTS } from "../data/hosts.ts";

/** Meaning of a prefix of `litellm_params.model`: the provider of the model. */
export interface Prefix {
  /**
   * `openai`: Chat Completions at `address`, else at `api_base`; `anthropic` and `ollama` their own
   * protocols; the clouds have addresses of several parts.
   */
  readonly kind: "openai" | "anthropic" | "ollama" | "azure" | "azure_ai" | "bedrock" | "vertex_ai";
  /** Base address without `api_base`; absent if there is none. */
  readonly address?: string;
  /** Environment variable with the key, which LiteLLM reads if the entry has none. */
  readonly variable?: string;
  /** How the provider works differently here; absent if it does not. */
  readonly note?: string;
}

/** Prefixes of providers with an address and Chat Completions, with what their variable is. */
const FIXED: Readonly<Record<string, readonly [address: string, variable: string]>> = {
  aiml: ["https://api.aimlapi.com/v1", "AIML_API_KEY"],
  cerebras: ["https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"],
  chutes: ["https://llm.chutes.ai/v1/", "CHUTES_API_KEY"],
  cometapi: ["https://api.cometapi.com/v1", "COMETAPI_KEY"],
  dashscope: ["https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"],
  deepinfra: ["https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"],
  deepseek: ["https://api.deepseek.com/beta", "DEEPSEEK_API_KEY"],
  featherless_ai: ["https://api.featherless.ai/v1", "FEATHERLESS_AI_API_KEY"],
  fireworks_ai: ["https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"],
  github: ["https://models.inference.ai.azure.com", "GITHUB_API_KEY"],
  groq: [HOSTS.groq.baseUrl, "GROQ_API_KEY"],
  hyperbolic: ["https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY"],
  inception: ["https://api.inceptionlabs.ai/v1", "INCEPTION_API_KEY"],
  lambda_ai: ["https://api.lambda.ai/v1", "LAMBDA_API_KEY"],
  meta_llama: ["https://api.llama.com/compat/v1", "LLAMA_API_KEY"],
  mistral: [HOSTS.mistral.baseUrl, "MISTRAL_API_KEY"],
  moonshot: [HOSTS.moonshot.baseUrl, "MOONSHOT_API_KEY"],
  nebius: ["https://api.studio.nebius.ai/v1", "NEBIUS_API_KEY"],
  novita: ["https://api.novita.ai/v3/openai", "NOVITA_API_KEY"],
  nscale: ["https://inference.api.nscale.com/v1", "NSCALE_API_KEY"],
  nvidia_nim: ["https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY"],
  openrouter: [HOSTS.openrouter.baseUrl, "OPENROUTER_API_KEY"],
  perplexity: ["https://api.perplexity.ai", "PERPLEXITYAI_API_KEY"],
  sambanova: ["https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"],
  synthetic: ["https://api.synthetic.new/openai/v1", "SYNTHETIC_API_KEY"],
  together_ai: ["https://api.together.ai/v1", "TOGETHER_API_KEY"],
  v0: ["https://api.v0.dev/v1", "V0_API_KEY"],
  vercel_ai_gateway: ["https://ai-gateway.vercel.sh/v1", "VERCEL_AI_GATEWAY_API_KEY"],
  volcengine: ["https://ark.cn-beijing.volces.com/api/v3", "VOLCENGINE_API_KEY"],
  wandb: ["https://api.inference.wandb.ai/v1", "WANDB_API_KEY"],
  xai: [HOSTS.xai.baseUrl, "XAI_API_KEY"],
  zai: [HOSTS.zai.baseUrl, "ZAI_API_KEY"],
};

/**
 * The prefixes that can be served, by name, as in LiteLLM 1.106.2: `scripts/import/compare.ts`
 * compares their addresses.
 */
export const PREFIXES: ReadonlyMap<string, Prefix> = new Map<string, Prefix>([
  ["openai", { kind: "openai", address: HOSTS.openai.baseUrl, variable: "OPENAI_API_KEY" }],
  ["anthropic", {
    kind: "anthropic",
    address: HOSTS.anthropic.baseUrl,
    variable: "ANTHROPIC_API_KEY",
  }],
  ["ollama", { kind: "ollama", address: HOSTS.ollama.baseUrl }],
  ["ollama_chat", { kind: "ollama", address: HOSTS.ollama.baseUrl }],
  ["gemini", {
    kind: "openai",
    address: HOSTS.gemini.baseUrl,
    variable: "GEMINI_API_KEY",
    note: "over Google's endpoint for OpenAI clients; LiteLLM uses Google's own API",
  }],
  ...["custom_openai", "openai_like", "litellm_proxy", "hosted_vllm", "lm_studio", "xinference"]
    .map((name) => [name, { kind: "openai" }] as const),
  ["llamafile", { kind: "openai", address: "http://127.0.0.1:8080/v1" }],
  ["azure", { kind: "azure", variable: "AZURE_API_KEY" }],
  ["azure_ai", { kind: "azure_ai", variable: "AZURE_AI_API_KEY" }],
  ["bedrock", { kind: "bedrock" }],
  ["bedrock_mantle", { kind: "bedrock" }],
  ["vertex_ai", { kind: "vertex_ai" }],
  ...Object.entries(FIXED).map(([name, [address, variable]]) =>
    [name, { kind: "openai", address, variable }] as const
  ),
]);

/** Prefixes that LiteLLM knows and that cannot be served, with their reason. */
export const UNSERVED: ReadonlyMap<string, string> = new Map([
  ...[
    "ai21",
    "ai21_chat",
    "cloudflare",
    "cohere",
    "cohere_chat",
    "databricks",
    "huggingface",
    "oci",
    "predibase",
    "replicate",
    "sagemaker",
    "sagemaker_chat",
    "sap",
    "snowflake",
    "triton",
    "watsonx",
    "watsonx_text",
  ].map((name) => [name, `${name} has a protocol of its own, which is not spoken here`] as const),
  ...[
    "assemblyai",
    "aws_polly",
    "deepgram",
    "elevenlabs",
    "fal_ai",
    "nvidia_riva",
    "recraft",
    "runwayml",
    "stability",
  ]
    .map((name) =>
      [name, `${name} serves voices, images or films with a protocol of its own`] as const
    ),
  ...["infinity", "jina_ai", "voyage"]
    .map((name) => [name, `${name} serves embeddings with a protocol of its own`] as const),
  ...["chatgpt", "github_copilot"]
    .map((name) => [name, `${name} needs the login of a person`] as const),
  ["text-completion-openai", "text completions are relayed and have no named models"],
]);

/** True for a prefix that LiteLLM knows, whether it can be served or not. */
export function isPrefix(name: string): boolean {
  return PREFIXES.has(name) || UNSERVED.has(name);
}

/** Patterns of models without a prefix, and the prefix that LiteLLM infers. */
const INFERRED: readonly (readonly [pattern: RegExp, prefix: string])[] = [
  [/^gpt-3\.5-turbo-instruct/, "text-completion-openai"],
  [
    /^(?:(?:ft:)?gpt-|chatgpt-|o[1-9](?:-|$)|text-embedding-(?:3-|ada-)|dall-e|whisper|tts-)/,
    "openai",
  ],
  [/^claude-[^:]*$/, "anthropic"],
];

/** Returns the prefix that LiteLLM infers for a model without one; null if none is known here. */
export function inferredPrefix(model: string): string | null {
  return INFERRED.find(([pattern]) => pattern.test(model))?.[1] ?? null;
}
