import { isJson } from "../../src/privacy/escaped_texts.ts";
import { assertEquals } from "../support/assert.ts";
import { longParses } from "../support/long_parses.ts";

Deno.test("a text is parsed once to know whether it is JSON, however many of its keys have an escape", () => {
  const text = `{${Array.from({ length: 500 }, (_, at) => `"\\n${at}":{"\\t":1}`).join(",")}}`;
  using parses = longParses(0);
  assertEquals(isJson(text), true);
  assertEquals(parses.count(), 1);
});
