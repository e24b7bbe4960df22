import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { HOST_PROTOCOLS } from "../../src/simulator/hosts.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { type ServedGateway, serveGateway } from "../support/gateway.ts";

/** The official clients before a gateway before a simulated host. */
interface HostSdk extends AsyncDisposable {
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  readonly gateway: ServedGateway;
}

function startHost(host: string, settings = "", top = ""): HostSdk {
  const world = newRealWorld();
  const answer = newSimulator(world);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  const gateway = serveGateway(`${top}
providers:
  host:
    type: compat
    base_url: http://127.0.0.1:${server.addr.port}/hosts/${host}/v1
    api_key: sk-upstream
    capabilities: {structured_outputs: true, reasoning_effort: true}
    ${settings}
routing:
  routes: [{name: main, targets: [{provider: host}]}]
retry: {enabled: false}
circuit_breaker: {enabled: false}
`);
  const options = { apiKey: "sk-client", maxRetries: 0 };
  return {
    openai: new OpenAI({ baseURL: `${gateway.url}/v1`, ...options }),
    anthropic: new Anthropic({ baseURL: gateway.url, ...options }),
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await server.shutdown();
      world.close();
    },
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

/** Runs a tool loop of two steps and returns the last text: the conversation as the host has it. */
type Loop = (sdk: HostSdk, stream: boolean) => Promise<string>;

/** What is kept of a message by an agent that knows only the members of Chat Completions. */
function plain({ role, content, tool_calls: calls }: OpenAI.ChatCompletionMessage) {
  const kept = calls?.map((call) =>
    call.type === "function"
      ? { id: call.id, type: call.type, function: call.function }
      : { id: call.id, type: call.type, custom: call.custom }
  );
  return { role, content, ...kept !== undefined && { tool_calls: kept } };
}

const chat: Loop = async ({ openai }, stream) => {
  const body = {
    model: "sim-recall",
    max_tokens: 4000,
    messages: [
      { role: "developer", content: INSTRUCTION },
      { role: "user", content: QUESTION },
    ] as OpenAI.ChatCompletionMessageParam[],
    tools: [{ type: "function" as const, function: { name: "weather", parameters: PARAMETERS } }],
  };
  async function turn(): Promise<OpenAI.ChatCompletionMessage> {
    if (stream) return await openai.chat.completions.stream(body).finalMessage();
    const { choices } = await openai.chat.completions.create(body);
    assert(choices[0] !== undefined);
    return choices[0].message;
  }
  const called = await turn();
  const [call] = called.tool_calls ?? [];
  assert(call !== undefined);
  body.messages.push(plain(called), { role: "tool", tool_call_id: call.id, content: "sunny" });
  return String((await turn()).content);
};

const responses: Loop = async ({ openai }, stream) => {
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: QUESTION }];
  const body = {
    model: "sim-recall",
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
      ? await openai.responses.stream(body).finalResponse()
      : await openai.responses.create(body);
  const { output } = await turn();
  const call = output.find((item) => item.type === "function_call");
  assert(call?.type === "function_call");
  input.push(...output.filter((item) => item.type !== "custom_tool_call") as typeof input, {
    type: "function_call_output",
    call_id: call.call_id,
    output: "sunny",
  });
  return (await turn()).output_text;
};

const messages: Loop = async ({ anthropic }, stream) => {
  const body = {
    model: "sim-recall",
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
      ? await anthropic.messages.stream(body).finalMessage()
      : await anthropic.messages.create(body);
  const { content } = await turn();
  const call = content.find(({ type }) => type === "tool_use");
  assert(call?.type === "tool_use");
  body.messages.push({ role: "assistant", content }, {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: call.id, content: "sunny" }],
  });
  const last = await turn();
  return last.content.map((block) => block.type === "text" ? block.text : "").join("");
};

const LOOPS = { chat, responses, messages };

for (const host of HOST_PROTOCOLS.keys()) {
  for (const [api, loop] of Object.entries(LOOPS)) {
    Deno.test(`a tool loop of ${api} continues over ${host} with its profile`, async () => {
      await using sdk = startHost(host, `compatibility_profile: ${host}`);
      for (const stream of [false, true]) {
        const text = await loop(sdk, stream);
        assertMatch(text, /system: Be brief\.[^]*user: Weather\?[^]*sunny/);
      }
    });

    Deno.test(`a tool loop of ${api} breaks over ${host} without its profile`, async () => {
      await using sdk = startHost(host);
      const failed = await loop(sdk, false).then(() => null, (error: unknown) => error);
      // vLLM refuses only reasoning that comes back, which this client of Chat leaves out.
      if (host === "vllm" && api === "chat") {
        return assertEquals(failed, null);
      }
      assert(failed instanceof Error, String(failed));
    });
  }
}
