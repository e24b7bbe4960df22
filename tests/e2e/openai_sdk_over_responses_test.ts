import OpenAI from "openai";
import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { serveGateway } from "../support/gateway.ts";
import { assertValid } from "../support/schemas.ts";
import { startUpstream, type UpstreamExchange } from "../support/upstream.ts";
import { errorOf } from "./sdk.ts";

const RESPONSE: JsonObject = {
  id: "resp_1",
  object: "response",
  created_at: 1_700_000_000,
  model: "m-1",
  status: "completed",
  error: null,
  incomplete_details: null,
  output: [],
  usage: {
    input_tokens: 3,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 4,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 7,
  },
};
const ASKED = { model: "m", messages: [{ role: "user" as const, content: "Weather?" }] };
const TOOLS: OpenAI.ChatCompletionTool[] = [{
  type: "function",
  function: { name: "weather", parameters: { type: "object", properties: {} } },
}];
const CALLS = [call(1, '{"city":"Bern"}'), call(2, "{}")];

function call(number: number, text: string): JsonObject {
  const called = { call_id: `call_${number}`, name: "weather", arguments: text };
  return { type: "function_call", id: `fc_${number}`, status: "completed", ...called };
}

function message(text: string): JsonObject {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { type: "message", id: "msg_1", role: "assistant", status: "completed", content };
}

/** Every item as an upstream streams it: announced, in two pieces, done. */
function eventsOf(output: readonly JsonObject[]): readonly JsonObject[] {
  const begun = { ...RESPONSE, status: "in_progress", usage: null };
  return [
    { type: "response.created", response: begun },
    ...output.flatMap((item, output_index): JsonObject[] => {
      const [part] = Array.isArray(item.content) ? item.content : [];
      const isCall = item.type === "function_call";
      const text = String(isCall ? item.arguments : isObject(part) ? part.text : "");
      const at = { item_id: item.id, output_index, ...!isCall && { content_index: 0 } };
      const type = isCall ? "response.function_call_arguments" : "response.output_text";
      const bare = isCall ? { ...item, arguments: "" } : { ...item, content: [] };
      return [
        { type: "response.output_item.added", output_index, item: bare },
        { type: `${type}.delta`, ...at, delta: text.slice(0, 3) },
        { type: `${type}.delta`, ...at, delta: text.slice(3) },
        { type: "response.output_item.done", output_index, item },
      ];
    }),
    { type: "response.completed", response: { ...RESPONSE, output: [...output] } },
  ];
}

/**
 * An upstream that calls its tool once and then quotes the results; it refuses what has no shape.
 */
async function answer({ request, json, sse }: UpstreamExchange): Promise<void> {
  const body = parseJson(request.body);
  assert(isObject(body) && Array.isArray(body.input));
  assertEquals([request.method, request.path], ["POST", "/v1/responses"]);
  assertValid("CreateResponse", body);
  assertEquals(body.store, false);
  if (body.user === "nobody") {
    const error = { message: "Who?", type: "invalid_request_error", param: "user", code: "who" };
    await json(400, { error });
    return;
  }
  const results = body.input.filter(isObject).filter(({ type }) => type === "function_call_output");
  const said = results.map(({ output }) => output).join(" and ");
  const output = body.tools === undefined || said !== "" ? [message(said || " Hello\n")] : CALLS;
  if (body.stream !== true) return void await json(200, { ...RESPONSE, output });
  const events = eventsOf(output).map((event, sequence_number) =>
    `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`
  );
  await sse(events);
}

async function withClient(work: (client: OpenAI) => Promise<void>): Promise<void> {
  await using upstream = startUpstream(answer);
  await using gateway = serveGateway(`
providers: {up: {type: compat, base_url: "${upstream.url}/v1", api_key: sk-upstream}}
routing:
  routes: [{name: main, targets: [{provider: up, upstream_request_type: responses}]}]
retry: {enabled: false}
`);
  await work(
    new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "sk-client", maxRetries: 0 }),
  );
}

Deno.test("the SDK gets a completion over a Responses upstream", async () => {
  await withClient(async (client) => {
    const { data: completion } = await client.chat.completions.create({
      ...ASKED,
      max_tokens: 99,
    }).withResponse();
    assertEquals(completion.choices[0]?.message.content, " Hello\n");
    assertEquals(completion.choices[0]?.finish_reason, "stop");
    assertEquals(completion.usage?.total_tokens, 7);
    assertEquals(completion.usage?.completion_tokens_details?.reasoning_tokens, 1);
    assertValid("CreateChatCompletionResponse", completion);
  });
});

Deno.test("the SDK streams over a Responses upstream", async () => {
  await withClient(async (client) => {
    const stream = await client.chat.completions.create({
      ...ASKED,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    for (const chunk of chunks) assertValid("CreateChatCompletionStreamResponse", chunk);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    assertEquals(text, " Hello\n");
    assertEquals(new Set(chunks.map(({ id }) => id)).size, 1);
    assertEquals(chunks.at(-1)?.usage?.total_tokens, 7);
    assertEquals(chunks.at(-2)?.choices[0]?.finish_reason, "stop");
  });
});

for (const isStreamed of [false, true]) {
  const how = isStreamed ? "in a stream" : "whole";
  Deno.test(`the SDK calls tools and hands their results back, ${how}`, async () => {
    await withClient(async (client) => {
      const { completions } = client.chat;
      const ask = (messages: OpenAI.ChatCompletionMessageParam[]) => {
        const request = { ...ASKED, messages, tools: TOOLS };
        return isStreamed
          ? completions.stream(request).finalChatCompletion()
          : completions.create(request);
      };
      const first = await ask([...ASKED.messages]);
      const told = first.choices[0];
      assert(told !== undefined);
      assertEquals(told.finish_reason, "tool_calls");
      const calls = (told.message.tool_calls ?? []).filter(({ type }) => type === "function");
      assertEquals<unknown>(
        calls.map((one) => one.type === "function" && [one.id, one.function.arguments]),
        [["call_1", '{"city":"Bern"}'], ["call_2", "{}"]],
      );
      const { role, content = null, tool_calls = [] } = told.message;
      const last = await ask([
        ...ASKED.messages,
        { role, content, tool_calls },
        ...calls.map(({ id }, at) => ({
          role: "tool" as const,
          tool_call_id: id,
          content: `result ${at}`,
        })),
      ]);
      assertEquals(last.choices[0]?.message.content, "result 0 and result 1");
      assertEquals(last.choices[0]?.finish_reason, "stop");
    });
  });
}

Deno.test("the SDK throws refusals of the upstream and of the gateway", async () => {
  await withClient(async (client) => {
    const refused = await errorOf(client.chat.completions.create({ ...ASKED, user: "nobody" }));
    assert(refused instanceof OpenAI.BadRequestError);
    assertEquals([refused.status, refused.code, refused.param], [400, "who", "user"]);
    for (const [param, fields] of Object.entries({ n: { n: 2 }, store: { store: true } })) {
      const kept = await errorOf(client.chat.completions.create({ ...ASKED, ...fields }));
      assert(kept instanceof OpenAI.BadRequestError);
      assertEquals([kept.code, kept.param], ["unsupported_feature", param]);
    }
  });
});
