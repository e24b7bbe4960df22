import type { JsonObject } from "../../../src/core/json/json.ts";
import { type Format, readAnswer } from "../answers/read.ts";
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

/**
 * Functions of the requests to models with tools; the simulator calls them with the first value.
 */
const FUNCTIONS: readonly string[] = ["weather", "clock"];

function parametersOf(text: string): JsonObject {
  const properties = { city: { enum: [text] }, days: { type: "integer", minimum: 3 } };
  return { type: "object", properties, required: ["city", "days"] };
}

/** Returns a request of a client API with this text. */
export function textRequest(
  api: TextApi,
  model: string,
  text: string,
  stream: boolean,
): JsonObject {
  const parameters = parametersOf(text);
  const names = model.includes("tools") ? FUNCTIONS : [];
  const withTools = (tools: JsonObject[]): JsonObject => tools.length === 0 ? {} : { tools };
  const messages = [{ role: "user", content: text }];
  switch (api) {
    case "chat":
      return {
        model,
        stream,
        messages,
        ...(stream ? { stream_options: { include_usage: true } } : {}),
        ...withTools(
          names.map((name) => ({ type: "function", function: { name, parameters } })),
        ),
      };
    case "responses":
      return {
        model,
        stream,
        input: text,
        ...withTools(names.map((name) => ({ type: "function", name, parameters }))),
      };
    case "messages":
      return {
        model,
        stream,
        messages,
        max_tokens: 1000,
        ...withTools(names.map((name) => ({ name, input_schema: parameters }))),
      };
  }
}

/** Models of the simulator; true if the answer repeats the mark of the request. */
const MODELS: readonly (readonly [string, boolean])[] = [
  ["sim-echo", true],
  ["sim-transcript", true],
  ["sim-long-60", false],
  ["sim-tools-parallel", true],
  ["sim-think", true],
  ["sim-think-tools", true],
  ["sim-length", false],
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
  ...["compat", "native"].flatMap((provider) =>
    [false, true].map((stream) => ({
      name: `three choices of chat over ${provider}, ${stream ? "stream" : "JSON"}`,
      async run(client: SoakClient) {
        // Each choice has other IDs of its calls.
        const model = `${provider}/sim-${client.turn % 2 === 0 ? "think-tools" : "transcript"}`;
        const body = { ...textRequest("chat", model, question(client), stream), n: 3 };
        const received = await client.ok("POST", API_PATHS.chat, body);
        checkAnswer(client, "chat", received);
        const { furtherChoices } = readAnswer("chat", received.type, received.text);
        demand(furtherChoices.length === 2, `there are ${furtherChoices.length} further choices`);
      },
    }))
  ),
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
