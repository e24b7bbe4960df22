import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { KINDS, namedGateway } from "./named_gateway.ts";

const USER = { role: "user", content: "Hi" };

const CHAT: JsonObject = { messages: [USER], store: undefined };

/** Member of each wire with the maximum tokens of a response. */
const LIMITS = {
  compat: "max_completion_tokens",
  responses: "max_output_tokens",
  messages: "max_tokens",
  local: "options",
} as const;

Deno.test("max_output lowers a larger limit of Chat and Responses requests, and X-Gateway-Lossy names the field", async () => {
  for (const kind of KINDS) {
    for (
      const [path, field, body] of [
        ["/chat/completions", "max_completion_tokens", CHAT],
        ["/responses", "max_output_tokens", { input: "Hi" }],
      ] satisfies readonly (readonly [string, string, JsonObject])[]
    ) {
      const { post, requests } = namedGateway(kind, "max_output: 100");
      for (const [asked, sent] of [[101, 100], [100, 100], [20, 20]] as const) {
        const reply = await post(path, { model: "coder", ...body, [field]: asked });
        assertEquals([path, kind, reply.status], [path, kind, 200], reply.text);
        const limit = requests.at(-1)?.json[LIMITS[kind]];
        const expected = kind === "local" ? { num_predict: sent } : sent;
        assertEquals([path, kind, limit], [path, kind, expected]);
        const lossy = reply.headers.get("x-gateway-lossy");
        assertEquals([path, kind, lossy], [path, kind, asked > sent ? field : null]);
      }
    }
  }
});

Deno.test("max_output refuses a larger limit of a Messages request with the sentence by which clients lower it", async () => {
  for (const kind of KINDS) {
    const { post, requests } = namedGateway(kind, "max_output: 100");
    const body = { model: "coder", messages: [USER], max_tokens: 101 };
    const refused = await post("/messages", body);
    assertEquals([kind, refused.status, requests.length], [kind, 400, 0]);
    assertStringIncludes(
      refused.text,
      "101 > 100, which is the maximum allowed number of output tokens for this model",
    );
    assertEquals((await post("/messages", { ...body, max_tokens: 100 })).status, 200);
  }
});

Deno.test("the limit that the gateway sets for a Messages provider is at most max_output", async () => {
  const { post, requests } = namedGateway("messages", "max_output: 100");
  await post("/chat/completions", { model: "coder", messages: [USER], store: undefined });
  assertEquals(requests[0]?.json.max_tokens, 100);
});

Deno.test("thinking of a request excludes the sampling of a named model over a messages provider", async () => {
  const member = "parameters: {temperature: 0.5, top_p: 0.5, top_k: 5, effort: high}";
  const { post, requests } = namedGateway("messages", member);
  const thinking = { type: "enabled", budget_tokens: 1024 };
  const body = { model: "coder", messages: [USER], max_tokens: 2048, thinking };
  assertEquals((await post("/messages", body)).status, 200);
  const { temperature, top_p, top_k, output_config } = requests[0]?.json ?? {};
  assertEquals([temperature, top_p, top_k], [undefined, undefined, undefined]);
  assertEquals(output_config, { effort: "high" });
  const disabled = { ...body, thinking: { type: "disabled" } };
  assertEquals((await post("/messages", disabled)).status, 200);
  const { temperature: sampled, output_config: none } = requests[1]?.json ?? {};
  assertEquals([sampled, none], [0.5, undefined]);
});

Deno.test("the parameters of a named model come before the defaults of its provider", async () => {
  const { post, requests } = namedGateway(
    "compat",
    "parameters: {temperature: 0.5}",
    "",
    ", temperature: 0.9, top_p: 0.9",
  );
  await post("/chat/completions", { model: "coder", messages: [USER], store: undefined });
  await post("/messages", { model: "coder", messages: [USER], max_tokens: 99 });
  for (const { json: { temperature, top_p } } of requests) {
    assertEquals([temperature, top_p], [0.5, 0.9]);
  }
});

Deno.test("a host that knows one name of the limit gets max_tokens of a named model by that name", async () => {
  for (
    const [profile, name] of [["deepseek", "max_tokens"], ["openrouter", "max_completion_tokens"]]
  ) {
    const { post, requests } = namedGateway(
      "compat",
      "parameters: {max_tokens: 50}\n    max_output: 60",
      "",
      `, compatibility_profile: ${profile}`,
    );
    await post("/chat/completions", { model: "coder", messages: [USER], store: undefined });
    const higher = {
      model: "coder",
      messages: [USER],
      store: undefined,
      max_completion_tokens: 90,
    };
    const reply = await post("/chat/completions", higher);
    assertEquals(reply.headers.get("x-gateway-lossy"), "max_completion_tokens");
    await post("/messages", { model: "coder", messages: [USER], max_tokens: 20 });
    const limits = requests.map(({ json: { max_tokens, max_completion_tokens } }) =>
      name === "max_tokens"
        ? [max_tokens, max_completion_tokens]
        : [max_completion_tokens, max_tokens]
    );
    assertEquals(limits, [[50, undefined], [60, undefined], [20, undefined]]);
  }
});

Deno.test("the tier of a named model is written in the words of a messages provider", async () => {
  const { post, requests } = namedGateway("messages", "parameters: {service_tier: default}");
  await post("/chat/completions", { model: "coder", messages: [USER], store: undefined });
  await post("/messages", { model: "coder", messages: [USER], max_tokens: 99 });
  assertEquals(requests.map(({ json }) => json.service_tier), ["standard_only", "standard_only"]);
});

Deno.test("a request without tools has no parallel_tool_calls of a named model", async () => {
  for (const kind of KINDS) {
    const { post, requests } = namedGateway(kind, "parameters: {parallel_tool_calls: false}");
    const bodies = {
      "/chat/completions": { messages: [USER], store: undefined },
      "/responses": { input: "Hi" },
      "/messages": { messages: [USER], max_tokens: 99 },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const reply = await post(path, { model: "coder", ...body });
      assertEquals([kind, path, reply.status], [kind, path, 200], reply.text);
    }
    for (const { json: { parallel_tool_calls, tool_choice } } of requests) {
      assertEquals([kind, parallel_tool_calls, tool_choice], [kind, undefined, undefined]);
    }
    assertEquals(requests.length, 3);
  }
});
