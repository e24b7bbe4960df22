import { createHash } from "node:crypto";
import fc from "fast-check";
import { recordUnreadable } from "../../../src/store/store_failure.ts";
import { success } from "../../../src/core/failure/result.ts";
import { anyCharacter } from "../../support/any_character.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { anyKind, anyText, encrypting, keyOf, plain } from "./codecs.ts";

/** Returns the number of a key as the record names it. */
function numberOf(key: Uint8Array): number {
  return createHash("sha256").update(key).digest()[0] ?? 0;
}

/** Returns two different keys with the same number. */
function twins(): readonly [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>] {
  const seen = new Map<number, Uint8Array<ArrayBuffer>>();
  for (let value = 0;; value++) {
    const key = keyOf(value % 256);
    key[0] = value >> 8;
    const earlier = seen.get(numberOf(key));
    if (earlier !== undefined) return [earlier, key];
    seen.set(numberOf(key), key);
  }
}

Deno.test("an encrypted record is read as the text that was written, for all types, IDs and texts", async () => {
  const { codec } = encrypting(keyOf(1));
  await fc.assert(
    fc.asyncProperty(
      anyKind,
      fc.string({ unit: anyCharacter }),
      anyText,
      async (kind, id, text) => {
        const record = await codec.encode(kind, id, text);
        assertEquals(await codec.decode(kind, id, record), success(text));
      },
    ),
  );
});

Deno.test("an empty text and one of 4 MiB are read as they were written", async () => {
  const { codec } = encrypting(keyOf(1));
  for (const text of ["", "\u{feff}text", "é".repeat(2 * 1024 * 1024)]) {
    const record = await codec.encode("response", "resp_1", text);
    assertEquals(await codec.decode("response", "resp_1", record), success(text));
  }
});

Deno.test("a record begins with its version, the number of its key and a nonce that is never repeated", async () => {
  const key = keyOf(1);
  const { codec } = encrypting(key);
  const one = await codec.encode("item", "a", "text");
  const other = await codec.encode("item", "a", "text");
  assertEquals([...one.subarray(0, 2)], [1, numberOf(key)]);
  assertEquals(one.length, 2 + 12 + 4 + 16);
  assert(one.subarray(2, 14).toString() !== other.subarray(2, 14).toString());
});

Deno.test("a record that was moved to another type or ID cannot be read", async () => {
  const { codec, unreadable } = encrypting(keyOf(1));
  const places = fc.tuple(anyKind, fc.string(), anyKind, fc.string())
    .filter(([kind, id, otherKind, otherId]) => kind !== otherKind || id !== otherId);
  await fc.assert(fc.asyncProperty(places, async ([kind, id, otherKind, otherId]) => {
    const record = await codec.encode(kind, id, "text");
    assertEquals(await codec.decode(otherKind, otherId, record), recordUnreadable());
    assertEquals(unreadable.at(-1), {
      kind: otherKind,
      reason: "altered",
      keyNumber: numberOf(keyOf(1)),
    });
  }));
});

Deno.test("a record with any changed byte cannot be read, and never throws", async () => {
  const { codec } = encrypting(keyOf(1));
  const changes = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 }));
  await fc.assert(fc.asyncProperty(anyText, changes, async (text, [place, change]) => {
    const record = await codec.encode("response", "resp_1", text);
    const at = place % record.length;
    record[at] = (record[at] ?? 0) ^ change;
    assertEquals(await codec.decode("response", "resp_1", record), recordUnreadable());
  }));
});

Deno.test("a record that was cut or is any other bytes cannot be read, and never throws", async () => {
  const { codec } = encrypting(keyOf(1));
  const record = await codec.encode("response", "resp_1", "text");
  for (let length = 0; length < record.length; length++) {
    const decoded = await codec.decode("response", "resp_1", record.subarray(0, length));
    assertEquals(decoded, recordUnreadable());
  }
  await fc.assert(fc.asyncProperty(fc.uint8Array(), async (bytes) => {
    const decoded = await codec.decode("response", "resp_1", bytes);
    assert(bytes[0] === 0 || !decoded.ok);
  }));
});

Deno.test("a new key put first reads what the old key wrote, and the record names the same number", async () => {
  const [old, latest] = [keyOf(1), keyOf(2)];
  const before = encrypting(old).codec;
  const record = await before.encode("item", "a", "text");
  const { codec } = encrypting(latest, old);
  assertEquals(await codec.decode("item", "a", record), success("text"));
  assertEquals((await codec.encode("item", "a", "text"))[1], numberOf(latest));
  assertEquals(record[1], numberOf(old));
});

Deno.test("a record whose key was removed cannot be read, and the log line has its type and key number", async () => {
  const record = await encrypting(keyOf(1)).codec.encode("conversation", "a", "text");
  const { codec, unreadable } = encrypting(keyOf(2), keyOf(3));
  assertEquals(await codec.decode("conversation", "a", record), recordUnreadable());
  const keyNumber = numberOf(keyOf(1));
  assertEquals(unreadable, [{ kind: "conversation", reason: "unknown_key", keyNumber }]);
});

Deno.test("several keys with the same number are all tried", async () => {
  const [one, other] = twins();
  const { codec, unreadable } = encrypting(one, other);
  const record = await encrypting(other).codec.encode("item", "a", "text");
  assertEquals(record[1], numberOf(one));
  assertEquals(await codec.decode("item", "a", record), success("text"));
  assertEquals(unreadable, []);
});

Deno.test("records that were written before there were keys are read", async () => {
  const record = await plain().codec.encode("item", "a", "text");
  const decoded = await encrypting(keyOf(1)).codec.decode("item", "a", record);
  assertEquals(decoded, success("text"));
});

Deno.test("digests depend on the first key only, and are no digests of the text alone", () => {
  const digests = [[keyOf(1)], [keyOf(1), keyOf(2)], [keyOf(2)]].map((
    [first = keyOf(0), ...rest],
  ) => encrypting(first, ...rest).codec.digest("text"));
  assertEquals(digests[0], digests[1]);
  assertEquals(new Set([...digests, plain().codec.digest("text")]).size, 3);
});
