import { createHash } from "node:crypto";
import { parseKeySet } from "../../../src/access/tokens/key_set.ts";
import { type KeySets, newKeySets } from "../../../src/access/tokens/key_sets.ts";
import { newTokenClients } from "../../../src/access/tokens/token_clients.ts";
import type { Issuer, Template } from "../../../src/access/tokens/issuer.ts";
import { assert } from "../../support/assert.ts";
import { ISSUER, newSigningKey, NOW_S, type SigningKey } from "../../support/signing_key.ts";

/** The key of the issuer. */
export const KEY = await newSigningKey("k1", "EdDSA");
/** A clock whose time does not pass. */
export const CLOCK = { now: () => 0, wall: () => NOW_S * 1000 };

const TEMPLATE: Template = {
  name: "t",
  template: "t",
  adoptsUnknown: false,
  permissions: null,
  labels: new Map(),
  reported: null,
  requestsPerMinute: null,
  limits: null,
  privacy: [],
};

const CORP: Issuer = {
  name: "corp",
  url: ISSUER,
  source: "url u",
  audience: ["switchyard"],
  algorithms: new Set(["EdDSA"]),
  subject: "sub",
  labels: [],
  rules: [{ claim: "groups", patterns: [(text) => text === "staff"], template: TEMPLATE }],
};

/** Replaces the keys of the issuer by this one. */
export async function refresh(keySets: KeySets, { publicJwk }: SigningKey) {
  const parsed = await parseKeySet(JSON.stringify({ keys: [publicJwk] }));
  assert(parsed.ok);
  keySets.end("url u", parsed.keys, 0);
}

/** Clients of one issuer, none of whose tokens is verified yet. */
export async function clients() {
  const keySets = newKeySets();
  await refresh(keySets, KEY);
  const made = newTokenClients([CORP], keySets, { reported: [], knownValues: new Map() });
  return {
    made,
    check: (token: string, clock = CLOCK) =>
      made.authenticate(token, createHash("sha256").update(token).digest("base64"), clock),
  };
}
