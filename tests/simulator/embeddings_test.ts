import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { callSimulator } from "./call_simulator.ts";

async function compat(more: JsonObject): Promise<readonly unknown[]> {
  const response = await callSimulator("/v1/embeddings", {
    model: "sim-embed",
    input: "good day",
    ...more,
  });
  const body: unknown = await response.json();
  assert(isObject(body) && Array.isArray(body.data));
  if (more.encoding_format !== "base64") assertValid("CreateEmbeddingResponse", body);
  return body.data.filter(isObject).map(({ embedding }) => embedding);
}

function numbers(vector: unknown): readonly number[] {
  return Array.isArray(vector) ? vector.map(Number) : [];
}

Deno.test("an embedding has length one and the requested number of dimensions", async () => {
  for (const dimensions of [undefined, 3, 1000]) {
    const vector = numbers((await compat({ dimensions }))[0]);
    assertEquals(vector.length, dimensions ?? 8);
    assert(Math.abs(Math.hypot(...vector) - 1) < 1e-6);
  }
});

Deno.test("each input has one embedding, in order, which depends only on the input", async () => {
  const [first, second] = await compat({ input: ["one", "two"] });
  assertEquals([first], await compat({ input: "one" }));
  assertEquals([second], await compat({ input: ["two"] }));
  assert(JSON.stringify(first) !== JSON.stringify(second));
  assertEquals((await compat({ input: [1, 2, 3] })).length, 1);
  assertEquals((await compat({ input: [[1, 2], [3]] })).length, 2);
});

Deno.test("base64 embeddings encode the same numbers as little-endian float32", async () => {
  const [vector] = await compat({});
  const [text] = await compat({ encoding_format: "base64" });
  const bytes = Uint8Array.from(atob(String(text)), (char) => char.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const decoded = numbers(vector).map((_, at) => view.getFloat32(at * 4, true));
  assertEquals(decoded, numbers(vector));
});

Deno.test("compat refuses embedding inputs and fields that the API does not allow", async () => {
  const wrong: readonly JsonObject[] = [
    { input: "" },
    { input: [] },
    { input: ["a", 1] },
    { input: { text: "a" } },
    { dimensions: 0 },
    { encoding_format: "hex" },
    { truncate: true },
  ];
  for (const more of wrong) {
    const body = { model: "sim-embed", input: "a", ...more };
    assertEquals((await callSimulator("/v1/embeddings", body)).status, 400, JSON.stringify(more));
  }
});

Deno.test("local returns an array of embeddings and omits a token count of zero", async () => {
  const local = async (input: unknown) => {
    const response = await callSimulator("/local/api/embed", { model: "sim-embed", input });
    const body: unknown = await response.json();
    return isObject(body) ? body : {};
  };
  const one = await local("good day");
  assertEquals(one.embeddings, [numbers((await compat({}))[0])].map((vector) => [...vector]));
  assertEquals(one.prompt_eval_count, 2);
  const none = await local("");
  assertEquals([none.embeddings, "prompt_eval_count" in none], [[], false]);
  assertEquals(await local([1]), { error: "invalid input type" });
});

Deno.test("error and broken models also fail for embeddings", async () => {
  const call = (model: string) => callSimulator("/v1/embeddings", { model, input: "a" });
  assertEquals((await call("sim-error-503")).status, 503);
  assertEquals((await call("gpt-5")).status, 404);
  assertEquals(await (await call("sim-broken-empty")).text(), "");
});
