import { parseKeySet } from "../../../src/access/tokens/key_set.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { newSigningKey } from "../../support/token_issuer.ts";

const KEY = await newSigningKey("k1");

/** The keys of a set of one key with this text as a member. */
async function withMember(name: string, text: string) {
  const { [name as "kid"]: _, ...rest } = KEY.publicJwk;
  return await parseKeySet(`{"keys":[${JSON.stringify(rest).slice(0, -1)},"${name}":${text}}]}`);
}

Deno.test("a member of a key that is no text, however deep, is no name and no value of it", async () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  for (const text of [deep, "7", "null", "{}"]) {
    const unnamed = await withMember("kid", text);
    assert(unnamed.ok);
    assertEquals(unnamed.keys.map(({ kid }) => kid), [null]);
    assert(unnamed.keys.every(({ id }) => id.length < 1_000));
    for (const name of ["x", "crv", "kty"]) {
      const problem = { ok: false, problem: "has no usable key" } as const;
      assertEquals<unknown>(await withMember(name, text), problem, `${name} ${text.slice(0, 9)}`);
    }
  }
});

Deno.test("a key whose use or operations are not those of a signature verifies none", async () => {
  const verifying = [["use", '"sig"'], ["key_ops", '["verify"]'], ["key_ops", '["sign","verify"]']];
  for (const [name = "", text = ""] of verifying) assert((await withMember(name, text)).ok, text);
  const others = [
    ["use", '"enc"'],
    ...["[]", '["encrypt"]', '["sign"]', '"verify"', "null"].map(
      (text) => ["key_ops", text],
    ),
  ];
  for (const [name = "", text = ""] of others) assert(!(await withMember(name, text)).ok, text);
});

Deno.test("a key that can verify no signature, such as a point that is not on its curve, is not usable", async () => {
  const [p384, ed25519, rsa] = await Promise.all(
    ["ES384", "EdDSA", "RS256"].map(async (alg) => (await newSigningKey("k1", alg)).publicJwk),
  );
  const good = [KEY.publicJwk, p384, ed25519, rsa, { ...rsa, e: "Aw" }, {
    ...rsa,
    n: `AAAA${rsa?.n}`,
  }];
  for (const key of good) assert((await parseKeySet(JSON.stringify({ keys: [key] }))).ok);
  const broken = [
    { ...KEY.publicJwk, y: KEY.publicJwk.x },
    { ...KEY.publicJwk, x: "AA", y: "AA" },
    { ...p384, y: p384?.x },
    { ...ed25519, x: "AA" },
    { ...rsa, e: "" },
    { ...rsa, e: "AQ" },
  ];
  for (const key of broken) {
    const problem = { ok: false, problem: "has no usable key" } as const;
    assertEquals<unknown>(await parseKeySet(JSON.stringify({ keys: [key] })), problem);
  }
});
