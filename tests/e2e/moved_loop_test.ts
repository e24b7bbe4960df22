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

/** Starts a gateway whose route has another target after `move`. */
function startMoving(): HostSdk & { move(): void } {
  const world = newRealWorld();
  const answer = newSimulator(world);
  const sent: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    sent.push(await request.clone().text());
    return await answer(request);
  });
  const root = `http://127.0.0.1:${server.addr.port}`;
  const configFor = (provider: string) => `
providers:
  compat: {type: compat, base_url: ${root}/compat/v1, api_key: sk-upstream}
  messages: {type: messages, base_url: ${root}/messages, api_key: sk-upstream}
routing: {routes: [{name: main, targets: [{provider: ${provider}}]}]}
retry: {enabled: false}
`;
  const gateway = serveGateway(configFor("compat"));
  return {
    ...sdkOf(gateway),
    gateway,
    sent,
    restart: () => Promise.resolve(),
    move: () => void gateway.gateway.reload(parsedConfig(configFor("messages"))),
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
