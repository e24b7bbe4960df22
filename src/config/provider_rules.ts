import { FIELD_VALUE } from "../core/header_fields.ts";
import { RELAY_FAMILIES } from "../core/endpoint.ts";
import { type Host, hostAt, HOSTS, profileOf } from "../data/hosts.ts";
import { isObject, type JsonObject } from "../core/json/json.ts";
import { isOwnHeader, NOT_A_HEADER_VALUE, OWN_HEADER, parseNumber } from "./fields.ts";
import { completeCredential } from "./credential_rules.ts";
import { likelyHint, type Path, type Problem, problem, repeatedHeaders } from "./problems.ts";
import { PROVIDER_ID, PROVIDER_TYPES } from "./provider_schema.ts";
import type { Config, ProviderConfig, ProviderType, WrittenProvider } from "./schema.ts";
import { completeTls, NOTHING_OUTSIDE, type Outside } from "./tls_rules.ts";

/** Hosts whose type and address are known by the ID of a provider. */
const BUILT_IN: ReadonlyMap<string, Host> = new Map<string, Host>([
  ["openai", HOSTS.openai],
  ["anthropic", HOSTS.anthropic],
  ["ollama", HOSTS.ollama],
]);

/** The relayed endpoints of the provider openai with its built-in address. */
const ALL_RELAYED = [...RELAY_FAMILIES];

/** API versions of type messages whose behaviour is known. */
const KNOWN_VERSIONS: readonly unknown[] = ["2023-06-01", "2026-10-21"];

/** For each provider type, the configuration key whose value is sent in a header. */
const SENT_KEYS = { compat: "organization", messages: "api_version", local: null } as const;

/** Returns the problems between the keys of the providers. Takes the value before defaults. */
export function providerProblems(providers: unknown): Problem[] {
  if (!isObject(providers)) return [];
  const ids = Object.keys(providers);
  if (ids.length === 0) {
    return [problem(["providers"], "must contain at least one provider")];
  }
  return ids.flatMap((id) => {
    const written = providers[id];
    if (!isObject(written) || !PROVIDER_ID.test(id)) return [];
    const path = ["providers", id];
    return [
      ...typeProblems(id, written, path),
      ...headerProblems(written.headers, path),
      ...keyProblems(written, path),
    ];
  });
}

function typeProblems(id: string, written: JsonObject, path: Path): Problem[] {
  const type = typeOf(id, written);
  if (type === null) {
    if (written.type !== undefined) return [];
    const text = "is required: compat, messages or local (known for openai, anthropic and ollama)";
    return [problem([...path, "type"], text, "key")];
  }
  const problems: Problem[] = [];
  if (written.base_url === undefined && knownUrl(id, type) === null) {
    const text = `is required: no address is known for this ID with type ${type}`;
    problems.push(problem([...path, "base_url"], text, "key"));
  }
  if (type === "local" && typeof written.base_url === "string" && isOtherApi(written.base_url)) {
    const text =
      "ends in /v1, where the runtime serves the other API; remove /v1, or use type compat";
    problems.push(problem([...path, "base_url"], text));
  }
  if (written.cache_breakpoints === "auto" && type !== "messages") {
    const text = `needs type messages; the type of this provider is ${type}`;
    problems.push(problem([...path, "cache_breakpoints"], text, "key"));
  }
  return [
    ...problems,
    ...sentProblems(written, SENT_KEYS[type], path),
    ...samplingProblems(written, type, path),
  ];
}

function sentProblems(written: JsonObject, key: string | null, path: Path): Problem[] {
  const value = key === null ? undefined : written[key];
  if (key === null || typeof value !== "string" || FIELD_VALUE.test(value)) return [];
  return [problem([...path, key], NOT_A_HEADER_VALUE)];
}

/**
 * True if a URL ends in /v1: local runtimes serve Chat Completions there, and their native protocol
 * elsewhere.
 */
function isOtherApi(url: string): boolean {
  const [address = ""] = url.split("?", 1);
  return /\/v1\/*$/.test(address);
}

/**
 * Version 2026-10-21 has no sampling fields; the older one limits temperature to 1 (Messages API,
 * create).
 */
function samplingProblems(written: JsonObject, type: ProviderType, path: Path): Problem[] {
  if (type !== "messages") return [];
  if (written.api_version !== "2026-10-21") {
    const isTooHigh = Number(written.temperature) > 1;
    const text = "must be at most 1 for type messages";
    return isTooHigh ? [problem([...path, "temperature"], text)] : [];
  }
  const text = "is not supported by api_version 2026-10-21; remove one of the two";
  return ["temperature", "top_p"].filter((key) => written[key] !== undefined)
    .map((key) => problem([...path, key], text, "key"));
}

function headerProblems(headers: unknown, path: Path): Problem[] {
  if (!isObject(headers)) return [];
  const place = [...path, "headers"];
  const own = Object.keys(headers).filter(isOwnHeader)
    .map((name) => problem([...place, name], OWN_HEADER, "key"));
  return [...own, ...repeatedHeaders(headers, place)];
}

/** Returns the problems between `api_key` and `api_keys`, and between the keys of the list. */
function keyProblems(
  { api_key, api_keys: keys, key_affinity: affinity }: JsonObject,
  path: Path,
): Problem[] {
  const problems: Problem[] = [];
  if (api_key !== undefined && keys !== undefined) {
    const text = "cannot be set together with api_keys; remove one of the two";
    problems.push(problem([...path, "api_key"], text, "key"));
  }
  if (affinity === "session" && keys === undefined) {
    const text = "needs the keys of api_keys, among which it chooses";
    problems.push(problem([...path, "key_affinity"], text, "key"));
  }
  if (!Array.isArray(keys) || keys.length === 0) return problems;
  const place = [...path, "api_keys"];
  for (const member of ["name", "value"] as const) {
    const seen = new Set<unknown>();
    for (const [index, key] of keys.entries()) {
      if (!isObject(key) || typeof key[member] !== "string") continue;
      if (seen.has(key[member])) {
        const text = `is already the ${member} of an earlier key`;
        problems.push(problem([...place, index, member], text));
      }
      seen.add(key[member]);
    }
  }
  if (keys.every((key) => isObject(key) && parseNumber(key.weight) === 0)) {
    const text = "must contain at least one key with a weight above 0";
    problems.push(problem(place, text));
  }
  return problems;
}

/** Returns a warning for each valid combination of provider keys that is likely a mistake. */
export function providerWarnings({ providers }: Config): Problem[] {
  return Object.entries(providers).flatMap(([id, { type, ...settings }]): Problem[] => {
    if (type === "compat") return profileHint(id, settings);
    if (type !== "messages") return [];
    const { temperature, top_p, api_version } = settings;
    const isRefused = temperature !== undefined && top_p !== undefined;
    const text =
      "is refused together with temperature by many models of type messages; remove one of them";
    const unknown = "is not a version that the gateway knows; it is sent unchanged";
    const path = ["providers", id];
    return [
      ...isRefused ? [problem([...path, "top_p"], text, "key")] : [],
      ...KNOWN_VERSIONS.includes(api_version) ? [] : [problem([...path, "api_version"], unknown)],
    ];
  });
}

/** Returns a warning if the address is that of a host with a profile, and the file names none. */
function profileHint(
  id: string,
  { base_url, compatibility_profile }: Omit<ProviderConfig, "type">,
): Problem[] {
  const known = compatibility_profile === undefined ? hostAt("compat", base_url) : null;
  if (known?.host.profile === undefined) return [];
  const { name, host: { title, asOf } } = known;
  const text = `is an address of ${title}, whose protocol differs from that of the OpenAI API ` +
    `(as of ${asOf}); compatibility_profile: ${name} bridges the differences`;
  return [problem(["providers", id, "base_url"], text)];
}

/** Returns the type of a provider, from its settings or its ID; null if neither determines it. */
export function typeOf(id: string, written: { readonly type?: unknown }): ProviderType | null {
  if (written.type === undefined) return BUILT_IN.get(id)?.type ?? null;
  return PROVIDER_TYPES.find((type) => type === written.type) ?? null;
}

function knownUrl(id: string, type: ProviderType): string | null {
  const known = BUILT_IN.get(id);
  if (known?.type === type) return known.baseUrl;
  return type === "messages" ? HOSTS.anthropic.baseUrl : null;
}

/**
 * Returns a provider with the defaults of its ID, type and profile; null if its type or address is
 * unknown.
 */
export function completeProvider(
  id: string,
  written: WrittenProvider,
  outside: Outside = NOTHING_OUTSIDE,
): ProviderConfig | null {
  const { api_key, api_keys, organization, api_version = "", ...others } = written;
  const { tls, credential, capabilities, ...rest } = others;
  const type = typeOf(id, written);
  const base_url = type === null ? undefined : written.base_url ?? knownUrl(id, type);
  if (type === null || typeof base_url !== "string") return null;
  const loneKey = api_key || credential !== undefined
    ? [{ name: "default", value: api_key, credential, weight: 1 }]
    : [];
  const isHosted = id === "openai" && base_url === knownUrl(id, "compat");
  return {
    ...rest,
    type,
    base_url,
    capabilities: { ...capabilities, relay: capabilities.relay ?? (isHosted ? ALL_RELAYED : []) },
    api_keys: (api_keys ?? loneKey).map(({ value = "", credential, ...key }) => ({
      ...key,
      value,
      ...credential !== undefined && { credential: completeCredential(credential, outside) },
    })),
    ...(tls === undefined ? {} : { tls: completeTls(tls, outside) }),
    ...(organization ? { organization } : {}),
    ...(type === "messages"
      ? { api_version: api_version.trim() === "" ? "2023-06-01" : api_version }
      : {}),
    normalize_developer_role: written.normalize_developer_role ??
      profileOf(written.compatibility_profile).hasDeveloperRole === false,
  };
}

/** Returns a warning for each price whose provider is not configured. */
export function pricingWarnings({ pricing, providers }: Config): Problem[] {
  const ids = Object.keys(providers);
  return Object.keys(pricing).flatMap((key): Problem[] => {
    const id = key.slice(0, key.indexOf("/"));
    if (Object.hasOwn(providers, id)) return [];
    const text = `is the price of a provider that is not configured${likelyHint(id, ids)}`;
    return [problem(["pricing", key], text, "key")];
  });
}
