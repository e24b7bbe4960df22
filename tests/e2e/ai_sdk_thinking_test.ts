import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from "ai";
import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { type Sdk, startNativeSdk, startSdk } from "./sdk.ts";

const PROMPT = "Weather?";
const THOUGHT = `The user says: ${PROMPT}`;

/** Upstreams that accept their reasoning back only unchanged. `native` has the Responses API. */
const UPSTREAMS = ["messages", "native"] as const;

function start(upstream: typeof UPSTREAMS[number]): Sdk {
  // Every route of the native gateway leads to the Responses API.
  return upstream === "native" ? startNativeSdk(["sim"], "responses") : startSdk(upstream);
}

function bodyOf(init: unknown): unknown {
  return isObject(init) && typeof init.body === "string" ? parseJson(init.body) : null;
}

function modelOf(url: string, sent: JsonObject[], lost: (message: JsonObject) => JsonObject) {
  const gateway = createOpenAICompatible({
    name: "gateway",
    baseURL: `${url}/v1`,
    apiKey: "sk-client",
    async fetch(input: RequestInfo | URL, init?: RequestInit) {
      const body = bodyOf(init);
      assert(isObject(body) && Array.isArray(body.messages));
      const messages = body.messages.filter(isObject).map(lost);
      sent.push({ ...body, messages });
      return await fetch(input, { ...init, body: JSON.stringify({ ...body, messages }) });
    },
  });
  return gateway("sim-think-tools");
}

const weather = tool({
  description: "Weather.",
  inputSchema: jsonSchema<{ city: string }>({
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  }),
  execute: () => "sunny",
});

interface Ran {
  readonly text: string;
  readonly steps: readonly { readonly reasoningText: string | undefined }[];
  readonly messages: readonly ModelMessage[];
}

async function run(
  model: ReturnType<typeof modelOf>,
  messages: ModelMessage[],
  isStreamed: boolean,
): Promise<Ran> {
  const asked = { model, messages, tools: { weather }, stopWhen: isStepCount(3), maxRetries: 0 };
  if (!isStreamed) {
    const { text, steps, responseMessages } = await generateText(asked);
    return { text, steps, messages: [...messages, ...responseMessages] };
  }
  const streamed = streamText({ ...asked, onError() {} });
  await streamed.consumeStream();
  const [text, steps, added] = [
    await streamed.text,
    await streamed.steps,
    await streamed.responseMessages,
  ];
  return { text, steps, messages: [...messages, ...added] };
}

/** Returns the reasoning that the client has sent with its assistant messages. */
function reasoningIn({ messages }: JsonObject): readonly unknown[] {
  assert(Array.isArray(messages));
  return messages.filter(isObject).filter(({ role }) => role === "assistant")
    .map(({ reasoning_content }) => reasoning_content ?? null);
}

function withoutReasoning({ reasoning_content: _text, ...message }: JsonObject): JsonObject {
  return message;
}

for (const upstream of UPSTREAMS) {
  for (const isStreamed of [false, true]) {
    const how = isStreamed ? "streams" : "generates";

    Deno.test(`the AI SDK ${how} a tool loop with thinking over ${upstream} with openai-compatible, and continues`, async () => {
      await using sdk = start(upstream);
      const sent: JsonObject[] = [];
      const model = modelOf(sdk.gateway.url, sent, (message) => message);
      const first = await run(model, [{ role: "user", content: PROMPT }], isStreamed);
      assertEquals(first.text, 'The tools said "sunny".');
      assertEquals(first.steps.map(({ reasoningText }) => reasoningText), [THOUGHT, THOUGHT]);
      const [, second] = sent;
      assert(second !== undefined);
      assertEquals(reasoningIn(second), [THOUGHT]);
      const next = [...first.messages, { role: "user" as const, content: "And now?" }];
      const last = await run(model, next, isStreamed);
      assertEquals(last.text, 'The tools said "sunny".');
    });

    Deno.test(`the AI SDK ${how} a tool loop with thinking over ${upstream} when its client drops the reasoning`, async () => {
      await using sdk = start(upstream);
      const sent: JsonObject[] = [];
      const model = modelOf(sdk.gateway.url, sent, withoutReasoning);
      const ran = await run(model, [{ role: "user", content: PROMPT }], isStreamed);
      assertEquals(ran.text, 'The tools said "sunny".');
      const [, second] = sent;
      assert(second !== undefined);
      assertEquals(reasoningIn(second), [null]);
    });
  }
}
