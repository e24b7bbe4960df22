import Anthropic from "@anthropic-ai/sdk";
import { assert, assertEquals } from "../support/assert.ts";
import { type AnthropicSdk, startAnthropicSdk } from "./anthropic_sdk.ts";
import { BROKEN, errorOf } from "./sdk.ts";

const messages: Anthropic.MessageParam[] = [{ role: "user", content: "good day" }];
const BODY = { max_tokens: 2048, messages };
const WEATHER: Anthropic.Tool = {
  name: "weather",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

function textOf(content: readonly { readonly type: string }[]): string {
  return content.map((block) => "text" in block ? String(block.text) : "").join("");
}

Deno.test("the Anthropic SDK gets the message of a messages provider, whole and as a stream", async () => {
  await using sdk = startAnthropicSdk("messages");
  const { client, sent } = sdk;
  const whole = await client.messages.create({ ...BODY, model: "sim/sim-echo" });
  const streamed = await client.messages.stream({ ...BODY, model: "sim-echo" }).finalMessage();
  assert(textOf(whole.content).includes("good day"), textOf(whole.content));
  assertEquals(textOf(streamed.content), textOf(whole.content));
  assertEquals([whole.stop_reason, streamed.stop_reason], ["end_turn", "end_turn"]);
  assertEquals(streamed.usage.input_tokens, whole.usage.input_tokens);
  for (const { url, headers, body } of sent) {
    assertEquals(new URL(url).pathname + new URL(url).search, "/messages/v1/messages");
    assertEquals(headers.get("anthropic-version"), "2026-10-21");
    assertEquals([headers.get("x-api-key"), headers.get("authorization")], ["sk-upstream", null]);
    assertEquals(JSON.parse(body).model, "sim-echo");
    assert([...headers.keys()].every((name) => !name.startsWith("x-stainless")));
  }
});

Deno.test("the Anthropic SDK sends beta requests to a messages provider with their beta names", async () => {
  await using sdk = startAnthropicSdk("messages");
  const betas = ["interleaved-thinking-2025-05-14", "context-management-2025-06-27"];
  const body = { ...BODY, model: "sim-echo", betas, context_management: { edits: [] } };
  const options = { query: { beta: "true" } };
  const whole = await sdk.client.beta.messages.create(body, options);
  const streamed = await sdk.client.beta.messages.stream(body, options).finalMessage();
  assertEquals(textOf(streamed.content), textOf(whole.content));
  for (const { url, headers, body } of sdk.sent) {
    assertEquals(new URL(url).search, "?beta=true");
    assertEquals(headers.get("anthropic-beta")?.split(/, ?/), betas);
    assertEquals(JSON.parse(body).context_management, { edits: [] });
  }
  assertEquals(sdk.sent.length, 2);
});

/** One dialogue with a tool in which the model thinks; the simulator checks each signature. */
async function toolLoop({ client }: AnthropicSdk, isStream: boolean): Promise<Anthropic.Message> {
  const request = { model: "sim-think-tools", max_tokens: 2048, tools: [WEATHER] };
  const answer = (messages: Anthropic.MessageParam[]) =>
    isStream
      ? client.messages.stream({ ...request, messages }).finalMessage()
      : client.messages.create({ ...request, messages });
  const asked: Anthropic.MessageParam[] = [{ role: "user", content: "weather in Köln" }];
  const first = await answer(asked);
  assertEquals(first.content.map(({ type }) => type).filter((type) => type !== "text"), [
    "thinking",
    "tool_use",
  ]);
  assertEquals(first.stop_reason, "tool_use");
  const results = first.content.filter((block) => block.type === "tool_use").map(({ id }) => ({
    type: "tool_result" as const,
    tool_use_id: id,
    content: "18 °C",
  }));
  return await answer([
    ...asked,
    { role: "assistant", content: first.content },
    { role: "user", content: results },
  ]);
}

Deno.test("signed thinking survives a tool loop of the Anthropic SDK over a messages provider", async () => {
  await using sdk = startAnthropicSdk("messages");
  for (const isStream of [false, true]) {
    const last = await toolLoop(sdk, isStream);
    assert(textOf(last.content).includes("18 °C"), textOf(last.content));
  }
});

Deno.test("thinking of a translated provider is cut when the Anthropic SDK sends it to a messages provider", async () => {
  await using translated = startAnthropicSdk("compat");
  await using sdk = startAnthropicSdk("messages");
  const { content } = await translated.client.messages.create({ ...BODY, model: "sim-think" });
  assertEquals(content.map(({ type }) => type), ["thinking", "text"]);
  const dialogue: Anthropic.MessageParam[] = [
    ...messages,
    { role: "assistant", content },
    { role: "user", content: "again" },
  ];
  const { data, response } = await sdk.client.messages.create({
    model: "sim-echo",
    max_tokens: 64,
    messages: dialogue,
  }).withResponse();
  assert(textOf(data.content).includes("again"), textOf(data.content));
  assertEquals(response.headers.get("x-gateway-lossy"), "messages.1.content.0");
});

const TYPED = [
  ["sim-error-400", Anthropic.BadRequestError, 400, "invalid_request_error"],
  ["sim-unheard-of", Anthropic.NotFoundError, 404, "not_found_error"],
  ["sim-error-429", Anthropic.RateLimitError, 429, "rate_limit_error"],
  ["sim-error-529", Anthropic.InternalServerError, 529, "overloaded_error"],
  ["sim-broken-empty", Anthropic.InternalServerError, 502, "api_error"],
] as const;

Deno.test("the Anthropic SDK throws the errors of a messages provider", async () => {
  await using sdk = startAnthropicSdk("messages");
  for (const [model, kind, status, type] of TYPED) {
    for (const stream of [false, true]) {
      const error = await errorOf(sdk.client.messages.create({ ...BODY, model, stream }));
      assert(error instanceof kind, `${model}: ${String(error)}`);
      assertEquals([error.status, error.type], [status, type], model);
    }
  }
});

Deno.test("the Anthropic SDK throws where the stream of a messages provider breaks", async () => {
  await using sdk = startAnthropicSdk("messages");
  // A record that cannot be read is passed on: there the client throws by itself.
  for (const model of BROKEN.filter((model) => model !== "sim-broken-json")) {
    const stream = sdk.client.messages.stream({ ...BODY, model });
    const error = await errorOf(stream.finalMessage());
    assert(error instanceof Anthropic.APIError, `${model}: ${String(error)}`);
    assertEquals(error.type, "api_error", model);
  }
});
