import { isObject } from "../../src/core/json/json.ts";
import { MODELS } from "../../src/simulator/model_behaviour.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { callSimulator } from "./call_simulator.ts";

async function list(path: string, key: string, name: string): Promise<readonly unknown[]> {
  const body: unknown = await (await callSimulator(path)).json();
  assert(isObject(body));
  const items = body[key];
  assert(Array.isArray(items));
  return items.map((item) => isObject(item) ? item[name] : null);
}

Deno.test("compat lists all models in one page, below both of its path prefixes", async () => {
  assertValid("ListModelsResponse", await (await callSimulator("/compat/v1/models")).json());
  assertEquals(await list("/v1/models", "data", "id"), [...MODELS]);
  assertValid("Model", await (await callSimulator("/v1/models/sim-echo")).json());
  const missing = await callSimulator("/v1/models/gpt-5");
  assertEquals(missing.status, 404);
  assertValid("ErrorResponse", await missing.json());
});

Deno.test("messages lists all models in consecutive pages without gaps", async () => {
  const found: unknown[] = [];
  let after = "";
  for (let more: unknown = true; more === true;) {
    const page: unknown = await (await callSimulator(`/messages/v1/models?limit=7${after}`)).json();
    assert(isObject(page) && Array.isArray(page.data));
    found.push(...page.data.filter(isObject).map(({ id }) => id));
    after = `&after_id=${page.last_id}`;
    more = page.has_more;
  }
  assertEquals(found, [...MODELS]);
  assertEquals((await list("/messages/v1/models", "data", "id")).length, 20);
  assertEquals((await callSimulator("/messages/v1/models/gpt-5")).status, 404);
});

Deno.test("local lists every model with the tag latest", async () => {
  const names = await list("/local/api/tags", "models", "name");
  assertEquals(names, MODELS.map((model) => `${model}:latest`));
});

Deno.test("an unknown path is refused with 404 in the error format of its protocol", async () => {
  assertEquals((await callSimulator("/v2/anything")).status, 404);
  const local: unknown = await (await callSimulator("/local/api/generate", {})).json();
  assert(isObject(local) && typeof local.error === "string");
  const messages: unknown = await (await callSimulator("/messages/v1/complete", {})).json();
  assert(isObject(messages) && messages.type === "error");
});

Deno.test("each protocol refuses a body that is not a JSON object", async () => {
  for (const path of ["/v1/chat/completions", "/messages/v1/messages", "/local/api/chat"]) {
    for (const body of ["{", "[]", ""]) {
      const response = await callSimulator(path, undefined, { method: "POST", body });
      assertEquals(response.status, 400);
    }
  }
});
