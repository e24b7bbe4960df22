import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { testGateway } from "../../support/gateway.ts";
import { streamOf } from "../../support/pieces.ts";
import { utf8Bytes } from "../../../src/formats/utf8.ts";
import { scriptedWorld } from "../../support/world.ts";

const ANSWERS = {
  messages:
    '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text",' +
    '"text":"Ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}',
  local:
    '{"model":"m","created_at":"2026-08-01T10:00:00Z","message":{"role":"assistant","content":"Ok"},' +
    '"done":true,"done_reason":"stop"}',
  responses:
    '{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[' +
    '{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":' +
    '"output_text","text":"Ok","annotations":[]}]}]}',
  compat:
    '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":' +
    '{"role":"assistant","content":"Ok","refusal":null},"logprobs":null,"finish_reason":"stop"}]}',
} as const;

const CITED = { url: "https://a.example", title: "A", start_index: 0, end_index: 2 };
const annotations = [{ type: "url_citation", url_citation: CITED }];
const PART = { type: "text", text: "Ok" };

/** Returns the header that names the fields which a provider of this type receives in part. */
async function lossyOf(
  type: keyof typeof ANSWERS,
  message: JsonObject,
  others: JsonObject = {},
): Promise<string | null> {
  const overResponses = type === "responses";
  const target = overResponses ? ", upstream_request_type: responses" : "";
  const { app } = testGateway(
    `
providers: {p: {type: ${overResponses ? "compat" : type}, base_url: "http://up.test", api_key: k}}
routing: {routes: [{name: all, targets: [{provider: p${target}}]}]}
`,
    scriptedWorld({
      fetch: () =>
        Promise.resolve(
          new Response(streamOf([utf8Bytes(ANSWERS[type])]), {
            headers: { "content-type": "application/json" },
          }),
        ),
    }),
  );
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", ...message },
    { role: "user", content: "And?" },
  ];
  const answer = await app(
    new Request("http://gateway.test/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify({ model: "p/m", messages, ...others }),
    }),
  );
  assertEquals([answer.status, (await answer.text()).includes("Ok")], [200, true]);
  return answer.headers.get("x-gateway-lossy");
}

Deno.test("the name of an author is named in a header if the provider has no place for it", async () => {
  for (const role of ["user", "assistant"]) {
    const message = { role, content: "Ok", name: "bob" };
    for (const type of ["messages", "responses", "local"] as const) {
      assertEquals(await lossyOf(type, message), "messages[1].name", `${role} over ${type}`);
    }
    assertEquals(await lossyOf("compat", message), null);
  }
});

Deno.test("citations that a provider does not receive are named in a header", async () => {
  for (const type of ["messages", "local"] as const) {
    const beside = await lossyOf(type, { content: "Ok", annotations });
    assertEquals(beside, "messages[1].annotations");
    const inside = await lossyOf(type, { content: [{ ...PART, annotations }] });
    assertEquals(inside, "messages[1].content[0].annotations");
    assertEquals(await lossyOf(type, { content: "Ok", annotations: [] }), null);
  }
  assertEquals(await lossyOf("compat", { content: "Ok", annotations }), null);
});

Deno.test("hints for the cache of a provider are accepted over every protocol, and named in no header", async () => {
  const cache_control = { type: "ephemeral" };
  const tool = { type: "function", function: { name: "f" }, cache_control };
  const message = { content: [{ ...PART, cache_control }], cache_control };
  for (const type of ["messages", "responses", "local", "compat"] as const) {
    assertEquals(await lossyOf(type, message, { tools: [tool] }), null, type);
    const text = { ...message, role: "user" };
    assertEquals(await lossyOf(type, text, { prompt_cache_key: "k" }), null, type);
  }
});
