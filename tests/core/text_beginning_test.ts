import { textBeginning } from "../../src/core/text_beginning.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("the beginning of a text ends before the character that exceeds the bound", () => {
  assertEquals(textBeginning("a😀b", 4), "a😀b");
  assertEquals(textBeginning("a😀b", 3), "a😀");
  assertEquals(textBeginning("a😀b", 2), "a");
  assertEquals(textBeginning("\ufeffé😀", 2), "\ufeffé");
});

Deno.test("a text has no half of a character in its beginning", () => {
  assertEquals(textBeginning("\ud83d", 1), "\ufffd");
  assertEquals(textBeginning("\ud83dab", 2), "\ufffda");
});

Deno.test("the beginning of a long text does not keep the text in memory", async () => {
  const program = new URL("held_beginnings.ts", import.meta.url).pathname;
  const args = ["run", "--no-check", "--v8-flags=--expose-gc", program];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  const [chars, heldBytes] = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals(chars, 10 * 1_000);
  assert(heldBytes < 10_000_000, `${heldBytes} bytes`);
});
