import { Buffer } from "node:buffer";
import { newRecordCodec } from "../../../src/store/records/new_codec.ts";
import { recordUnreadable } from "../../../src/store/store_failure.ts";
import { assertEquals } from "../../support/assert.ts";
import { keyOf } from "./codecs.ts";

function textOf(value: number): string {
  return Buffer.from(keyOf(value)).toString("base64");
}

function newLog() {
  const lines: string[] = [];
  const log = {
    warn: (line: string) => void lines.push(line),
    error: (line: string) => void lines.push(line),
  };
  return { lines, log };
}

Deno.test("content is encrypted exactly if there are encryption keys", async () => {
  const { log } = newLog();
  assertEquals((await newRecordCodec([], log).encode("item", "a", "text"))[0], 0);
  assertEquals((await newRecordCodec([textOf(1)], log).encode("item", "a", "text"))[0], 1);
});

Deno.test("a record that cannot be read is an error in the log with its type and key number, without content", async () => {
  const { lines, log } = newLog();
  const record = await newRecordCodec([textOf(1)], log).encode("reasoning", "the id", "the text");
  const foreign = newRecordCodec([textOf(2)], log);
  assertEquals(await foreign.decode("reasoning", "the id", record), recordUnreadable());
  assertEquals(await foreign.decode("item", "a", Uint8Array.from([9])), recordUnreadable());
  assertEquals(await foreign.decode("item", "a", Uint8Array.from([0, 255])), recordUnreadable());
  assertEquals(lines, [
    `A stored reasoning cannot be read: it is encrypted with key ${
      record[1]
    }, which is not in state.encryption_keys.`,
    "A stored item cannot be read: it was written by another version of the gateway.",
    "A stored item cannot be read: it is incomplete or was changed.",
  ]);
});
