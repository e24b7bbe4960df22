import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";

// The same key in each process of the benchmark, so that no file is needed.

/** An Ed25519 key of 32 bytes follows this head (RFC 8410, section 7). */
const KEY_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

const PRIVATE_KEY = createPrivateKey({
  key: Buffer.concat([KEY_HEAD, createHash("sha256").update("switchyard bench").digest()]),
  format: "der",
  type: "pkcs8",
});

const ISSUER = "https://issuer.bench";

/** Client key of the same gateway. */
export const STATIC_KEY = "bench-key-0123456789abcdef0123456789abcdef";

/** The section `security` with a client key, and an issuer whose keys are in `KEY_SET`. */
export const SECURITY = {
  enabled: true,
  provider: "jwt",
  api_key: { keys: [{ name: "bench", value: STATIC_KEY }] },
  jwt: {
    issuers: [{
      name: "bench",
      issuer: ISSUER,
      jwks_url: `${ISSUER}/keys`,
      audience: ["switchyard"],
      algorithms: ["EdDSA"],
      rules: [{ claim: "groups", values: ["*"], template: "bench" }],
    }],
  },
  templates: [{ name: "bench" }],
};

/** The key set of the issuer as JSON. */
export const KEY_SET = JSON.stringify({
  keys: [{ ...createPublicKey(PRIVATE_KEY).export({ format: "jwk" }), kid: "k1" }],
});

/** Returns a token of the usual size: its client is in 20 groups. */
export function signToken(): string {
  const claims = {
    iss: ISSUER,
    aud: "switchyard",
    sub: "ada",
    exp: 4_102_444_800,
    groups: Array.from({ length: 20 }, (_, at) => `00000000-0000-4000-8000-${1e11 + at}`),
  };
  const text = [{ alg: "EdDSA", kid: "k1" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${text}.${sign(null, Buffer.from(text), PRIVATE_KEY).toString("base64url")}`;
}
