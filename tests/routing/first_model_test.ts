import { firstKnownModel, firstModel } from "../../src/routing/first_model.ts";
import { generationOf } from "../support/example_generation.ts";
import { assertEquals } from "../support/assert.ts";

function modelFor(...routes: readonly string[]): string | null {
  return firstModel(generationOf(routes.join(", ")));
}

Deno.test("the example call names the model and provider of the first target", () => {
  assertEquals(modelFor("{name: a, targets: [{provider: openai, model: x/y}]}"), "openai/x/y");
});

Deno.test("the example call for a target without a model uses the default, a listed or a matched model", () => {
  assertEquals(modelFor("{name: a, targets: [{provider: mine}]}"), "mine/small");
  assertEquals(modelFor("{name: a, targets: [{provider: listed}]}"), "listed/first");
  assertEquals(
    modelFor("{name: a, match: {models: ['x*', gpt-4o]}, targets: [{provider: openai}]}"),
    "openai/gpt-4o",
  );
});

Deno.test("routes that want headers, other paths or serve other models are left out", () => {
  assertEquals(
    modelFor(
      "{name: a, match: {headers: {x-team: blue}}, targets: [{provider: openai, model: m}]}",
      "{name: b, match: {path: /v1/embeddings}, targets: [{provider: openai, model: m}]}",
      "{name: c, match: {models: [other]}, targets: [{provider: openai, model: m}]}",
      "{name: d, targets: [{provider: openai, weight: 0, model: n}, {provider: mine}]}",
    ),
    "mine/small",
  );
});

Deno.test("the gateway's own header names are filled by the model", () => {
  const match = "{headers: {x-gateway-provider: mine, x-gateway-request-type: chat_completions}}";
  assertEquals(
    modelFor(`{name: a, match: ${match}, targets: [{provider: openai}, {provider: mine}]}`),
    "mine/small",
  );
});

Deno.test("a model that the file does not name is a placeholder, and not known", () => {
  const open = generationOf("{name: a, targets: [{provider: openai}]}");
  assertEquals([firstModel(open), firstKnownModel(open)], ["openai/MODEL", null]);
  const listed = generationOf(
    "{name: a, match: {models: [gpt-4o]}, targets: [{provider: openai}]}",
  );
  assertEquals(firstKnownModel(listed), "openai/gpt-4o");
});
