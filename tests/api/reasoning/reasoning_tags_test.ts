import fc from "fast-check";
import { extractReasoning } from "../../../src/api/reasoning/reasoning_tags.ts";
import { assertEquals } from "../../support/assert.ts";

/** A region: the shortest text between an opening tag and a closing one. */
const REGION = /<think>([\s\S]*?)<\/think>/g;

const word = fc.constantFrom("<think>", "</think>", "<think", ">", " ", "\n", "a", "世");

Deno.test("every complete think region is extracted, whatever text surrounds or fills it", () => {
  fc.assert(fc.property(fc.array(word, { maxLength: 12 }), (words) => {
    const content = words.join("");
    const regions = [...content.matchAll(REGION)].map(([, inner]) => inner);
    const expected = regions.length === 0
      ? null
      : { content: content.replace(REGION, ""), reasoning: regions.join("") };
    assertEquals(extractReasoning(content), expected);
  }));
});

Deno.test("4 MiB of opening tags without a closing tag are searched once", () => {
  const tags = "<think>".repeat(600_000);
  assertEquals(extractReasoning(tags), null);
  const extracted = extractReasoning(`<think>a</think>${tags}`);
  assertEquals([extracted?.content === tags, extracted?.reasoning], [true, "a"]);
});

Deno.test("4 MiB of regions become one text of reasoning", () => {
  const extracted = extractReasoning("<think>a</think>b".repeat(250_000));
  assertEquals(
    [extracted?.content === "b".repeat(250_000), extracted?.reasoning === "a".repeat(250_000)],
    [true, true],
  );
});
