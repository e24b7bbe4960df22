import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { startSdk, WIRES } from "./sdk.ts";

/** How the SDK asks: what it speaks, and whether the gateway keeps its responses. */
const MANNERS = [
  { api: "chat", store: null },
  { api: "responses", store: true },
  { api: "responses", store: false },
] as const;

interface Asked {
  readonly body: JsonObject;
}

function bodyOf(init: unknown): JsonObject {
  const body = isObject(init) && typeof init.body === "string" ? parseJson(init.body) : null;
  return isObject(body) ? body : {};
}

/** A fetch that notes what the SDK sends. */
function noting(asked: Asked[]): typeof fetch {
  return async (input, init) => {
    asked.push({ body: bodyOf(init) });
    return await fetch(input, init);
  };
}

/** The model as either package of the SDK reaches it. */
function modelOf({ api, store }: typeof MANNERS[number], url: string, asked: Asked[]) {
  const settings = { baseURL: `${url}/v1`, apiKey: "sk-client", fetch: noting(asked) };
  const make = api === "chat"
    ? createOpenAICompatible({ name: "gateway", includeUsage: true, ...settings })
    : createOpenAI(settings).responses;
  return {
    of: (name: string) => make(name),
    providerOptions: store === null ? {} : { openai: { store } },
  };
}

function weather(given: unknown[]) {
  return tool({
    description: "Weather.",
    inputSchema: jsonSchema<{ city: string }>({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    }),
    execute(input) {
      given.push(input);
      return "sunny";
    },
  });
}

function typesIn({ input }: JsonObject): readonly unknown[] {
  return Array.isArray(input) ? input.filter(isObject).map(({ type, role }) => type ?? role) : [];
}

for (const wire of WIRES) {
  for (const manner of MANNERS) {
    const { api, store } = manner;
    const how = store === null ? api : `${api} (store: ${store})`;

    Deno.test(`the AI SDK loops through a tool and continues by ${how} over ${wire}`, async () => {
      await using sdk = startSdk(wire);
      const asked: Asked[] = [];
      const { of, providerOptions } = modelOf(manner, sdk.gateway.url, asked);
      for (const isStreamed of [false, true]) {
        const given: unknown[] = [];
        const shared = {
          model: of("sim-tools"),
          tools: { weather: weather(given) },
          stopWhen: isStepCount(3),
          maxRetries: 0,
          providerOptions,
        };
        const question = { role: "user" as const, content: "Weather?" };
        const run = async (messages: Parameters<typeof generateText>[0]["messages"]) => {
          assert(messages !== undefined);
          if (!isStreamed) return await generateText({ ...shared, messages });
          const result = streamText({ ...shared, messages });
          await result.consumeStream();
          return {
            text: await result.text,
            steps: await result.steps,
            responseMessages: await result.responseMessages,
          };
        };
        const first = await run([question]);
        assertEquals(first.text, 'The tools said "sunny".');
        assertEquals(given, [{ city: "text" }]);
        assertEquals(first.steps.map(({ finishReason }) => finishReason), ["tool-calls", "stop"]);
        const thanks = { role: "user" as const, content: "Thanks!" };
        const second = await run([question, ...first.responseMessages, thanks]);
        assert(second.text.length > 0);
        const last = asked.at(-1);
        assert(last !== undefined);
        if (api === "chat") continue;
        assertEquals(last.body.store ?? true, store);
        // What the gateway keeps, the SDK names; without that it sends everything.
        assertEquals(typesIn(last.body).includes("item_reference"), store);
      }
    });

    Deno.test(`the AI SDK hears of errors by ${how} over ${wire}`, async () => {
      await using sdk = startSdk(wire);
      const { of, providerOptions } = modelOf(manner, sdk.gateway.url, []);
      const ask = { prompt: "hi", maxRetries: 0, providerOptions };
      const refused = generateText({ ...ask, model: of("sim-error-400") });
      const error = await refused.then(() => null, (reason: unknown) => reason);
      assert(error instanceof Error && "statusCode" in error, String(error));
      assertEquals(error.statusCode, 400);
      const errors: unknown[] = [];
      const broken = streamText({
        ...ask,
        model: of("sim-broken-stream"),
        onError: ({ error: reported }) => void errors.push(reported),
      });
      let text = "";
      for await (const part of broken.stream) if (part.type === "text-delta") text += part.text;
      assertEquals([text, errors.length], ["one two three four", 1]);
    });
  }
}

for (const wire of WIRES) {
  for (const store of [true, false]) {
    Deno.test(`the AI SDK carries thinking along (store: ${store}) over ${wire}`, async () => {
      await using sdk = startSdk(wire);
      const asked: Asked[] = [];
      const manner = { api: "responses", store } as const;
      const result = await generateText({
        model: modelOf(manner, sdk.gateway.url, asked).of("sim-think-tools"),
        prompt: "Weather?",
        tools: { weather: weather([]) },
        stopWhen: isStepCount(3),
        maxOutputTokens: 4096,
        maxRetries: 0,
        providerOptions: {
          openai: { store, reasoningEffort: "low", reasoningSummary: "auto", forceReasoning: true },
        },
      });
      // The simulator refuses a call without its signed thinking, as the real provider does.
      assertEquals(result.text, 'The tools said "sunny".');
      assertEquals(asked.length, 2);
      // Without stored items the SDK sends nothing of a reasoning item but its encrypted content.
      const second = asked[1]?.body.input;
      assert(Array.isArray(second));
      const sealed = second.filter(isObject).filter(({ type }) => type === "reasoning")
        .map(({ encrypted_content: content }) => typeof content);
      assertEquals(sealed, store ? [] : ["string"]);
    });
  }
}
