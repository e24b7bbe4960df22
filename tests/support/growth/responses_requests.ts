import { sealThinking } from "../../../src/api/reasoning/sealed_thinking.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import type { GrowingCall } from "./doubling.ts";
import { growingCall, MAX_GROWN_MEMBERS, type ProviderName, PROVIDERS } from "./growing_gateway.ts";
import { json, shortAnswer, times } from "./spoken.ts";

/**
 * Responses fields with `n` things, and the providers that refuse them at the end of their work.
 */
interface ResponsesShape {
  readonly name: string;
  readonly fields: (n: number) => JsonObject;
  readonly refusedBy?: readonly ProviderName[];
}

const TRANSLATED = ["compat", "messages", "local"] as const;

function turn(role: string): JsonObject {
  const type = role === "assistant" ? "output_text" : "input_text";
  return { type: "message", role, content: [{ type, text: "Hi" }] };
}

function call(at: number): JsonObject {
  return { type: "function_call", call_id: `call_${at}`, name: "f", arguments: '{"a":1}' };
}

function result(at: number): JsonObject {
  return { type: "function_call_output", call_id: `call_${at}`, output: "1" };
}

function input(...items: readonly JsonObject[]): JsonObject {
  return { input: [...items] };
}

function reasoning(): JsonObject {
  return {
    type: "reasoning",
    id: "rs_1",
    summary: [],
    content: [{ type: "reasoning_text", text: "hm" }],
  };
}

const USER = turn("user");

const SHAPES: readonly ResponsesShape[] = [
  { name: "user items", fields: (n) => input(...times(n, () => USER)) },
  { name: "assistant items", fields: (n) => input(USER, ...times(n, () => turn("assistant"))) },
  {
    name: "items of alternating roles",
    fields: (n) => input(...times(n, (at) => turn(at % 2 === 0 ? "user" : "assistant"))),
  },
  {
    name: "calls and then their outputs",
    fields: (n) => {
      const half = Math.ceil(n / 2);
      return input(USER, ...times(half, call), ...times(half, result));
    },
  },
  {
    name: "calls with their outputs",
    fields: (n) => input(USER, ...times(Math.ceil(n / 2), (at) => [call(at), result(at)]).flat()),
  },
  {
    name: "calls without an output",
    fields: (n) => input(USER, ...times(n, call)),
    refusedBy: TRANSLATED,
  },
  {
    name: "reasoning items",
    fields: (n) => input(USER, ...times(n, reasoning), turn("assistant")),
  },
  {
    name: "sealed reasoning items",
    fields: (n) => {
      const block = { type: "thinking", thinking: "hm", signature: "s" };
      const sealed = { type: "reasoning", id: "rs_1", summary: [] };
      const item = { ...sealed, encrypted_content: sealThinking([block]) };
      return input(USER, ...times(n, () => item), turn("assistant"));
    },
  },
  {
    name: "references to items that are not there",
    fields: (n) => input(...times(n, (at) => ({ type: "item_reference", id: `msg_${at}` }))),
    refusedBy: TRANSLATED,
  },
  {
    name: "parts of an item",
    fields: (n) =>
      input({ role: "user", content: times(n, () => ({ type: "input_text", text: "a" })) }),
  },
  {
    name: "members of an item",
    fields: (n) => input({ ...USER, ...Object.fromEntries(times(n, (at) => [`x${at}`, null])) }),
  },
  {
    name: "tools",
    fields: (n) => ({
      ...input(USER),
      tools: times(n, (at) => ({
        type: "function",
        name: `f${at}`,
        parameters: { type: "object", properties: {} },
      })),
    }),
  },
  {
    name: "tools of a namespace",
    fields: (n) => ({
      ...input(USER),
      tools: [{
        type: "namespace",
        name: "space",
        tools: times(n, (at) => ({ type: "function", name: `f${at}` })),
      }],
    }),
  },
  {
    name: "items that declare a tool",
    fields: (n) =>
      input(
        ...times(n, (at) => ({
          type: "additional_tools",
          role: "developer",
          tools: [{ type: "function", name: `f${at}` }],
        })),
        USER,
      ),
  },
  {
    name: "hosted tools that are left out",
    fields: (n) => ({ ...input(USER), tools: times(n, () => ({ type: "web_search" })) }),
  },
  {
    name: "images of an output",
    fields: (n) => {
      const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0K" };
      return input(USER, call(0), { ...result(0), output: times(n, () => image) });
    },
  },
  {
    name: "members that are null",
    fields: (n) => ({ ...input(USER), ...Object.fromEntries(times(n, (at) => [`x${at}`, null])) }),
  },
  {
    name: "custom tools with a grammar",
    fields: (n) => {
      const format = { type: "grammar", syntax: "lark", definition: "start: /a/" };
      const tools = times(n, (at) => ({ type: "custom", name: `f${at}`, format }));
      return { ...input(USER), tools };
    },
  },
  {
    name: "calls of a custom tool with their outputs",
    fields: (n) => {
      const called = { type: "custom_tool_call", name: "run", input: "a\n" };
      const returned = { type: "custom_tool_call_output", output: "ok" };
      const turns = times(n, (at) => `c${at}`)
        .flatMap((call_id) => [{ ...called, call_id }, { ...returned, call_id }]);
      return { ...input(USER, ...turns), store: false };
    },
  },
];

const COUNTED: readonly (readonly [name: string, answer: JsonObject])[] = [
  ["compact", { object: "response.compaction", id: "comp_1", output: [] }],
  ["input_tokens", { object: "response.input_tokens", input_tokens: 1 }],
];

/** Requests for a response, and questions about one, in which one thing grows. */
export const RESPONSES_REQUESTS: readonly GrowingCall[] = [
  ...PROVIDERS.flatMap((provider) =>
    SHAPES.map(({ name, fields, refusedBy = [] }, at) => {
      const stream = at % 2 === 0;
      return growingCall(`responses over ${provider}: ${name}`, (n) => ({
        path: "/responses",
        body: JSON.stringify({ model: `${provider}/m`, stream, ...fields(n) }),
        answer: shortAnswer(provider, stream),
      }), { isRefused: refusedBy.includes(provider), most: MAX_GROWN_MEMBERS });
    })
  ),
  growingCall("responses: items that are none", (n) => ({
    path: "/responses",
    body: JSON.stringify({ model: "native/m", input: times(n, () => 1) }),
    answer: shortAnswer("native", false),
  }), { isRefused: true }),
  ...COUNTED.map(([name, answer]) =>
    growingCall(`responses/${name} over native: user items`, (n) => ({
      path: `/responses/${name}`,
      body: JSON.stringify({ model: "native/m", ...input(...times(n, () => USER)) }),
      answer: json(answer),
    }))
  ),
];
