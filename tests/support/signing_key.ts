import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from "jose";
import type { JsonObject } from "../../src/core/json/json.ts";

/** The claim `iss` of the tokens, and the address of the keys. */
export const ISSUER = "https://login.example.com/t1", KEYS_URL = "https://login.example.com/keys";

/** When the scripted world begins, in seconds since 1970. */
export const NOW_S = 1_700_000_000;

/** A key pair of an issuer, which signs tokens. */
export interface SigningKey {
  readonly alg: string;
  readonly publicJwk: JWK;
  readonly privateKey: CryptoKey;
  /** A token that is valid for an hour, with other `claims` and another `header`. */
  sign(claims?: JWTPayload, header?: JsonObject): Promise<string>;
}

/** A new key pair with this name. */
export async function newSigningKey(kid: string, alg = "ES256"): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return signingKey(kid, alg, await exportJWK(publicKey), privateKey as CryptoKey);
}

/** The same pair of an RSA key for another of its algorithms: to generate one takes long. */
export async function sameKeyFor(alg: string, key: SigningKey): Promise<SigningKey> {
  const { kid = "", ...publicJwk } = key.publicJwk;
  const imported = await importJWK(await exportJWK(key.privateKey), alg);
  return signingKey(kid, alg, publicJwk, imported as CryptoKey);
}

function signingKey(kid: string, alg: string, jwk: JWK, privateKey: CryptoKey): SigningKey {
  return {
    alg,
    publicJwk: { ...jwk, kid, alg, use: "sig" },
    privateKey,
    sign: (claims = {}, header = {}) =>
      new SignJWT({
        iss: ISSUER,
        aud: "switchyard",
        sub: "ada",
        exp: NOW_S + 3_600,
        groups: ["staff", "ai-users"],
        ...claims,
      }).setProtectedHeader({ alg, kid, ...header }).sign(privateKey),
  };
}
