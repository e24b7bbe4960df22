import { createPublicKey } from "node:crypto";
import { importJWK } from "jose";
import { isObject, parseJson } from "../../core/json/json.ts";

/** Maximum size of a key set, and of its list of keys. */
export const MAX_KEY_SET_BYTES = 256 * 1024, MAX_KEYS = 100;

/** Signature algorithms of tokens, each with the keys that fit it. */
const ALGORITHMS = {
  RS256: "RSA",
  RS384: "RSA",
  RS512: "RSA",
  PS256: "RSA",
  PS384: "RSA",
  PS512: "RSA",
  ES256: "P-256",
  ES384: "P-384",
  EdDSA: "Ed25519",
} as const;

/** Bounds of the length of an RSA modulus: a shorter one is weak, a longer one never verifies. */
const MIN_MODULUS_BYTES = 2048 / 8, MAX_MODULUS_BYTES = 4096 / 8;

/** A public key of an issuer. */
export interface VerifyingKey {
  /** Text that differs for each key. */
  readonly id: string;
  /** Name of the key in tokens; null if it has none. */
  readonly kid: string | null;
  /** `RSA`, or the curve. */
  readonly family: string;
  /** The only algorithm of the key; null for all that fit it. */
  readonly algorithm: string | null;
  readonly jwk: Readonly<Record<string, string>>;
}

/** The usable keys of a set, or the reason why it has none. */
export type ParsedKeySet =
  | {
    readonly ok: true;
    readonly keys: readonly VerifyingKey[];
    /** True if keys or members that do not belong into a public set were dropped. */
    readonly hasSecrets: boolean;
  }
  | { readonly ok: false; readonly problem: string };

/** True if the key may verify signatures of this algorithm. */
export function fitsAlgorithm({ family, algorithm }: VerifyingKey, name: string): boolean {
  if (!Object.hasOwn(ALGORITHMS, name)) return false;
  return ALGORITHMS[name as keyof typeof ALGORITHMS] === family &&
    (algorithm === null || algorithm === name);
}

/**
 * Returns the keys of a JSON Web Key Set (RFC 7517) that can verify signatures: RSA, P-256, P-384
 * and Ed25519. Symmetric keys are dropped, and so are keys that share their name.
 */
export async function parseKeySet(text: string): Promise<ParsedKeySet> {
  const set = parseJson(text);
  if (!isObject(set) || !Array.isArray(set.keys)) {
    return { ok: false, problem: "is no JSON Web Key Set" };
  }
  if (set.keys.length > MAX_KEYS) {
    return { ok: false, problem: `has more than ${MAX_KEYS} keys` };
  }
  const written = set.keys.filter(isObject);
  const hasSecrets = written.some((key) => key.kty === "oct" || key.d !== undefined);
  const found = await Promise.all(written.map(parseKey));
  const usable = found.filter((key) => key !== null);
  const names = Map.groupBy(usable, ({ kid }) => kid);
  const keys = usable.filter(({ kid }) => kid === null || names.get(kid)?.length === 1);
  return keys.length === 0
    ? { ok: false, problem: "has no usable key" }
    : { ok: true, keys, hasSecrets };
}

type Written = Readonly<Record<string, unknown>>;

async function parseKey(written: Written): Promise<VerifyingKey | null> {
  const { kid, alg, use, key_ops: operations = ["verify"] } = written;
  if (use !== undefined && use !== "sig") return null;
  // RFC 7517, section 4.3: a key for other operations was not published to verify signatures.
  if (!Array.isArray(operations) || !operations.includes("verify")) return null;
  if (alg !== undefined && typeof alg !== "string") return null;
  const family = written.kty === "RSA" ? "RSA" : written.crv;
  const fitting = Object.entries(ALGORITHMS).find(([name, needed]) =>
    needed === family && (alg === undefined || alg === name)
  );
  const jwk = publicMembers(written);
  if (fitting === undefined || jwk === null) return null;
  try {
    // A key that cannot be imported would fail for each token. The runtime looks at the point of a
    // curve and at an exponent only when it verifies, except for this form of a key.
    await importJWK(jwk, fitting[0]);
    createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    return null;
  }
  const name = typeof kid === "string" ? kid : null;
  return {
    id: JSON.stringify([name, alg, jwk]),
    kid: name,
    family: String(family),
    algorithm: alg ?? null,
    jwk,
  };
}

/** Returns the public members of a key by its type; null if one is missing or unsafe. */
function publicMembers({ kty, crv, n, e, x, y }: Written): VerifyingKey["jwk"] | null {
  if (kty === "RSA" && typeof n === "string" && typeof e === "string") {
    return isSafeModulus(n) ? { kty, n, e } : null;
  }
  if (typeof crv !== "string" || typeof x !== "string") return null;
  if (kty === "OKP") return { kty, crv, x };
  return kty === "EC" && typeof y === "string" ? { kty, crv, x, y } : null;
}

function isSafeModulus(n: string): boolean {
  try {
    const bytes = Uint8Array.fromBase64(n, { alphabet: "base64url" });
    const length = bytes.length - bytes.findIndex((byte) => byte !== 0);
    return length >= MIN_MODULUS_BYTES && length <= MAX_MODULUS_BYTES;
  } catch {
    return false;
  }
}
