import { newCarrier } from "../../../src/prompt/carry.ts";
import { wires } from "../../../src/wires/registry.ts";
import { strictPromises } from "../../../src/wires/verified/strict_tools.ts";
import { newStrictSchemas } from "../../../src/wires/verified/strict_schemas.ts";
import { assertEquals } from "../../support/assert.ts";
import { assertFailed, providerOf, valueOf } from "../../support/translated.ts";
import { promptOf } from "../../prompt/prompt_of.ts";
import { strictObject } from "./verified.ts";

/** Returns the promises of strict functions whose schemas have these numbers of parts. */
function promisesOf(...parts: readonly number[]) {
  const tools = parts.map((count, at) => {
    // The object and each property are one part.
    const names = Array.from({ length: count - 1 }, (_, index) => `p${index}`);
    const parameters = strictObject(
      Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    );
    return { type: "function", function: { name: `f${at}`, strict: true, parameters } };
  });
  const prompt = promptOf({ messages: [{ role: "user", content: "Hi" }], tools });
  const functions = prompt.tools.filter((tool) => tool.kind === "function");
  const { fields } = wires.local;
  const carrier = newCarrier({ fields, provider: providerOf(wires.local) });
  return strictPromises(functions, { schemas: newStrictSchemas(), carrier });
}

Deno.test("the strict functions of a request have at most 5,000 parts in all", () => {
  assertEquals(valueOf(promisesOf(2_000, 2_000, 1_000)).length, 3);
  assertFailed(promisesOf(2_000, 2_000, 1_001), "unsupported_feature", "tools[2].function.strict");
});
