import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { type JsonObject } from "../../src/core/json/json.ts";
import { assert } from "../support/assert.ts";
import { type ServedGateway, serveGateway } from "../support/gateway.ts";

/** The official clients before a gateway before a simulated host. */
export interface HostSdk extends AsyncDisposable {
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  readonly gateway: ServedGateway;
  /** Texts of the requests to the host, in their order. */
  readonly sent: readonly string[];
  /** Replaces the gateway by another one, which knows nothing of the calls before. */
  restart(): Promise<void>;
}

/** Starts a gateway with one provider: the host with this name, these settings and this key. */
export function startHost(host: string, settings = "", top = "", key = "sk-upstream"): HostSdk {
  const world = newRealWorld();
  const answer = newSimulator(world);
  const sent: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    sent.push(await request.clone().text());
    return await answer(request);
  });
  const start = () =>
    serveGateway(`${top}
providers:
  host:
    type: compat
    base_url: http://127.0.0.1:${server.addr.port}/hosts/${host}/v1
    api_key: ${key}
    capabilities: {structured_outputs: true, reasoning_effort: true}
    ${settings}
routing:
  routes: [{name: main, targets: [{provider: host}]}]
retry: {enabled: false}
circuit_breaker: {enabled: false}
`);
  let gateway = start();
  return {
    get openai() {
      return sdkOf(gateway).openai;
    },
    get anthropic() {
      return sdkOf(gateway).anthropic;
    },
    get gateway() {
      return gateway;
    },
    sent,
    async restart() {
      await gateway.close();
      gateway = start();
    },
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await server.shutdown();
      world.close();
    },
  };
}

/** Returns the official clients of a gateway. */
export function sdkOf({ url }: { readonly url: string }) {
  const options = { apiKey: "sk-client", maxRetries: 0 };
  return {
    openai: new OpenAI({ baseURL: `${url}/v1`, ...options }),
    anthropic: new Anthropic({ baseURL: url, ...options }),
  };
}

/** The parameters of a tool with what some hosts refuse. */
const PARAMETERS = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  title: "Weather",
  properties: {
    city: { $ref: "#/$defs/City" },
    days: { type: ["integer", "null"], exclusiveMinimum: 0 },
    unit: { const: "celsius" },
  },
  required: ["city"],
  additionalProperties: false,
  $defs: { City: { type: "string", default: "Oslo" } },
};

const INSTRUCTION = "Be brief.";
const QUESTION = "Weather?";

/** How a tool loop runs. */
export interface LoopOptions {
  readonly stream: boolean;
  readonly model?: string;
  /** Members that are added to each request. */
  readonly more?: JsonObject;
  /** Called between the two steps. */
  readonly between?: () => Promise<void>;
}

/** Runs a tool loop of two steps and returns the last text: the conversation as the host has it. */
export type Loop = (sdk: HostSdk, options: LoopOptions) => Promise<string>;

/** Returns a message as an agent keeps it that knows only the members of Chat Completions. */
function plain({ role, content, tool_calls: calls }: OpenAI.ChatCompletionMessage) {
  const kept = calls?.map((call) =>
    call.type === "function"
      ? { id: call.id, type: call.type, function: call.function }
      : { id: call.id, type: call.type, custom: call.custom }
  );
  return { role, content, ...kept !== undefined && { tool_calls: kept } };
}

const chat: Loop = async (sdk, { stream, model = "sim-recall", more, between }) => {
  const body = {
    ...more,
    model,
    max_tokens: 4000,
    messages: [
      { role: "developer", content: INSTRUCTION },
      { role: "user", content: QUESTION },
    ] as OpenAI.ChatCompletionMessageParam[],
    tools: [{ type: "function" as const, function: { name: "weather", parameters: PARAMETERS } }],
  };
  async function turn(): Promise<OpenAI.ChatCompletionMessage> {
    if (stream) return await sdk.openai.chat.completions.stream(body).finalMessage();
    const { choices } = await sdk.openai.chat.completions.create(body);
    assert(choices[0] !== undefined);
    return choices[0].message;
  }
  const called = await turn();
  const calls = called.tool_calls ?? [];
  assert(calls.length > 0);
  body.messages.push(plain(called));
  for (const { id } of calls) {
    body.messages.push({ role: "tool", tool_call_id: id, content: "sunny" });
  }
  await between?.();
  return String((await turn()).content);
};

const responses: Loop = async (sdk, { stream, model = "sim-recall", more, between }) => {
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: QUESTION }];
  const body = {
    ...more,
    model,
    instructions: INSTRUCTION,
    max_output_tokens: 4000,
    store: false,
    input,
    tools: [{
      type: "function" as const,
      name: "weather",
      parameters: PARAMETERS,
      strict: false,
    }],
  };
  const turn = async () =>
    stream
      ? await sdk.openai.responses.stream(body).finalResponse()
      : await sdk.openai.responses.create(body);
  const { output } = await turn();
  const calls = output.filter((item) => item.type === "function_call");
  assert(calls.length > 0);
  input.push(...output.filter((item) => item.type !== "custom_tool_call") as typeof input);
  for (const item of calls) {
    if (item.type !== "function_call") continue;
    input.push({ type: "function_call_output", call_id: item.call_id, output: "sunny" });
  }
  await between?.();
  return (await turn()).output_text;
};

const messages: Loop = async (sdk, { stream, model = "sim-recall", more, between }) => {
  const body = {
    ...more,
    model,
    max_tokens: 4000,
    system: INSTRUCTION,
    messages: [{ role: "user", content: QUESTION }] as Anthropic.MessageParam[],
    tools: [{
      name: "weather",
      input_schema: { ...PARAMETERS, type: "object" as const },
    }],
  };
  const turn = async () =>
    stream
      ? await sdk.anthropic.messages.stream(body).finalMessage()
      : await sdk.anthropic.messages.create(body);
  const { content } = await turn();
  const calls = content.filter(({ type }) => type === "tool_use");
  assert(calls.length > 0);
  body.messages.push({ role: "assistant", content }, {
    role: "user",
    content: calls.flatMap((block) =>
      block.type === "tool_use"
        ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "sunny" }]
        : []
    ),
  });
  await between?.();
  const last = await turn();
  return last.content.map((block) => block.type === "text" ? block.text : "").join("");
};

/** The tool loops of the official clients, by the client APIs. */
export const LOOPS = { chat, responses, messages };
