import type { JsonObject } from "../../../src/core/json/json.ts";
import type { Format } from "../answers.ts";
import { checkAnswer, demand, type SoakClient } from "../client.ts";
import { FALLBACK_MODEL, TYPES } from "../config.ts";
import type { Use } from "./use.ts";

/** A client API that generates text. */
export type TextApi = Exclude<Format, "local">;

/** The client APIs that generate text, over HTTP. */
export const TEXT_APIS: readonly TextApi[] = ["chat", "responses", "messages"];

/** Paths of the client APIs. */
export const API_PATHS: Readonly<Record<TextApi, string>> = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
};

const PARAMETERS = { type: "object", properties: { city: { type: "string" } } };

/** Returns a request of a client API with this text. */
export function textRequest(
  api: TextApi,
  model: string,
  text: string,
  stream: boolean,
): JsonObject {
  const tools = model.includes("tools");
  const messages = [{ role: "user", content: text }];
  switch (api) {
    case "chat":
      return {
        model,
        stream,
        messages,
        ...(stream ? { stream_options: { include_usage: true } } : {}),
        ...(tools
          ? { tools: [{ type: "function", function: { name: "weather", parameters: PARAMETERS } }] }
          : {}),
      };
    case "responses":
      return {
        model,
        stream,
        input: text,
        ...(tools
          ? { tools: [{ type: "function", name: "weather", parameters: PARAMETERS }] }
          : {}),
      };
    case "messages":
      return {
        model,
        stream,
        messages,
        max_tokens: 1000,
        ...(tools ? { tools: [{ name: "weather", input_schema: PARAMETERS }] } : {}),
      };
  }
}

/** Models of the simulator; true if the answer repeats the mark of the request. */
const MODELS: readonly (readonly [string, boolean])[] = [
  ["sim-echo", true],
  ["sim-transcript", true],
  ["sim-long-60", false],
  ["sim-tools", false],
];

/** Every client API over every provider type, whole and streamed, with each model in turn. */
export const INFERENCE_USES: readonly Use[] = TEXT_APIS.flatMap((api) =>
  [...TYPES, "native" as const].flatMap((provider) =>
    [false, true].map((stream) => ({
      name: `${api} over ${provider}, ${stream ? "stream" : "JSON"}`,
      async run(client: SoakClient) {
        const [model, isMarked] = MODELS[client.turn % MODELS.length] ??
          ["sim-echo", true];
        const body = textRequest(api, `${provider}/${model}`, question(client), stream);
        checkAnswer(client, api, await client.ok("POST", API_PATHS[api], body), { isMarked });
      },
    }))
  )
);

/** A text of a length that differs from use to use, with characters of several bytes. */
export function question({ mark, number }: SoakClient): string {
  return `Please repeat ${mark}: ${"größer – 東京 🚲 ".repeat(1 + number % 40)}end.`;
}

/** Answers that come another way than from the one target of a route. */
export const ROUTED_USES: readonly Use[] = [
  {
    name: "chat after a fallback from a refused connection",
    async run(client) {
      const body = textRequest("chat", FALLBACK_MODEL, question(client), client.number % 2 === 0);
      checkAnswer(client, "chat", await client.ok("POST", API_PATHS.chat, body));
    },
  },
  {
    name: "chat over all types in turn",
    async run(client) {
      const body = textRequest("chat", "sim-echo", question(client), true);
      checkAnswer(client, "chat", await client.ok("POST", API_PATHS.chat, body));
    },
  },
  {
    name: "chat from the cache",
    async run(client) {
      const body = textRequest("chat", "compat/sim-echo", question(client), false);
      const first = await client.ok("POST", API_PATHS.chat, body);
      checkAnswer(client, "chat", first);
      const second = await client.ok("POST", API_PATHS.chat, body);
      const isRepeated = JSON.stringify(second.json.choices) === JSON.stringify(first.json.choices);
      demand(isRepeated, `the cached answer differs: ${second.text.slice(0, 300)}`);
    },
  },
];
