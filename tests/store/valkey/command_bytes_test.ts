import { Buffer } from "node:buffer";
import { Command } from "iovalkey";
import { commandBytes } from "../../../src/store/valkey/command_bytes.ts";
import type { Argument } from "../../../src/store/valkey/connection.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("a command has the same bytes as the library writes", () => {
  const body = new Uint8Array([0, 13, 10, 255]);
  const part = new Uint8Array([1, 2, 3, 4]).subarray(1, 3);
  const lists: readonly (readonly Argument[])[] = [
    [],
    ["", 0, -1, "text"],
    [body],
    ["é", "\r\n", "\u{1f600}", "\ud800", body, 1.5, new Uint8Array(), part, "end"],
  ];
  for (const args of lists) {
    const own = args.map((one) => one instanceof Uint8Array ? Buffer.from(one) : one);
    const expected = new Command("EVALSHA", own).toWritable({});
    assertEquals(commandBytes("EVALSHA", args), Buffer.from(expected));
  }
});
