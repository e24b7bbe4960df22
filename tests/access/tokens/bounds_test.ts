import { createHash, KeyObject, sign } from "node:crypto";
import { writeHeapSnapshot } from "node:v8";
import { Buffer } from "node:buffer";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { parseKeySet } from "../../../src/access/tokens/key_set.ts";
import { type KeySets, newKeySets } from "../../../src/access/tokens/key_sets.ts";
import { newTokenClients } from "../../../src/access/tokens/token_clients.ts";
import type { Issuer, Template } from "../../../src/access/tokens/issuer.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { ISSUER, newSigningKey, NOW_S, type SigningKey } from "../../support/token_issuer.ts";

const KEY = await newSigningKey("k1", "EdDSA");
const PRIVATE_KEY = KeyObject.from(KEY.privateKey);
const CLOCK = { now: () => 0, wall: () => NOW_S * 1000 };

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

async function refresh(keySets: KeySets, { publicJwk }: SigningKey) {
  const parsed = await parseKeySet(JSON.stringify({ keys: [publicJwk] }));
  assert(parsed.ok);
  keySets.end("url u", parsed.keys, 0);
}

async function clients() {
  const keySets = newKeySets();
  await refresh(keySets, KEY);
  const made = newTokenClients([CORP], keySets, { reported: [], knownValues: new Map() });
  return {
    made,
    check: (token: string, clock = CLOCK) =>
      made.authenticate(token, createHash("sha256").update(token).digest("base64"), clock),
  };
}

Deno.test("a token that is refused by a key of before a refresh is verified again by the keys after it", async () => {
  const { made, check } = await clients();
  const next = await newSigningKey("k1", "EdDSA");
  const token = await next.sign();
  // Verifications that wait for their turn still have the keys of before.
  const others = await Promise.all(
    Array.from({ length: 200 }, (_, at) => KEY.sign({ jti: String(at) })),
  );
  const waiting = [...others.map((other) => check(other)), check(token)];
  await refresh(made.keySets, next);
  assertEquals((await Promise.all(waiting)).at(-1)?.kind, "signature");
  assertEquals((await check(token)).kind, "client");
});

Deno.test("a token that had ended by a clock set forward is accepted once the clock is set back", async () => {
  const { check } = await clients();
  const forward = { ...CLOCK, wall: () => (NOW_S + 7_200) * 1000 };
  const [fresh, known] = [await KEY.sign(), await KEY.sign({ jti: "known" })];
  assertEquals((await check(known)).kind, "client");
  for (const token of [fresh, known]) {
    assertEquals((await check(token, forward)).kind, "expired");
    assertEquals((await check(token)).kind, "client");
  }
});

/**
 * Returns a token as `KEY.sign` does. The library takes longer to sign one than the gateway to
 * verify it, and this test has many.
 */
function signed(claims: JsonObject): string {
  const [head, payload] = [{ alg: "EdDSA", kid: "k1" }, {
    iss: ISSUER,
    aud: "switchyard",
    sub: "ada",
    exp: NOW_S + 3_600,
    groups: ["staff"],
    ...claims,
  }].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  const text = `${head}.${payload}`;
  return `${text}.${sign(null, Buffer.from(text), PRIVATE_KEY).toString("base64url")}`;
}

Deno.test("at most 10,000 verified and 1,000 refused tokens are remembered", async () => {
  const { made, check } = await clients();
  for (let at = 0; at < 10_010; at++) {
    const result = await check(signed({ jti: String(at) }));
    assertEquals(result.kind, "client");
  }
  assertEquals(made.size, { verified: 10_000, refused: 0 });
  for (let at = 0; at < 1_010; at++) {
    const result = await check(signed({ jti: String(at), aud: "other" }));
    assertEquals(result.kind, "audience");
  }
  assertEquals(made.size, { verified: 10_000, refused: 1_000 });
});

Deno.test("a token of 16384 characters is decoded, and a longer one or one with a header above 2048 is not", async () => {
  const { check } = await clients();
  const padded = (length: number) => KEY.sign({ pad: "x".repeat(length) });
  const bare = (await padded(0)).length;
  const pad = Math.floor((16_384 - bare) * 3 / 4);
  let longest = await padded(pad);
  for (let more = 1; longest.length < 16_384; more++) {
    const next = await padded(pad + more);
    if (next.length > 16_384) break;
    longest = next;
  }
  assert(longest.length > 16_380, String(longest.length));
  assertEquals((await check(longest)).kind, "client");
  assertEquals((await check(await padded(pad + 8))).kind, "too_long");
  assertEquals((await check(await KEY.sign({}, { pad: "x".repeat(1_400) }))).kind, "client");
  assertEquals((await check(await KEY.sign({}, { pad: "x".repeat(1_600) }))).kind, "malformed");
});

Deno.test("more than 32 tokens wait for their verification in order, and beyond 1,000 one is refused", async () => {
  const { check } = await clients();
  const tokens = [];
  for (let at = 0; at < 1_040; at++) tokens.push(await KEY.sign({ jti: String(at) }));
  const results = await Promise.all(tokens.map((token) => check(token)));
  const kinds = results.map(({ kind }) => kind);
  assertEquals(kinds.filter((kind) => kind === "client").length, 1_032);
  assertEquals(new Set(kinds.slice(1_032)), new Set(["busy"]));
});

/** Ends of tokens that were authenticated, backwards, so that no text of a token stays here. */
async function authenticated(check: Awaited<ReturnType<typeof clients>>["check"]) {
  const tokens = [await KEY.sign({ jti: "1" }), await KEY.sign({ aud: "other" })];
  for (const token of tokens) await check(token);
  return tokens.map((token) => [...token.slice(-80)].toReversed().join(""));
}

Deno.test("no text of a verified or refused token stays in the memory of the process", async () => {
  const { made, check } = await clients();
  const backwards = await authenticated(check);
  // The runtime holds the last text that a regular expression has matched.
  /other/.test("other text");
  const path = await Deno.makeTempFile({ suffix: ".heapsnapshot" });
  writeHeapSnapshot(path);
  const heap = await Deno.readTextFile(path);
  await Deno.remove(path);
  assertEquals(made.size, { verified: 1, refused: 1 });
  for (const text of backwards) {
    assert(heap.includes(text), "the snapshot has the texts of this process");
    assert(!heap.includes([...text].toReversed().join("")));
  }
});
