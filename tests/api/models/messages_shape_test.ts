import { modelPage } from "../../../src/api/models/messages_shape.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";

const VERSION = { "anthropic-version": "2023-06-01" };

const CONFIG = `
providers:
  b: {type: compat, base_url: "http://up.test", models: {mode: static, static: [z, "x/y"]}}
  a: {type: local, base_url: "http://up.test", default_model: "m:latest"}
routing: {routes: [{name: all, targets: [{provider: a}]}]}
`;

async function get(path: string, headers: Record<string, string> = VERSION) {
  const { app } = testGateway(CONFIG, scriptedWorld());
  const answer = await app(new Request(`http://gateway.test${path}`, { headers }));
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

/** A model as the list has it. */
function modelOf(id: string) {
  return {
    type: "model",
    id,
    display_name: id,
    created_at: "2023-11-14T22:13:20.000Z",
    max_input_tokens: null,
    max_tokens: null,
    capabilities: null,
    deprecated_at: null,
    lifecycle: "active",
    line: null,
    retires_at: null,
  };
}

Deno.test("a client of the Messages API gets the list of models in its shape, sorted by id", async () => {
  const { status, headers, body } = await get("/v1/models?limit=1000");
  assertEquals(status, 200);
  assertEquals(headers.get("request-id"), headers.get("x-gateway-request-id"));
  assertEquals(body, {
    data: ["a/m:latest", "b/x/y", "b/z"].map(modelOf),
    has_more: false,
    first_id: "a/m:latest",
    last_id: "b/z",
  });
});

Deno.test("a client without anthropic-version gets the list of the OpenAI API", async () => {
  const { headers, body } = await get("/v1/models", {});
  assertEquals([body.object, headers.get("request-id")], ["list", null]);
  const one = await get("/v1/models/b/z", { "x-api-key": "k" });
  assertEquals(one.body.object, "model");
});

Deno.test("one model is found by its id, also with an encoded slash", async () => {
  for (const path of ["/v1/models/b%2Fx%2Fy", "/v1/models/b/x/y"]) {
    const { status, body } = await get(path);
    assertEquals([status, body], [200, modelOf("b/x/y")]);
  }
});

Deno.test("an unknown model is a not_found_error", async () => {
  const { status, headers, body } = await get("/v1/models/nope");
  assertEquals([status, body], [404, {
    type: "error",
    error: {
      type: "not_found_error",
      message: "There is no such model; GET /v1/models lists them.",
      details: { error_code: "model_not_found", param: "model" },
    },
    request_id: headers.get("request-id"),
  }]);
});

const MODELS = ["a", "b", "c", "d", "e"].map((id) => ({ id, created: 0 }));

function page(query: string) {
  const found = modelPage(MODELS, new URLSearchParams(query));
  if (!found.ok) return found.failure;
  const { data, has_more, first_id, last_id } = found.value;
  assert(Array.isArray(data));
  return [data.length, has_more, first_id, last_id];
}

Deno.test("a page begins after one id or ends right before another", () => {
  assertEquals<unknown>(
    [
      "",
      "limit=2",
      "limit=2&after_id=b",
      "limit=2&after_id=c",
      "limit=2&before_id=d",
      "limit=3&before_id=d",
    ].map(page),
    [
      [5, false, "a", "e"],
      [2, true, "a", "b"],
      [2, true, "c", "d"],
      [2, false, "d", "e"],
      [2, true, "b", "c"],
      [3, false, "a", "c"],
    ],
  );
  assertEquals<unknown>([page("after_id=e"), page("before_id=a")], [
    [0, false, null, null],
    [0, false, null, null],
  ]);
});

Deno.test("a list has 20 models if the client names no limit", () => {
  const many = Array.from({ length: 25 }, (_, at) => ({ id: String(at + 10), created: 0 }));
  const found = modelPage(many, new URLSearchParams());
  assert(found.ok && Array.isArray(found.value.data));
  assertEquals<unknown>([found.value.data.length, found.value.has_more], [20, true]);
});

Deno.test("a limit outside 1 to 1000, and both ids at once, are refused in the vendor's words", async () => {
  for (const limit of ["0", "1001", "x", "-1", ""]) {
    const { status, body } = await get(`/v1/models?limit=${limit}`);
    assertEquals([status, body.error.message], [
      400,
      "limit: Input should be a number from 1 to 1000",
    ]);
  }
  const { status, body } = await get("/v1/models?after_id=a&before_id=b");
  assertEquals([status, body.error.type, body.error.details], [400, "invalid_request_error", {
    error_code: "invalid_parameter_combination",
    param: "before_id",
  }]);
});
