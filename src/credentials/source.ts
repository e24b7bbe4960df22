import type { CredentialConfig } from "../config/schema.ts";
import type { Cancellation } from "../core/cancellation.ts";
import type { IssuedCredential } from "../core/credential.ts";
import type { World } from "../core/world.ts";

/** A credential from its source, or the reason why there is none: a text without secrets. */
export type Fetched =
  | { readonly ok: true; readonly issued: IssuedCredential }
  | { readonly ok: false; readonly reason: string };

/** The place from which a credential comes. */
export interface CredentialSource {
  /** Milliseconds between two looks, for a source that changes by itself; null for others. */
  readonly everyMs: number | null;
  /** Fetches the credential. Never rejects. */
  fetch(cancellation: Cancellation): Promise<Fetched>;
}

/** Dependencies of a source. */
export interface SourceDeps {
  readonly world: Pick<World, "send" | "wall" | "after">;
  /** Returns an environment variable; undefined without one. */
  variable(name: string): string | undefined;
}

/** Returns the source of a credential. */
export type NewSource = (settings: CredentialConfig, deps: SourceDeps) => CredentialSource;

/** Returns a failed fetch with its reason. */
export function noCredential(reason: string): Extract<Fetched, { readonly ok: false }> {
  return { ok: false, reason };
}

/** Longest time that a token endpoint is believed: no cloud issues tokens for longer. */
const MAX_LIFETIME_MS = 24 * 60 * 60 * 1_000;

/** A credential with less time is refused: it could not be replaced before it is unusable. */
const MIN_LIFETIME_MS = 20_000;

/** Returns a token that a request can carry and that is valid for some time, or the reason. */
export function issuedToken(token: unknown, endsMs: unknown, wallMs: number): Fetched {
  if (!isToken(token)) return noCredential("the token is missing or is not one line of ASCII text");
  const ends = boundedEnd(endsMs, wallMs);
  if (typeof ends === "string") return noCredential(ends);
  return { ok: true, issued: { secret: { kind: "token", token }, expiresMs: ends } };
}

/** Longest token: a header with a longer one is refused by most servers. */
const MAX_TOKEN_CHARS = 16 * 1024;

/** True for a text that a header can carry. */
export function isToken(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_TOKEN_CHARS &&
    /^[\x21-\x7e]+$/.test(value);
}

/** Returns the Unix time in milliseconds of an end, at most in a day, or why it is refused. */
export function boundedEnd(endsMs: unknown, wallMs: number): number | string {
  if (typeof endsMs !== "number" || !Number.isFinite(endsMs)) {
    return "the time of its end is missing or is not a time";
  }
  if (endsMs - wallMs < MIN_LIFETIME_MS) return "it has ended already";
  return Math.min(endsMs, wallMs + MAX_LIFETIME_MS);
}

/** Returns the Unix time in milliseconds after these seconds, a number or digits; else NaN. */
export function endAfter(seconds: unknown, wallMs: number): number {
  const isNumber = typeof seconds === "number" ||
    (typeof seconds === "string" && /^\d{1,10}$/.test(seconds));
  return isNumber ? wallMs + Number(seconds) * 1_000 : NaN;
}

/** Returns the Unix time in milliseconds of a date with time (RFC 3339); NaN for other values. */
export function parseDate(value: unknown): number {
  const isDate = typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value);
  return isDate ? Date.parse(value) : NaN;
}
