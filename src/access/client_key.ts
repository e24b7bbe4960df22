import type { CalendarPeriod } from "../core/calendar.ts";
import { keyLabelField } from "../observe/instruments.ts";
import type { MeasuredClient } from "../observe/report.ts";
import type { EndpointName } from "../core/endpoint.ts";
import type { RecordChoice } from "../core/record_choice.ts";

/** A client key with its settings. */
export interface ClientKey {
  readonly name: string;
  /**
   * Identity for the limits and the stored objects of the client, distinct from the names of other
   * kinds of callers.
   */
  readonly caller: string;
  /** The secret of the key, and those that it has replaced. */
  readonly secrets: readonly ClientSecret[];
  readonly isDisabled: boolean;
  /** True if the key may use objects at providers whose creator is not known. */
  readonly adoptsUnknown: boolean;
  /** Unix time in milliseconds from which the key is refused; null if it does not expire. */
  readonly expiresMs: number | null;
  /** Models, providers and endpoints that the key may use; null if it may use all. */
  readonly permissions: Permissions | null;
  /** Names of the privacy policies of the key, its template and its groups. */
  readonly privacy: readonly string[];
  /** Labels by name, which routes match. */
  readonly labels: ReadonlyMap<string, string>;
  /** Fields of log lines and labels of metrics, as in `key_team`; null for none. */
  readonly reported: ReportedLabels;
  /**
   * Labels of metrics in place of the name and the labels, for a client that the configuration does
   * not name; null for a configured key.
   */
  readonly measured: MeasuredClient | null;
  /** Name of the template. */
  readonly template: string | null;
  /** Name of the issuer of the token; null for a configured key. */
  readonly issuer: string | null;
  /** Rate limit of this key; null for the default rate limit. */
  readonly requestsPerMinute: number | null;
  /** Further limits of the key and its groups; null if none has any. */
  readonly limits: KeyLimits | null;
  /** End users that the key names; null if it names none. */
  readonly endUsers: EndUsers | null;
  /** Extent of the records of the key's calls; absent if neither it nor a group says. */
  readonly record?: KeyRecording;
}

/** Extent of the records of a key's calls, as the key and its groups say. */
export interface KeyRecording {
  readonly key: RecordChoice;
  readonly groups: RecordChoice;
}

/** End users behind a client key. */
export interface EndUsers {
  /** Lower-case name of the request header that names the end user. */
  readonly header: string;
  readonly isRequired: boolean;
  /** Maximum number of end users whose limits are counted. */
  readonly max: number;
  /** Limits of each end user; null for none. */
  readonly limits: UserLimits | null;
}

/** Limits of an end user. */
export interface UserLimits extends ScopeLimits {
  /** Rate of requests; null for no limit. */
  readonly requestsPerMinute: number | null;
}

/** Fields of log lines and labels of metrics, as in `key_team`; null for none. */
export type ReportedLabels = Readonly<Record<string, string>> | null;

/**
 * Returns the labels with these names, each with the prefix that no other field has; null for none.
 */
export function reportedLabels(
  labels: Iterable<readonly [name: string, value: string]>,
  names: readonly string[],
): ReportedLabels {
  const reported = [...labels].filter(([name]) => names.includes(name))
    .map(([name, value]) => [keyLabelField(name), value] as const);
  return reported.length === 0 ? null : Object.fromEntries(reported);
}

/** A secret of a client key. */
export interface ClientSecret {
  /** SHA-256 digest of the secret. */
  readonly digest: Uint8Array;
  /**
   * End of a replaced secret: a date, and its Unix time in milliseconds; null for the current one.
   */
  readonly until: { readonly date: string; readonly ms: number } | null;
}

/** True if the key has expired at this Unix time in milliseconds. */
export function isExpired({ expiresMs }: Pick<ClientKey, "expiresMs">, wallMs: number): boolean {
  return expiresMs !== null && wallMs >= expiresMs;
}

/** True if the key is refused at this Unix time in milliseconds: it is disabled or has expired. */
export function isLapsed(
  key: Pick<ClientKey, "isDisabled" | "expiresMs">,
  wallMs: number,
): boolean {
  return key.isDisabled || isExpired(key, wallMs);
}

/** Permissions of a client key; null permits everything. */
export interface Permissions {
  /** Patterns of a model, or of its provider and model as in `openai/gpt-4o`; one must match. */
  readonly models: readonly ModelPattern[] | null;
  /** IDs of providers. */
  readonly providers: ReadonlySet<string> | null;
  readonly endpoints: ReadonlySet<EndpointName> | null;
}

/** Limits of a client key or of a group of keys besides the rate of requests. */
export interface ScopeLimits {
  /** Tokens of models per minute; null for no limit. */
  readonly tokensPerMinute: number | null;
  /** Maximum number of concurrent calls; null for no limit, and always null for a group. */
  readonly maxConcurrent: number | null;
  /** At most one budget for each period. */
  readonly budgets: readonly Budget[];
}

/** Limits of a client key, and those that hold for it together with other keys. */
export interface KeyLimits extends ScopeLimits {
  /** Groups of the key that have limits, in the order of the configuration file. */
  readonly groups: readonly ClientGroup[];
}

/** A group of client keys whose limits hold for all of them together. */
export interface ClientGroup {
  readonly name: string;
  /** For an end user of a key, whose limits are counted as those of a group: its rate. */
  readonly user?: { readonly requestsPerMinute: number | null };
  /** Identity for the limits, distinct from those of keys. */
  readonly caller: string;
  readonly limits: ScopeLimits;
}

/**
 * Maximum of what may be used within each calendar window of a period; one of both limits is set.
 */
export interface Budget {
  readonly per: CalendarPeriod;
  /** Maximum cost in nano-dollars, a whole number; null for no limit. */
  readonly nanoUsd: number | null;
  /** Maximum number of tokens; null for no limit. */
  readonly tokens: number | null;
}

/** Returns an amount in US dollars as a whole number of nano-dollars. */
export function nanoUsd(usd: number): number {
  return Math.round(usd * 1e9);
}

/** Returns an amount of nano-dollars in US dollars. */
export function usdOf(nanoUsd: number): number {
  return nanoUsd / 1e9;
}

/** Returns an amount of nano-dollars in whole US cents, rounded down. */
export function centsOf(nanoUsd: number): number {
  // In one division, because 12.34 * 100 is less than 1234.
  return Math.floor(nanoUsd / 1e7);
}

/** True if the pattern matches a model. */
export type ModelPattern = (model: string) => boolean;
