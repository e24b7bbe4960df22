import { utf8Bytes, utf8Text } from "../../src/formats/utf8.ts";
import { newPayload } from "../../src/wires/payload.ts";
import { assert, assertEquals } from "../support/assert.ts";

function counting(text: string) {
  let writes = 0;
  const write = () => {
    writes++;
    return text;
  };
  return { write, writes: () => writes };
}

Deno.test("a payload is serialized only when its text or bytes are requested", () => {
  const { write, writes } = counting("{}");
  newPayload(write);
  assertEquals(writes(), 0);
});

Deno.test("a payload is serialized once, however often its text and bytes are requested", () => {
  const { write, writes } = counting('{"user":"é"}');
  const payload = newPayload(write);
  assertEquals(payload.text(), '{"user":"é"}');
  assertEquals(utf8Text(payload.bytes()), '{"user":"é"}');
  assertEquals(utf8Text(payload.bytes()), '{"user":"é"}');
  assertEquals(payload.text(), '{"user":"é"}');
  assertEquals(writes(), 1);
});

Deno.test("an empty payload is serialized once too", () => {
  const { write, writes } = counting("");
  const payload = newPayload(write);
  assertEquals([payload.text(), payload.text(), payload.bytes().length], ["", "", 0]);
  assertEquals(writes(), 1);
});

Deno.test("received bytes are sent without a copy and without serializing the text", () => {
  const { write, writes } = counting("{}");
  const received = utf8Bytes("{}");
  const payload = newPayload(write, () => received);
  assert(payload.bytes() === received);
  assert(payload.bytes() === received);
  assertEquals(writes(), 0);
});

Deno.test("a payload without received bytes is serialized", () => {
  const { write, writes } = counting("{}");
  const payload = newPayload(write, () => null);
  assertEquals(utf8Text(payload.bytes()), "{}");
  assertEquals(writes(), 1);
});

Deno.test("a payload of 256 KiB is not stored, and a smaller one is", () => {
  const sizes = [[256 * 1024, 3], [256 * 1024 - 1, 1]] as const;
  for (const [chars, expected] of sizes) {
    const { write, writes } = counting("x".repeat(chars));
    const payload = newPayload(write);
    assertEquals([payload.text().length, payload.bytes().length], [chars, chars]);
    assertEquals(utf8Text(payload.bytes()), "x".repeat(chars));
    assertEquals(writes(), expected);
  }
});
