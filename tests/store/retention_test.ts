import { parseExact } from "../../src/core/json/json.ts";
import {
  DEFAULT_RETENTION,
  heldBytes,
  reasoningBounds,
  relayedOwnerBounds,
} from "../../src/store/retention.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("a text counts for its bytes", () => {
  const text = "é".repeat(1_000_000);
  const bytes = heldBytes({ text });
  assert(bytes >= 2_000_000 && bytes < 2_000_200, String(bytes));
});

Deno.test("a short text and a key count for their bytes too", () => {
  const plain = heldBytes({ text: "e", e: "" });
  assertEquals([heldBytes({ text: "é", e: "" }), heldBytes({ text: "e", é: "" })], [
    plain + 1,
    plain + 1,
  ]);
});

Deno.test("a value that is short as text and large in memory counts with its size in memory", () => {
  for (
    const [piece, least] of [["{}", 56], ["[]", 40], ["1.0", 64], ["1", 8], ['""', 8]] as const
  ) {
    const value = parseExact(`[${Array.from({ length: 1000 }, () => piece).join()}]`);
    const bytes = heldBytes(value);
    assert(bytes >= 1000 * least, `${piece}: ${bytes}`);
  }
});

Deno.test("a key that is an index counts 280 bytes, for which V8 keeps places, and any other its length", () => {
  const plain = heldBytes({ a34: 0 });
  assertEquals(heldBytes({ "34": 0 }), plain + 280 - 3);
  assertEquals(heldBytes({ "3-4": 0 }), plain);
  assertEquals(heldBytes({ "34": { "34": 0 } }), 2 * heldBytes({ "34": 0 }) - 16);
});

Deno.test("without settings 10,000 responses have reasoning in 64 MiB, 4,000 of one caller in 32 MiB", () => {
  const MIB = 1024 * 1024;
  assertEquals(reasoningBounds(DEFAULT_RETENTION), {
    entries: 10_000,
    creatorEntries: 4_000,
    bytes: 64 * MIB,
    creatorBytes: 32 * MIB,
  });
});

Deno.test("the owners of files, batches and uploads have a lifetime and bounds of their own", () => {
  const { ownerTtlMs } = DEFAULT_RETENTION;
  assertEquals(ownerTtlMs, 30 * 24 * 3_600_000);
  assertEquals(relayedOwnerBounds(DEFAULT_RETENTION), { entries: 50_000, bytes: 16_000_000 });
  // Also with few entries an ID may be long.
  assertEquals(relayedOwnerBounds({ maxObjects: 1 }), { entries: 50, bytes: 1_024_000 });
});
