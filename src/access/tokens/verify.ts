import { errors, jwtVerify } from "jose";
import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import type { TokenRefusalKind } from "../../observe/token_check.ts";
import { type Issuer, subjectOf, type Template, templateFor } from "./issuer.ts";
import { fitsAlgorithm, type VerifyingKey } from "./key_set.ts";
import type { KeySets } from "./key_sets.ts";

/** Maximum difference of the clocks of an issuer and this gateway. */
export const CLOCK_SKEW_S = 60;

/**
 * Maximum length of a token, and of its header. Entra writes up to 200 groups into a token, which
 * take 10,400 characters. At most 1,032 tokens are held at once, so 17 MB.
 */
export const MAX_TOKEN_CHARS = 16_384, MAX_HEADER_CHARS = 2048;

/** A token that is valid, with what its claims give. */
export interface ValidToken {
  readonly kind: "valid";
  readonly issuer: Issuer;
  readonly subject: string;
  readonly template: Template;
  readonly claims: JsonObject;
  readonly key: VerifyingKey;
  /** Claim `exp`, in seconds since 1970. */
  readonly expires: number;
}

type PlainKind = Exclude<TokenRefusalKind, "expired" | "not_yet">;

/** Why a token is refused. `issuer` is its name; null if it is not known. */
export type TokenRefusal =
  | { readonly [Kind in PlainKind]: { readonly kind: Kind; readonly issuer: string | null } }[
    PlainKind
  ]
  | MistimedToken<"expired">
  | MistimedToken<"not_yet">;

interface MistimedToken<Kind> {
  readonly kind: Kind;
  readonly issuer: string;
  /** Time at which the token ends or begins, in seconds since 1970. */
  readonly at: number;
}

/** Refusals that neither time nor new keys change. */
const LASTING: ReadonlySet<TokenRefusal["kind"]> = new Set([
  "signature",
  "audience",
  "claims",
  "expired",
  "not_permitted",
]);

/** True if the same token is refused alike as long as the keys of its issuer do not change. */
export function isLasting({ kind }: TokenRefusal): boolean {
  return LASTING.has(kind);
}

const SHAPE = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** Returns the refusal of a text without the form of a token (RFC 7515, section 7.1). */
export function refuseForm(text: string): TokenRefusal | null {
  if (text.length > MAX_TOKEN_CHARS) return { kind: "too_long", issuer: null };
  return SHAPE.test(text) ? null : { kind: "malformed", issuer: null };
}

/** A token whose issuer and key are found, before its signature is checked. */
export interface Unverified {
  readonly kind: "unverified";
  readonly issuer: Issuer;
  readonly key: VerifyingKey;
}

/**
 * Returns the issuer and the key of a token. Of the claims only `iss` is read, and of the header
 * only `alg`, `kid` and `crit`: nothing that a token contains is ever fetched.
 */
export function findKey(
  token: string,
  issuers: readonly Issuer[],
  keySets: KeySets,
  nowMs: number,
): Unverified | TokenRefusal {
  const [head = "", body = ""] = token.split(".");
  const header = head.length > MAX_HEADER_CHARS ? null : decodeObject(head);
  if (header === null) return { kind: "malformed", issuer: null };
  const { alg, kid } = header;
  if (typeof alg !== "string" || !issuers.some(({ algorithms }) => algorithms.has(alg))) {
    return { kind: "algorithm", issuer: null };
  }
  if (header.crit !== undefined || kid !== undefined && typeof kid !== "string") {
    return { kind: "malformed", issuer: null };
  }
  const iss = decodeObject(body)?.iss;
  const issuer = issuers.find(({ url }) => url === iss);
  if (issuer === undefined) return { kind: "unknown_issuer", issuer: null };
  const { name, source } = issuer;
  if (!issuer.algorithms.has(alg)) return { kind: "algorithm", issuer: name };
  const set = keySets.current(source, nowMs);
  if (set === null) {
    keySets.demand(source, nowMs);
    return { kind: "unavailable", issuer: name };
  }
  const named = kid === undefined ? set.keys : set.keys.filter((key) => key.kid === kid);
  const [key, ...others] = named.filter((one) => fitsAlgorithm(one, alg));
  if (key !== undefined && others.length === 0) return { kind: "unverified", issuer, key };
  // A key that is there, but not for this algorithm, will not fit after a refresh either.
  if (named.length > 0) return { kind: "signature", issuer: name };
  const isNew = keySets.demand(source, nowMs) === "unknown";
  return { kind: isNew ? "unknown_key" : "unavailable", issuer: name };
}

/** Verifies the signature of a token, and then its claims. `wallMs` is the current Unix time. */
export async function verifyToken(
  token: string,
  { issuer, key }: Unverified,
  wallMs: number,
): Promise<ValidToken | TokenRefusal> {
  const { name } = issuer;
  let claims: JsonObject;
  try {
    const { payload } = await jwtVerify(token, key.jwk, {
      algorithms: [...issuer.algorithms],
      issuer: issuer.url,
      audience: [...issuer.audience],
      requiredClaims: ["exp"],
      clockTolerance: CLOCK_SKEW_S,
      currentDate: new Date(wallMs),
    });
    claims = payload as JsonObject;
  } catch (error) {
    return refusalOf(error, name);
  }
  const { iat } = claims;
  if (typeof iat === "number" && iat > Math.floor(wallMs / 1000) + CLOCK_SKEW_S) {
    return { kind: "not_yet", issuer: name, at: iat };
  }
  const subject = subjectOf(issuer, claims);
  // A number such as 1e400 is read as infinite: the token would have no end.
  if (subject === null || !Number.isFinite(claims.exp)) return { kind: "claims", issuer: name };
  const template = templateFor(issuer, claims);
  if (template === null) return { kind: "not_permitted", issuer: name };
  return { kind: "valid", issuer, subject, template, claims, key, expires: Number(claims.exp) };
}

function refusalOf(error: unknown, issuer: string): TokenRefusal {
  if (error instanceof errors.JWTExpired) {
    return { kind: "expired", issuer, at: Number(error.payload.exp) };
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason, payload } = error;
    if (claim === "nbf" && reason === "check_failed") {
      return { kind: "not_yet", issuer, at: Number(payload.nbf) };
    }
    return { kind: claim === "aud" ? "audience" : "claims", issuer };
  }
  return { kind: error instanceof errors.JWTInvalid ? "claims" : "signature", issuer };
}

/** True if a token with this claim `exp` has ended at a Unix time in milliseconds. */
export function hasEnded(expires: number, wallMs: number): boolean {
  return Math.floor(wallMs / 1000) - CLOCK_SKEW_S >= expires;
}

/** Returns the JSON object in base64url; null if it is none. */
function decodeObject(part: string): JsonObject | null {
  try {
    const bytes = Uint8Array.fromBase64(part, { alphabet: "base64url" });
    const value = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
