import type OpenAI from "openai";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { serveGateway } from "../support/gateway.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { type HostSdk, type Loop, LOOPS, sdkOf } from "./host_loops.ts";

/** Model of the simulator that thinks before its calls, and refuses calls without that thinking. */
const MODEL = "sim-recall";

/** A loop of a chat client that sends the text of the reasoning back. */
const chat: Loop = async ({ openai }, { between }) => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Weather?" }];
  const tools = [{ type: "function" as const, function: { name: "weather", parameters: {} } }];
  const turn = () => openai.chat.completions.create({ model: MODEL, messages, tools });
  const called = (await turn()).choices[0]?.message;
  assert(called !== undefined && "reasoning_content" in called);
  messages.push(called);
  for (const { id } of called.tool_calls ?? []) {
    messages.push({ role: "tool", tool_call_id: id, content: "sunny" });
  }
  await between?.();
  return String((await turn()).choices[0]?.message.content);
};

const MOVED: readonly (readonly [api: string, loop: Loop, stream: boolean])[] = [
  ["chat", chat, false],
  ...[false, true].flatMap((stream) => [
    ["responses", LOOPS.responses, stream] as const,
    ["messages", LOOPS.messages, stream] as const,
  ]),
];

/** Sends the second step of a loop whose first step another model has made, without thinking. */
const bare: Loop = async ({ anthropic }, { stream, model = MODEL }) => {
  const body = {
    model,
    max_tokens: 4096,
    thinking: { type: "enabled" as const, budget_tokens: 2048 },
    tools: [{ name: "weather", input_schema: { type: "object" as const } }],
    messages: [
      { role: "user" as const, content: "Weather?" },
      {
        role: "assistant" as const,
        content: [{ type: "tool_use" as const, id: "call_1", name: "weather", input: {} }],
      },
      {
        role: "user" as const,
        content: [{ type: "tool_result" as const, tool_use_id: "call_1", content: "sunny" }],
      },
    ],
  };
  const message = stream
    ? await anthropic.messages.stream(body).finalMessage()
    : await anthropic.messages.create(body);
  return message.content.map((block) => block.type === "text" ? block.text : "").join("");
};

/** Starts a gateway whose route has another target, or these targets, after `move`. */
function startMoving(
  moved = "targets: [{provider: messages}]",
  began = "targets: [{provider: compat}]",
): HostSdk & { move(): void } {
  const world = newRealWorld();
  const answer = newSimulator(world);
  const sent: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    sent.push(await request.clone().text());
    return await answer(request);
  });
  const root = `http://127.0.0.1:${server.addr.port}`;
  const configFor = (targets: string) => `
providers:
  compat: {type: compat, base_url: ${root}/compat/v1, api_key: sk-upstream}
  messages: {type: messages, base_url: ${root}/messages, api_key: sk-upstream}
routing: {routes: [{name: main, ${targets}}]}
retry: {enabled: false}
`;
  const gateway = serveGateway(configFor(began));
  return {
    ...sdkOf(gateway),
    gateway,
    sent,
    restart: () => Promise.resolve(),
    move: () => void gateway.gateway.reload(parsedConfig(configFor(moved))),
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await server.shutdown();
      world.close();
    },
  };
}

for (const [api, loop, stream] of MOVED) {
  Deno.test(`a tool loop of a client of ${api} moves to a provider that wants signed thinking, ${stream ? "streamed" : "whole"}`, async () => {
    await using sdk = startMoving();
    const text = await loop(sdk, {
      stream,
      model: MODEL,
      between: () => Promise.resolve(sdk.move()),
    });
    assertStringIncludes(text, "sunny");
    const last = sdk.sent.at(-1) ?? "";
    assertStringIncludes(last, '"thinking":{"type":"disabled"}');
    assertEquals(last.includes("switchyard1."), false);
  });
}

for (const [api, loop] of Object.entries(LOOPS)) {
  for (const stream of [false, true]) {
    Deno.test(`a tool loop of a client of ${api} that a model without thinking began moves to one that thinks, ${stream ? "streamed" : "whole"}`, async () => {
      await using sdk = startMoving(
        `targets: [{provider: messages, model: ${MODEL}}]`,
        "targets: [{provider: compat, model: sim-tools}]",
      );
      const move = () => Promise.resolve(sdk.move());
      const more = api === "messages" ? { thinking: { type: "adaptive" } } : {};
      const text = await loop(sdk, { stream, model: "auto", more, between: move });
      assertStringIncludes(text, "sunny");
      const [, first = "", repeated = "", ...others] = sdk.sent;
      assertEquals(others, []);
      const off = '"thinking":{"type":"disabled"}';
      assertEquals([first.includes(off), repeated.includes(off)], [false, true]);
    });
  }
}

for (const stream of [false, true]) {
  Deno.test(`a tool loop without thinking falls back to a provider that wants it, ${stream ? "streamed" : "whole"}`, async () => {
    await using sdk = startMoving(
      `targets: [{provider: compat, model: sim-error-503}], fallback: [{provider: messages, model: ${MODEL}}]`,
    );
    sdk.move();
    assertStringIncludes(await bare(sdk, { stream, model: "sim-error-503" }), "sunny");
    assertStringIncludes(sdk.sent.at(-1) ?? "", '"thinking":{"type":"disabled"}');
  });
}
