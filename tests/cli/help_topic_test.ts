import { HELP_PAGES } from "../../src/cli/help_pages.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { ran } from "./test_terminal.ts";

Deno.test("help without a topic lists every page with its title", async () => {
  const { code, out } = await ran(["help"]);
  assertEquals(code, 0);
  assert(HELP_PAGES.length > 25);
  for (const { topic, text } of HELP_PAGES) {
    const [title = ""] = text.split("\n");
    assert(title.startsWith("# "), topic);
    const line = out.split("\n").find((one) => one.startsWith(`  ${topic} `)) ?? "";
    assertStringIncludes(line, title.slice(2));
  }
});

Deno.test("help with a topic prints that page of the repository without its comments", async () => {
  const { code, out } = await ran(["help", "routing"]);
  assertEquals(code, 0);
  const file = new URL("../../docs/guide/routing.md", import.meta.url);
  const page = await Deno.readTextFile(file);
  const paragraphs = page.split("\n\n").filter((one) => !one.startsWith("<!-- "));
  assert(paragraphs.length < page.split("\n\n").length);
  assertEquals(out, `${paragraphs.join("\n\n").trimEnd()}\n`);
});

Deno.test("help with an unknown topic exits with 2 and names the nearest topic", async () => {
  const { code, out, err } = await ran(["help", "routng"]);
  assertEquals([code, out], [2, ""]);
  assertStringIncludes(err, 'There is no topic "routng"; did you mean routing?');
});

Deno.test("help with a topic that resembles none names the list", async () => {
  const { code, err } = await ran(["help", "zzzzzzzzzz"]);
  assertEquals(code, 2);
  assertStringIncludes(err, '"switchyard help" lists them.');
});
