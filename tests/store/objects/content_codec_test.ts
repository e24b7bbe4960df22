import { newTextContent } from "../../../src/store/objects/content_codec.ts";
import { newPlainCodec } from "../../../src/store/records/plain_codec.ts";
import { recordUnreadable } from "../../../src/store/store_failure.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { scriptedWorld } from "../../support/world.ts";

Deno.test("the bytes of a body are read without a copy, and one without a value before them is unreadable", async () => {
  const content = newTextContent(newPlainCodec(), scriptedWorld());
  const given = { value: { status: 200, name: "a\nb" }, bytes: Uint8Array.of(10, 0, 255) };
  const body = await content.encodeBytes("cached_response", "a", given);
  const read = await content.decodeBytes("cached_response", "a", body);
  assert(read.ok && read.value.bytes.buffer === body.buffer);
  assertEquals([read.value.value, [...read.value.bytes]], [given.value, [...given.bytes]]);
  // As responses were stored before.
  const whole = await content.encode("cached_response", "a", { status: 200, text: "{}" });
  assertEquals(await content.decodeBytes("cached_response", "a", whole), recordUnreadable());
});
