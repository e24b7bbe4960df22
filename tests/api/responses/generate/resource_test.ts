import { encodeResponse } from "../../../../src/api/responses/generate/encoder.ts";
import { parseResponsesRequest } from "../../../../src/api/responses/request.ts";
import type { StreamEvent } from "../../../../src/core/stream/events.ts";
import type { JsonObject } from "../../../../src/core/json/json.ts";
import { parseDocument } from "../../../../src/formats/document.ts";
import { assert, assertEquals, assertStringIncludes } from "../../../support/assert.ts";
import { assertValid } from "../../../support/schemas.ts";
import { finish, labelsOf, USAGE } from "../encoded.ts";

function resourceOf(body: JsonObject, events: readonly StreamEvent[] = []): JsonObject {
  const response = encodeResponse([...events, finish()], labelsOf(body));
  assert(response.ok);
  assertValid("Response", response.value.resource);
  return response.value.resource;
}

/** Every key that Open Responses demands, with its value when the request did not set it. */
const DEFAULTS: JsonObject = {
  id: "resp_1",
  object: "response",
  created_at: 7,
  completed_at: 9,
  status: "completed",
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: "asked",
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: 1,
  top_p: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  truncation: "disabled",
  usage: null,
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
  service_tier: "default",
  presence_penalty: 0,
  frequency_penalty: 0,
  user: null,
};

Deno.test("a response has every member that some client requires", () => {
  const { output, ...rest } = resourceOf({});
  assert(Array.isArray(output) && output.length === 1);
  assertEquals(rest, DEFAULTS);
});

Deno.test("a null option is replaced by its default", () => {
  const nulls = Object.fromEntries(
    Object.keys(DEFAULTS).filter((key) => key !== "input").map((key) => [key, null]),
  );
  const { output: _, ...rest } = resourceOf(nulls);
  assertEquals(rest, DEFAULTS);
});

Deno.test("the response repeats the client's options", () => {
  const sent: JsonObject = {
    instructions: "Be brief.",
    max_output_tokens: 99,
    parallel_tool_calls: false,
    reasoning: { effort: "low", summary: "auto" },
    store: false,
    temperature: 0.5,
    top_p: 0.25,
    text: { format: { type: "json_object" }, verbosity: "low" },
    tool_choice: { type: "function", name: "f" },
    metadata: { a: "b" },
    safety_identifier: "s",
    prompt_cache_key: "k",
    service_tier: "flex",
    presence_penalty: 0.5,
    frequency_penalty: -1,
    user: "u",
    previous_response_id: "resp_0",
  };
  const resource = resourceOf(sent);
  for (const [key, value] of Object.entries(sent)) assertEquals(resource[key], value, key);
});

Deno.test("the conversation is returned as an object, whether sent as a string or an object", () => {
  for (const conversation of ["conv_1", { id: "conv_1" }]) {
    assertEquals<unknown>(resourceOf({ conversation }).conversation, { id: "conv_1" });
  }
});

Deno.test("an echoed function has the members that clients read, also in a namespace", () => {
  const bare = { type: "function", name: "f" };
  const whole = { ...bare, description: null, parameters: null, strict: false };
  const full = { ...bare, name: "g", description: "d", parameters: { a: 1 }, strict: true };
  const tools = [bare, full, { type: "namespace", name: "n", description: "d", tools: [bare] }];
  assertEquals<unknown>(resourceOf({ tools }).tools, [
    whole,
    full,
    { type: "namespace", name: "n", description: "d", tools: [whole] },
  ]);
});

Deno.test("the upstream's service tier is returned if valid, else the client's", () => {
  const tier = (serviceTier: string) =>
    resourceOf({ service_tier: "auto" }, [{ type: "usage", usage: { ...USAGE, serviceTier } }])
      .service_tier;
  assertEquals(["priority", "unheard_of"].map(tier), ["priority", "auto"]);
});

Deno.test("numbers are returned in their original text", () => {
  const document = parseDocument('{"input":"x","temperature":1.0,"metadata":{"n":1e2}}');
  assert(document.ok);
  const request = parseResponsesRequest(document.value);
  assert(request.ok);
  const response = encodeResponse([finish()], { ...labelsOf(), request: request.value });
  assert(response.ok);
  const text = JSON.stringify(response.value.resource);
  assertStringIncludes(text, '"temperature":1.0,');
  assertStringIncludes(text, '"metadata":{"n":1e2}');
});

Deno.test("prompt cache options are repeated, even if the upstream does not know them", () => {
  const hints = {
    prompt_cache_retention: "24h",
    prompt_cache_options: { mode: "implicit", ttl: "30m" },
  };
  const built = resourceOf(hints);
  assertEquals(built.prompt_cache_retention, hints.prompt_cache_retention);
  assertEquals(built.prompt_cache_options, hints.prompt_cache_options);
});
