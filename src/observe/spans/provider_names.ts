/**
 * Well-known values of `gen_ai.provider.name` (OpenTelemetry GenAI conventions 1.45) by the end of
 * the host name of a base address, or by a part of it. An address decides nothing but this name.
 */
const NAMES_BY_HOST: readonly (readonly [RegExp, string])[] = [
  [/^api\.openai\.com$/, "openai"],
  [/^api\.anthropic\.com$/, "anthropic"],
  [/^bedrock-/, "aws.bedrock"],
  [/\.openai\.azure\.com$/, "azure.ai.openai"],
  [/\.services\.ai\.azure\.com$/, "azure.ai.inference"],
  [/^generativelanguage\.googleapis\.com$/, "gcp.gemini"],
  [/aiplatform.*\.googleapis\.com$/, "gcp.vertex_ai"],
  [/^api\.groq\.com$/, "groq"],
  [/^api\.mistral\.ai$/, "mistral_ai"],
  [/^api\.deepseek\.com$/, "deepseek"],
  [/^api\.x\.ai$/, "x_ai"],
  [/^api\.cohere\./, "cohere"],
  [/^api\.perplexity\.ai$/, "perplexity"],
  [/\.ml\.cloud\.ibm\.com$/, "ibm.watsonx.ai"],
];

/** A provider as far as its name depends on it. */
export interface NamedProvider {
  readonly id: string;
  readonly type: string;
  readonly baseUrl: string;
}

/**
 * Returns `gen_ai.provider.name` of a provider: as `telemetry.provider_names` says, else the
 * well-known name of its host, else `anthropic` for the Messages protocol, else its ID.
 */
export function providerName(
  { id, type, baseUrl }: NamedProvider,
  configured: Readonly<Record<string, string>>,
): string {
  if (Object.hasOwn(configured, id)) return configured[id] ?? id;
  const { hostname } = new URL(baseUrl);
  const known = NAMES_BY_HOST.find(([pattern]) => pattern.test(hostname));
  if (known !== undefined) return known[1];
  return type === "messages" ? "anthropic" : id;
}
