import { isObject, type JsonObject } from "../core/json.ts";
import type { Path, Problem } from "./problems.ts";
import { PROVIDER_ID, PROVIDER_TYPES } from "./provider_schema.ts";
import type { Config, ProviderConfig, ProviderType, WrittenProvider } from "./schema.ts";

const BUILT_IN: ReadonlyMap<string, { readonly type: ProviderType; readonly url: string }> =
  new Map([
    ["openai", { type: "compat", url: "https://api.openai.com/v1" }],
    ["anthropic", { type: "messages", url: "https://api.anthropic.com" }],
    ["ollama", { type: "local", url: "http://127.0.0.1:11434" }],
  ]);

const MESSAGES_URL = "https://api.anthropic.com";

/** Keys that mean nothing to the other types. */
const ONLY: readonly (readonly [key: string, type: ProviderType])[] = [
  ["top_k", "local"],
  ["organization", "compat"],
  ["api_version", "messages"],
  ["compatibility_profile", "compat"],
  ["normalize_developer_role", "compat"],
];

/** Capabilities that only upstreams of type compat have. */
export const ONLY_COMPAT: readonly string[] = [
  "chat_completions_lifecycle",
  "responses_lifecycle",
  "conversations",
  "background_responses",
  "response_cancellation",
  "response_compaction",
  "response_input_tokens",
  "hosted_tools",
];

/** Headers that belong to the connection, to the framing of the request or to the coding of its answer. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What is wrong between the keys of the providers, in the file as it is written. */
export function providerProblems(providers: unknown): Problem[] {
  if (!isObject(providers)) return [];
  const ids = Object.keys(providers);
  if (ids.length === 0) {
    return [{ path: ["providers"], text: "must hold at least one provider", at: "value" }];
  }
  return ids.flatMap((id) => {
    const written = providers[id];
    if (!isObject(written) || !PROVIDER_ID.test(id)) return [];
    const path = ["providers", id];
    return [
      ...typeProblems(id, written, path),
      ...headerProblems(written.headers, path),
      ...modelProblems(written.models, path),
    ];
  });
}

function typeProblems(id: string, written: JsonObject, path: Path): Problem[] {
  const type = typeOf(id, written);
  if (type === null) {
    if (written.type !== undefined) return [];
    const text = "is required: compat, messages or local (known for openai, anthropic and ollama)";
    return [{ path: [...path, "type"], text, at: "key" }];
  }
  const problems: Problem[] = [];
  for (const [key, only] of ONLY) {
    if (written[key] === undefined || only === type) continue;
    const text = `means nothing to type ${type}, only to type ${only}; take it out`;
    problems.push({ path: [...path, key], text, at: "key" });
  }
  problems.push(...capabilityProblems(written.capabilities, type, path));
  if (written.base_url === undefined && knownUrl(id, type) === null) {
    const text = `is required: no address is known for this ID with type ${type}`;
    problems.push({ path: [...path, "base_url"], text, at: "key" });
  }
  if (type === "local" && typeof written.base_url === "string" && isOtherApi(written.base_url)) {
    const text =
      "ends in /v1, where the runtime speaks the other API; take /v1 away, or use type compat";
    problems.push({ path: [...path, "base_url"], text, at: "value" });
  }
  return [
    ...problems,
    ...samplingProblems(written, type, path),
    ...extraProblems(written, type, path),
  ];
}

function capabilityProblems(written: unknown, type: ProviderType, path: Path): Problem[] {
  if (type === "compat" || !isObject(written)) return [];
  return ONLY_COMPAT.filter((key) => asksFor(written[key])).map((key) => {
    const text = `means nothing to type ${type}, only to type compat; take it out`;
    return { path: [...path, "capabilities", key], text, at: "key" };
  });
}

function asksFor(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value === true || value === "true";
}

/** Local runtimes speak Chat Completions below /v1, and their own protocol elsewhere. */
function isOtherApi(url: string): boolean {
  return /\/v1\/*$/.test(url);
}

/** Sampling fields are gone in the newer version, and narrower in the older (Messages API, create). */
function samplingProblems(written: JsonObject, type: ProviderType, path: Path): Problem[] {
  if (written.api_version !== "2026-10-21") {
    const isTooHigh = type === "messages" && Number(written.temperature) > 1;
    const text = "must be at most 1 for type messages";
    return isTooHigh ? [{ path: [...path, "temperature"], text, at: "value" }] : [];
  }
  const text = "is not taken by api_version 2026-10-21; take one of the two out";
  return ["temperature", "top_p"].filter((key) => written[key] !== undefined)
    .map((key) => ({ path: [...path, key], text, at: "key" }));
}

function extraProblems(written: JsonObject, type: ProviderType, path: Path): Problem[] {
  if (type === "local" || !isObject(written.extra)) return [];
  return Object.entries(written.extra).flatMap(([key, value]): Problem[] => {
    const place = [...path, "extra", key];
    if (type === "compat" || key !== "max_tokens") {
      const known = type === "compat" ? "none is" : "only max_tokens is";
      return [{ path: place, text: `is not known to type ${type}; ${known}`, at: "key" }];
    }
    if (/^0*[1-9]\d{0,9}$/.test(String(value))) return [];
    return [{ path: place, text: "must be a whole number of at least 1", at: "value" }];
  });
}

function headerProblems(headers: unknown, path: Path): Problem[] {
  if (!isObject(headers)) return [];
  const seen = new Set<string>();
  const problems: Problem[] = [];
  for (const key of Object.keys(headers)) {
    const name = key.toLowerCase();
    const place = [...path, "headers", key];
    if (OWN_HEADERS.has(name)) {
      problems.push({ path: place, text: "is set by the gateway itself", at: "key" });
    } else if (seen.has(name)) {
      problems.push({ path: place, text: "is given twice; upper case does not count", at: "key" });
    }
    seen.add(name);
  }
  return problems;
}

function modelProblems(models: unknown, path: Path): Problem[] {
  if (!isObject(models)) return [];
  const place = [...path, "models"];
  const problems: Problem[] = [];
  if (models.mode === "static") {
    const isMissing = models.static === undefined ||
      (Array.isArray(models.static) && models.static.length === 0);
    const text = "must list at least one model in mode static";
    if (isMissing) problems.push({ path: [...place, "static"], text, at: "value" });
  } else if (models.static !== undefined) {
    problems.push({ path: [...place, "static"], text: "is for mode static only", at: "key" });
  }
  if (models.fetch !== undefined && models.mode !== "fetch") {
    problems.push({ path: [...place, "fetch"], text: "is for mode fetch only", at: "key" });
  }
  return problems;
}

/** What is allowed between the keys of the providers, and likely not meant. */
export function providerWarnings({ providers }: Config): Problem[] {
  return Object.entries(providers).flatMap(([id, { type, temperature, top_p }]): Problem[] => {
    if (type !== "messages" || temperature === undefined || top_p === undefined) return [];
    const text = "is refused beside temperature by many models of type messages; keep one of them";
    return [{ path: ["providers", id, "top_p"], text, at: "key" }];
  });
}

/** The type of a provider, written or known by its ID; null while it is open. */
export function typeOf(id: string, written: { readonly type?: unknown }): ProviderType | null {
  if (written.type === undefined) return BUILT_IN.get(id)?.type ?? null;
  return PROVIDER_TYPES.find((type) => type === written.type) ?? null;
}

function knownUrl(id: string, type: ProviderType): string | null {
  const known = BUILT_IN.get(id);
  if (known?.type === type) return known.url;
  return type === "messages" ? MESSAGES_URL : null;
}

/** A provider with everything that its ID, type and profile decide; null while its type or address is open. */
export function completeProvider(id: string, written: WrittenProvider): ProviderConfig | null {
  const { api_key, organization, ...rest } = written;
  const type = typeOf(id, written);
  const base_url = type === null ? undefined : written.base_url ?? knownUrl(id, type);
  if (type === null || typeof base_url !== "string") return null;
  return {
    ...rest,
    type,
    base_url,
    ...(api_key ? { api_key } : {}),
    ...(organization ? { organization } : {}),
    ...(type === "messages" ? { api_version: written.api_version ?? "2023-06-01" } : {}),
    normalize_developer_role: written.normalize_developer_role ??
      written.compatibility_profile === "deepseek",
  };
}
