import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { responseOf } from "../../support/native_gateway.ts";
import { KINDS, namedGateway, namedOver } from "./named_gateway.ts";

const MESSAGES = [{ role: "user", content: "Hi" }];

const REQUESTS: Readonly<Record<string, JsonObject>> = {
  "/chat/completions": {
    messages: MESSAGES,
    store: undefined,
    stream_options: { include_usage: true },
  },
  "/responses": { input: "Hi" },
  "/messages": { max_tokens: 64, messages: MESSAGES, store: undefined },
};

/** Returns the models that a body or the records of a stream name, in any depth of two. */
function modelsIn(text: string): unknown[] {
  const records = text.startsWith("{")
    ? [text]
    : text.split("\n").filter((line) => line.startsWith("data: {")).map((line) => line.slice(6));
  return records.flatMap((record) => {
    const value = parseJson(record);
    assert(isObject(value));
    return [value, value.message, value.response].flatMap((one) =>
      isObject(one) && "model" in one ? [one.model] : []
    );
  });
}

Deno.test("with response_model requested each record names the requested model, and X-Gateway-Model the served one", async () => {
  for (const [path, body] of Object.entries(REQUESTS)) {
    for (const kind of KINDS) {
      for (const stream of [false, true]) {
        const at = `${path} over ${kind}, ${stream ? "stream" : "whole"}`;
        const { post } = namedGateway(kind, "response_model: requested");
        const { stream_options, ...rest } = body;
        const options = stream && stream_options !== undefined ? { stream_options } : {};
        const reply = await post(path, { model: "coder", stream, ...rest, ...options });
        assertEquals([at, reply.status], [at, 200], reply.text);
        const models = modelsIn(reply.text);
        assert(models.length > 0, at);
        assertEquals([at, [...new Set(models)]], [at, ["coder"]], reply.text);
        assertEquals(reply.headers.get("x-gateway-model"), "served");
        assertEquals(reply.headers.get("x-gateway-route"), "model:coder");
      }
    }
  }
});

Deno.test("without response_model each record names what the upstream says", async () => {
  for (const [path, { stream_options: _unused, ...body }] of Object.entries(REQUESTS)) {
    for (const kind of KINDS) {
      const { post } = namedGateway(kind, "");
      const reply = await post(path, { model: "coder", ...body });
      assertEquals([path, kind, modelsIn(reply.text)], [path, kind, ["m"]]);
    }
  }
});

Deno.test("a response that the provider stores has the requested model when it is read, and after a cancel", async () => {
  const { post, get, requests } = namedOver(
    "{responses_lifecycle: true, response_cancellation: true, background_responses: true}",
    "response_model: requested",
    ({ method, path }) => ({
      body: JSON.stringify(responseOf("resp_1", {
        model: "served",
        ...method === "POST" && path === "/responses" && { status: "queued" },
      })),
    }),
  );
  const made = await post("/responses", { model: "coder", input: "Hi", background: true });
  assertEquals([made.status, made.json.model], [200, "coder"], made.text);
  const read = await get("/responses/resp_1");
  assertEquals([read.status, read.json.model], [200, "coder"]);
  const ended = await post("/responses/resp_1/cancel");
  assertEquals([ended.status, ended.json.model], [200, "coder"]);
  assertEquals(requests.map(({ method }) => method), ["POST", "GET", "POST"]);
});

Deno.test("a completion that the provider stores has the requested model when it is read and changed", async () => {
  const completion = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "served" };
  const choice = { index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" };
  const { post, get } = namedOver(
    "{chat_completions_lifecycle: true}",
    "response_model: requested",
    () => ({ body: JSON.stringify({ ...completion, choices: [choice] }) }),
    "",
  );
  const made = await post("/chat/completions", { model: "coder", messages: MESSAGES, store: true });
  assertEquals([made.status, made.json.model], [200, "coder"], made.text);
  assertEquals((await get("/chat/completions/chatcmpl-1")).json.model, "coder");
  const changed = await post("/chat/completions/chatcmpl-1", { metadata: {} });
  assertEquals(changed.json.model, "coder");
});

Deno.test("embeddings name the requested model", async () => {
  const { post, requests } = namedOver("{}", "response_model: requested", () => ({
    body:
      '{"object":"list","model":"served","data":[{"object":"embedding","index":0,"embedding":[1]}]}',
  }), "");
  const reply = await post("/embeddings", {
    model: "coder",
    input: "Hi",
    encoding_format: "float",
  });
  assertEquals([reply.status, reply.json.model], [200, "coder"], reply.text);
  assertEquals(requests[0]?.json.model, "served");
});

Deno.test("a cached response with the requested name is not given to a request of another name", async () => {
  const { post, requests } = namedGateway(
    "compat",
    "response_model: requested",
    "caching: {enabled: true}",
  );
  const body = { model: "m", messages: MESSAGES, store: undefined };
  const first = await post("/chat/completions", body, { "x-gateway-model": "coder" });
  assertEquals([first.status, first.json.model], [200, "coder"], first.text);
  const again = await post("/chat/completions", body, { "x-gateway-model": "coder" });
  assertEquals([again.headers.get("x-gateway-cache-status"), again.json.model], ["HIT", "coder"]);
  const other = await post("/chat/completions", body, { "x-gateway-model": "served" });
  assertEquals([other.headers.get("x-gateway-cache-status"), other.json.model], ["MISS", "m"]);
  assertEquals(requests.length, 2);
});
