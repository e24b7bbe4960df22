import { BadRequestError } from "openai";
import type OpenAI from "openai";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { assertNothingStored, NO_STORE } from "../support/no_store.ts";
import { NATIVE, TRANSLATED } from "../support/simulated.ts";
import { errorOf, type Sdk, startNativeSdk, startSdk, WIRES } from "./sdk.ts";
import { startSocketSdk } from "./socket_sdk.ts";

const PARAMETERS = { type: "object", properties: { city: { type: "string" } } };
const TOOLS: OpenAI.Responses.FunctionTool[] = [
  { type: "function", name: "weather", description: null, parameters: PARAMETERS, strict: false },
];

/**
 * The upstreams of this file: the provider types, and a provider with the Responses API and all
 * state.
 */
const UPSTREAMS = [...WIRES, "native"] as const;

function start(upstream: typeof UPSTREAMS[number]): Sdk {
  return upstream === "native"
    ? startNativeSdk(["sim"], "chat_completions", NO_STORE)
    : startSdk(upstream, "", NO_STORE);
}

function assertRefused(error: unknown, param: string | null): void {
  assert(error instanceof BadRequestError, String(error));
  assertEquals([error.code, error.param], ["state_disabled", param]);
  assertMatch(error.message, /state\.store is none/);
}

for (const upstream of UPSTREAMS) {
  Deno.test(`without a store the SDK gets a refusal by name for what needs stored state over ${upstream}`, async () => {
    await using sdk = start(upstream);
    const { responses, conversations, chat, files, batches, uploads } = sdk.client;
    const request = { model: "sim-echo", input: "x" };
    const { id } = await responses.create(request);
    const needing: readonly (readonly [string | null, () => Promise<unknown>])[] = [
      ["previous_response_id", () => responses.create({ ...request, previous_response_id: id })],
      ["conversation", () => responses.create({ ...request, conversation: "conv_1" })],
      ["background", () => responses.create({ ...request, background: true })],
      [null, () => responses.retrieve(id)],
      [null, () => responses.delete(id)],
      [null, () => responses.cancel(id)],
      [null, () => responses.inputItems.list(id)],
      [null, () => conversations.create({ items: [] })],
      [null, () => conversations.retrieve("conv_1")],
      [null, () => conversations.delete("conv_1")],
      [null, () => conversations.items.list("conv_1")],
      [null, () => chat.completions.list()],
      [null, () => chat.completions.retrieve("chatcmpl-1")],
      [null, () => chat.completions.messages.list("chatcmpl-1")],
      [null, () => chat.completions.delete("chatcmpl-1")],
      [null, () => files.list()],
      [null, () => files.create({ file: new File(["{}"], "a.jsonl"), purpose: "batch" })],
      [null, () => batches.list()],
      [null, () => uploads.create({ bytes: 1, filename: "a", mime_type: "a/b", purpose: "batch" })],
    ];
    for (const [param, call] of needing) assertRefused(await errorOf(call()), param);
    assertNothingStored(sdk.gateway.gateway);
  });

  Deno.test(`without a store the SDK runs a tool loop with the whole history over ${upstream}`, async () => {
    await using sdk = start(upstream);
    const { responses } = sdk.client;
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Weather?" }];
    const first = await responses.create({ model: "sim-tools", input, tools: TOOLS });
    const [call] = first.output.filter((item) => item.type === "function_call");
    assert(call !== undefined);
    input.push(call, { type: "function_call_output", call_id: call.call_id, output: "sunny" });
    const second = await responses.create({ model: "sim-tools", input, tools: TOOLS });
    assertEquals(second.output_text, 'The tools said "sunny".');
  });

  Deno.test(`without a store the SDK chats over ${upstream} as with one`, async () => {
    await using sdk = start(upstream);
    const request = { model: "sim-echo", messages: [{ role: "user" as const, content: "hello" }] };
    const whole = await sdk.client.chat.completions.create(request);
    assertEquals(whole.choices[0]?.message.content, "hello");
    const stream = sdk.client.chat.completions.stream(request);
    assertEquals(await stream.finalContent(), "hello");
  });
}

for (const provider of [...NATIVE, ...TRANSLATED]) {
  Deno.test(`without a store the SDK's socket loops through a tool call over ${provider}`, async () => {
    await using sdk = startSocketSdk(NO_STORE);
    await using socket = await sdk.open();
    const lane = socket.session.lane();
    const common = { model: `${provider}/sim-tools`, tools: TOOLS };
    lane.create({ ...common, input: "Weather?", store: true });
    const first = await lane.finalResponse();
    const call = first.output.find((item) => item.type === "function_call");
    assert(call?.type === "function_call");
    lane.create({
      ...common,
      input: [{ type: "function_call_output", call_id: call.call_id, output: "sun" }],
      previous_response_id: first.id,
    });
    const second = await lane.finalResponse();
    assertEquals(second.output_text, 'The tools said "sun".');
    for (const response of [first, second]) {
      assertEquals("store" in response && response.store, false);
    }
  });
}
