import fc from "fast-check";
import { success } from "../../../src/core/failure/result.ts";
import { recordUnreadable } from "../../../src/store/store_failure.ts";
import { assertEquals } from "../../support/assert.ts";
import { anyKind, anyText, encrypting, keyOf, plain } from "./codecs.ts";

Deno.test("a record without encryption is its version and the text in UTF-8", async () => {
  const { codec } = plain();
  assertEquals([...await codec.encode("item", "a", "aé")], [0, 0x61, 0xc3, 0xa9]);
  await fc.assert(fc.asyncProperty(anyKind, fc.string(), anyText, async (kind, id, text) => {
    const record = await codec.encode(kind, id, text);
    assertEquals(await codec.decode(kind, id, record), success(text));
  }));
});

Deno.test("an encrypted record cannot be read without keys, and the log line has its key number", async () => {
  const record = await encrypting(keyOf(1)).codec.encode("response", "a", "text");
  const { codec, unreadable } = plain();
  assertEquals(await codec.decode("response", "a", record), recordUnreadable());
  const keyNumber = record[1] ?? null;
  assertEquals(unreadable, [{ kind: "response", reason: "unknown_key", keyNumber }]);
});

Deno.test("an unknown version, an empty record and one that is not UTF-8 cannot be read", async () => {
  const { codec, unreadable } = plain();
  for (const bytes of [[2, 0x61], [], [0, 0xff]]) {
    const decoded = await codec.decode("item", "a", Uint8Array.from(bytes));
    assertEquals(decoded, recordUnreadable());
  }
  assertEquals(unreadable.map(({ reason }) => reason), ["version", "altered", "altered"]);
});

Deno.test("digests are SHA-256 of the text", () => {
  const { codec } = plain();
  assertEquals(
    codec.digest("abc"),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});
