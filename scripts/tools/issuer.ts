import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";

import { parseKeySet } from "../../src/access/tokens/key_set.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";

// An issuer of tokens for the benchmark and for clients: the same key in each process, so that no
// file is needed.

/** An Ed25519 key of 32 bytes follows this head (RFC 8410, section 7). */
const KEY_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

const PRIVATE_KEY = createPrivateKey({
  key: Buffer.concat([KEY_HEAD, createHash("sha256").update("switchyard issuer").digest()]),
  format: "der",
  type: "pkcs8",
});

const ISSUER = "https://issuer.test";

/** Returns a section `security` with this client key and the issuer. */
export function issuerSecurity(key: { readonly name: string; readonly value: string }) {
  return {
    enabled: true,
    provider: "jwt",
    api_key: { keys: [key] },
    jwt: {
      issuers: [{
        name: "issuer",
        issuer: ISSUER,
        jwks_url: `${ISSUER}/keys`,
        audience: ["switchyard"],
        algorithms: ["EdDSA"],
        rules: [{ claim: "groups", values: ["*"], template: "all" }],
      }],
    },
    templates: [{ name: "all" }],
  };
}

/** Gives a gateway the keys of the issuer, which it would fetch otherwise. */
export async function loadIssuerKeys(
  { generation: { tokens }, world }: Pick<Gateway, "generation" | "world">,
): Promise<void> {
  const keys = await parseKeySet(KEY_SET);
  for (const { source } of tokens?.issuers ?? []) {
    tokens?.keySets.end(source, keys.ok ? keys.keys : null, world.now());
  }
}

const KEY_SET = JSON.stringify({
  keys: [{ ...createPublicKey(PRIVATE_KEY).export({ format: "jwk" }), kid: "k1" }],
});

/** The end of tokens unless another one is given, in seconds since 1970: in the year 2100. */
const FAR_END_S = 4_102_444_800;

/** Returns a token of the usual size: its client is in 20 groups. */
export function signToken(exp = FAR_END_S): string {
  const claims = {
    iss: ISSUER,
    aud: "switchyard",
    sub: "ada",
    exp,
    groups: Array.from({ length: 20 }, (_, at) => `00000000-0000-4000-8000-${1e11 + at}`),
  };
  const text = [{ alg: "EdDSA", kid: "k1" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${text}.${sign(null, Buffer.from(text), PRIVATE_KEY).toString("base64url")}`;
}
