import { assertEquals } from "../../support/assert.ts";
import { valuesOf } from "../rules.ts";

const PEM = "find: [private_key], action: mask";
const LINES = ["-----BEGIN RSA PRIVATE KEY-----", "MIIEow==", "-----END RSA PRIVATE KEY-----"];

Deno.test("a private key is found with line ends and with escapes in their place", () => {
  for (const key of [LINES.join("\n"), LINES.join("\\n"), LINES.join("\r\n")]) {
    for (const one of [key, key.replaceAll("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK")]) {
      assertEquals(valuesOf(`Key: ${one} end`, PEM), [one]);
    }
  }
});

Deno.test("a key without an end counts to the end of its text, or to the bound", () => {
  const [first = ""] = LINES;
  assertEquals(valuesOf(`a ${first}\nabc`, PEM), [`${first}\nabc`]);
  assertEquals(valuesOf(first + "a".repeat(20_000), PEM)[0]?.length, 16_384);
});

Deno.test("a key without an end does not reach over the end of a quoted text", () => {
  const [first = ""] = LINES;
  for (const space of [0, 1]) {
    const text = JSON.stringify({ n: 1, line: `grep '${first}' .` }, null, space);
    assertEquals(valuesOf(text, PEM), [`${first}' .`]);
  }
  assertEquals(valuesOf(JSON.stringify({ line: `f("${first}")` }), PEM), [first]);
  const [, , last = ""] = LINES;
  assertEquals(valuesOf(JSON.stringify({ from: `is ${first}`, to: `no ${last}` }), PEM), [first]);
  // Lines of a key in a list of a program.
  assertEquals(valuesOf(`["${LINES.join('","')}"]`, PEM), [LINES.join('","')]);
});

Deno.test("public keys and certificates are no private keys", () => {
  assertEquals(valuesOf("-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----", PEM), []);
});
