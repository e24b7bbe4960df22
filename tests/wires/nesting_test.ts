import { utf8Bytes } from "../../src/formats/utf8.ts";
import { assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { scriptedWorld } from "../support/world.ts";

function nested(levels: number): string {
  return '{"a":'.repeat(levels) + "1.0" + "}".repeat(levels);
}

function configOf(wire: string): string {
  const type = wire === "responses" ? "compat" : wire;
  const api = wire === "responses" ? "responses" : "chat_completions";
  return `
providers:
  p: {type: ${type}, base_url: "http://up.test", api_key: k}
routing:
  routes: [{name: main, targets: [{provider: p, upstream_request_type: ${api}}]}]
retry: {enabled: false}
`;
}

async function answerOf(wire: string, body: string, upstream: string, contentType: string) {
  const gateway = testGateway(
    configOf(wire),
    scriptedWorld({
      fetch: () =>
        Promise.resolve(
          new Response(streamOf([utf8Bytes(upstream)]), {
            headers: { "content-type": contentType },
          }),
        ),
    }),
  );
  const answer = await gateway.app(
    new Request("http://gateway.test/v1/chat/completions", { method: "POST", body }),
  );
  const { error } = await answer.json();
  return [answer.status, error.code, error.param];
}

for (const type of ["messages", "local", "responses"]) {
  Deno.test(`a request nested too deeply for a ${type} upstream is refused with the name of its field`, async () => {
    const deep = nested(5000);
    const tools = `"tools":[{"type":"function","function":{"name":"f","parameters":${deep}}}]`;
    for (const [param, member] of [["x", `"x":${deep}`], ["tools", tools]] as const) {
      const body = `{"model":"m","messages":[{"role":"user","content":"Hi"}],${member}}`;
      assertEquals(await answerOf(type, body, "", "text/plain"), [
        400,
        "unsupported_feature",
        param,
      ]);
    }
  });
}

for (const type of ["messages", "local"]) {
  Deno.test(`arguments nested too deeply for a ${type} provider are refused with their path`, async () => {
    const called = { name: "f", arguments: nested(50_000) };
    const call = { id: "c", type: "function", function: called };
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c", content: "4" },
    ];
    assertEquals(await answerOf(type, JSON.stringify({ model: "m", messages }), "", "text/plain"), [
      400,
      "unsupported_feature",
      "messages[1].tool_calls[0].function.arguments",
    ]);
  });
}

Deno.test("a tool call nested too deeply in a response is a response too large to be parsed, not an internal error", async () => {
  const body = '{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}';
  const deep = nested(50_000);
  const block = `{"type":"tool_use","id":"t","name":"f","input":${deep}}`;
  const start = `{"type":"content_block_start","index":0,"content_block":${block}}`;
  const line = `{"message":{"tool_calls":[{"function":{"name":"f","arguments":${deep}}}]}}`;
  const invalid = [502, "upstream_response_too_large", null];
  const streamed = await answerOf("messages", body, `data: ${start}\n\n`, "text/event-stream");
  assertEquals(streamed, invalid);
  assertEquals(await answerOf("local", body, `${line}\n`, "application/x-ndjson"), invalid);
});
