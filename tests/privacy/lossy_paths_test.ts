import { atOnce } from "../../src/core/at_once.ts";
import { lossyPaths } from "../../src/privacy/lossy_paths.ts";
import { assert, assertEquals } from "../support/assert.ts";

function replaced(hasTokens: boolean) {
  // deno-lint-ignore require-yield
  const isMasked = function* () {
    return false;
  };
  return { hasTokens, isMasked };
}

Deno.test("keywords for texts in the schemas of every client API are named, and properties of that name are not", () => {
  const schema = {
    type: "object",
    properties: { format: { type: "string", maxLength: 9 }, list: { items: { pattern: "^a" } } },
  };
  const names = (request: object) =>
    atOnce(lossyPaths({ ...request }, replaced(true))).map((path) => path.join("."));
  const inner = ["properties.format.maxLength", "properties.list.items.pattern"];
  const below = (prefix: string) => inner.map((path) => `${prefix}.${path}`);
  assertEquals(
    names({ response_format: { json_schema: { schema } } }),
    below("response_format.json_schema.schema"),
  );
  assertEquals(names({ text: { format: { schema } } }), below("text.format.schema"));
  assertEquals(
    names({ output_config: { format: { schema } } }),
    below("output_config.format.schema"),
  );
  assertEquals(
    names({ tools: [{}, { function: { parameters: schema } }] }),
    below("tools.1.function.parameters"),
  );
  assertEquals(names({ tools: [{ input_schema: schema }] }), below("tools.0.input_schema"));
  assertEquals(names({ functions: [{ parameters: schema }] }), below("functions.0.parameters"));
  assertEquals(
    names({ tools: [{ type: "namespace", tools: [{ parameters: schema }] }] }),
    below("tools.0.tools.0.parameters"),
  );
  const added = { type: "additional_tools", tools: [{ parameters: schema }] };
  assertEquals(names({ input: [{}, added] }), below("input.1.tools.0.parameters"));
  assertEquals(names({ logprobs: true, messages: [{ pattern: "x" }] }), ["logprobs"]);
});

Deno.test("log probabilities are named in each form, with and without tokens", () => {
  const requests = [
    { logprobs: true },
    { logprobs: 5 },
    { include: ["a", "message.output_text.logprobs"] },
    { logprobs: false, include: ["a"] },
  ];
  for (const hasTokens of [true, false]) {
    assertEquals(requests.map((one) => atOnce(lossyPaths({ ...one }, replaced(hasTokens)))), [
      [["logprobs"]],
      [["logprobs"]],
      [["include", 1]],
      [],
    ]);
  }
  const schema = { type: "string", pattern: "^a" };
  assertEquals(atOnce(lossyPaths({ tools: [{ input_schema: schema }] }, replaced(false))), []);
});

Deno.test("a path has the beginning of a long name: each of several below it would hold all of it", () => {
  const below = { a: { pattern: "^a" }, b: { pattern: "^b" } };
  const schema = { properties: { ["n".repeat(1_000_000)]: { properties: below } } };
  const paths = atOnce(lossyPaths({ tools: [{ input_schema: schema }] }, replaced(true)));
  assertEquals(paths.map((path) => path.slice(4)), [
    ["n".repeat(256), "properties", "a", "pattern"],
    ["n".repeat(256), "properties", "b", "pattern"],
  ]);
});

Deno.test("a schema with many properties is looked at in pieces", () => {
  const properties = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`p${at}`, {}]));
  const steps = lossyPaths({ tools: [{ input_schema: { properties } }] }, replaced(true));
  let pieces = 1;
  while (steps.next().done !== true) pieces += 1;
  assert(pieces > 20, `${pieces}`);
});
