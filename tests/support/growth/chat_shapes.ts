import type { JsonObject } from "../../../src/core/json/json.ts";
import { MAX_GROWN_MEMBERS, type ProviderName } from "./growing_gateway.ts";
import { times } from "./spoken.ts";

/** Chat fields with `n` things, and the providers that refuse them at the end of their work. */
export interface ChatShape {
  readonly name: string;
  readonly fields: (n: number) => JsonObject;
  readonly refusedBy?: readonly ProviderName[];
  readonly most?: number;
}

/** A message of a user. */
export const USER = { role: "user", content: "Hi" };

function call(at: number): JsonObject {
  return { id: `call_${at}`, type: "function", function: { name: "f", arguments: '{"a":1}' } };
}

function result(at: number): JsonObject {
  return { role: "tool", tool_call_id: `call_${at}`, content: "1" };
}

/** Returns the fields of a request with these messages. */
export function messages(...list: readonly JsonObject[]): JsonObject {
  return { messages: [...list] };
}

/** Returns members that ask for nothing. */
export function nulls(n: number): JsonObject {
  return Object.fromEntries(times(n, (at) => [`x${at}`, null]));
}

function properties(n: number): JsonObject {
  const entries = times(n, (at) => [`p${at}`, { type: "string" }]);
  return { type: "object", properties: Object.fromEntries(entries) };
}

function citation(at: number): JsonObject {
  const cited = { url: "http://a.test", title: "", start_index: at, end_index: at + 1 };
  return { type: "url_citation", url_citation: cited };
}

/** Requests that every type of provider is sent. */
export const CHAT_SHAPES: readonly ChatShape[] = [
  { name: "user messages", fields: (n) => messages(...times(n, () => USER)) },
  {
    name: "assistant messages",
    fields: (n) => messages(USER, ...times(n, () => ({ role: "assistant", content: "Hi" }))),
  },
  {
    name: "null members of a part that a client sends back",
    fields: (n) =>
      messages(USER, {
        role: "assistant",
        content: [{ type: "text", text: "Hi", ...nulls(n) }],
      }, USER),
  },
  {
    name: "system messages",
    fields: (n) => messages(...times(n, () => ({ role: "system", content: "Hi" })), USER),
  },
  {
    name: "developer messages",
    fields: (n) => messages(...times(n, () => ({ role: "developer", content: "Hi" })), USER),
  },
  {
    name: "messages of alternating roles",
    fields: (n) =>
      messages(...times(n, (at) => at % 2 === 0 ? USER : { role: "assistant", content: "Hi" })),
  },
  {
    name: "calls of one message and their results",
    fields: (n) =>
      messages(
        USER,
        { role: "assistant", content: null, tool_calls: times(n, call) },
        ...times(n, result),
      ),
  },
  {
    name: "messages with a call and its result",
    fields: (n) =>
      messages(
        USER,
        ...times(
          n,
          (at) => [{ role: "assistant", content: null, tool_calls: [call(at)] }, result(at)],
        )
          .flat(),
      ),
  },
  {
    name: "calls without a result between them, each with another id",
    fields: (n) =>
      messages(
        USER,
        ...times(n, (at) => ({ role: "assistant", content: null, tool_calls: [call(at)] })),
        ...times(n, result),
      ),
  },
  {
    name: "function calls, then their results",
    fields: (n) =>
      messages(
        USER,
        ...times(n, (at) => ({
          role: "assistant",
          content: null,
          function_call: { name: `f${at}`, arguments: "{}" },
        })),
        ...times(n, (at) => ({ role: "function", name: `f${at}`, content: "1" })),
      ),
  },
  {
    name: "messages with thinking",
    fields: (n) =>
      messages(
        USER,
        ...times(n, () => ({
          role: "assistant",
          content: "Hi",
          thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "s" }],
        })),
      ),
    refusedBy: ["local"],
  },
  {
    name: "messages with a reasoning text and a call, before the last question",
    fields: (n) =>
      messages(
        USER,
        ...times(n, (at) => [
          { role: "assistant", reasoning_content: "hm", tool_calls: [call(at)] },
          result(at),
        ]).flat(),
        USER,
      ),
  },
  {
    name: "parts of a user message",
    fields: (n) =>
      messages({ role: "user", content: times(n, () => ({ type: "text", text: "a" })) }),
  },
  {
    name: "parts of a system message",
    fields: (n) =>
      messages({ role: "system", content: times(n, () => ({ type: "text", text: "a" })) }, USER),
  },
  {
    name: "parts of an assistant message",
    fields: (n) =>
      messages(USER, { role: "assistant", content: times(n, () => ({ type: "text", text: "a" })) }),
  },
  {
    name: "parts that copy their message",
    fields: (n) => {
      const copy = { role: "assistant", refusal: null, annotations: [], tool_calls: [call(0)] };
      const parts = times(n, () => ({ type: "text", text: "a", reasoning_content: "", ...copy }));
      const asked = { role: "assistant", content: parts, tool_calls: [call(0)] };
      return messages(USER, asked, result(0));
    },
  },
  {
    name: "members of a parsed object",
    fields: (n) => {
      const parsed = Object.fromEntries(times(n, (at) => [`x${at}`, at]));
      return messages(USER, { role: "assistant", content: JSON.stringify(parsed), parsed }, USER);
    },
  },
  {
    name: "calls with parsed arguments",
    fields: (n) => {
      const parsed = { name: "f", arguments: '{"a":1}', parsed_arguments: { a: 1 } };
      const calls = times(n, (at) => ({ ...call(at), function: parsed }));
      return messages(USER, { role: "assistant", tool_calls: calls }, ...times(n, result));
    },
  },
  {
    name: "messages with citations",
    fields: (n) => {
      const cited = { role: "assistant", content: "Hi", annotations: [citation(0)] };
      return messages(USER, ...times(n, () => cited), USER);
    },
  },
  {
    name: "tools of earlier calls",
    fields: (n) => {
      const calls = times(n, (at) => ({
        ...call(at),
        function: { name: `f${at}`, arguments: "{}" },
      }));
      return messages(USER, { role: "assistant", tool_calls: calls }, ...times(n, result));
    },
  },
  {
    name: "parts and citations of an assistant message",
    fields: (n) =>
      messages(USER, {
        role: "assistant",
        content: times(n, () => ({ type: "text", text: "a" })),
        annotations: times(n, citation),
      }),
  },
  {
    name: "thinking blocks of a message",
    fields: (n) =>
      messages(USER, {
        role: "assistant",
        content: "Hi",
        thinking_blocks: times(n, () => ({ type: "thinking", thinking: "hm", signature: "s" })),
      }),
    refusedBy: ["local"],
  },
  {
    name: "members of a message",
    fields: (n) => messages({ ...USER, ...nulls(n) }),
  },
  {
    name: "tools",
    fields: (n) => ({
      ...messages(USER),
      tools: times(n, (at) => ({
        type: "function",
        function: { name: `f${at}`, parameters: { type: "object", properties: {} } },
      })),
    }),
  },
  {
    name: "functions",
    fields: (n) => ({ ...messages(USER), functions: times(n, (at) => ({ name: `f${at}` })) }),
  },
  {
    name: "properties of a tool",
    fields: (n) => ({
      ...messages(USER),
      tools: [{ type: "function", function: { name: "f", parameters: properties(n) } }],
    }),
  },
  {
    name: "members that are null",
    most: MAX_GROWN_MEMBERS,
    fields: (n) => ({ ...messages(USER), ...nulls(n) }),
  },
  {
    name: "unknown members",
    most: MAX_GROWN_MEMBERS,
    fields: (n) => ({
      ...messages(USER),
      ...Object.fromEntries(times(n, (at) => [`x${at}`, at])),
    }),
    refusedBy: ["native", "messages", "local"],
  },
  {
    name: "members of metadata",
    fields: (n) => ({
      ...messages(USER),
      metadata: Object.fromEntries(times(n, (at) => [`x${at}`, "a"])),
    }),
    refusedBy: ["messages", "local"],
  },
  {
    name: "stops",
    fields: (n) => ({ ...messages(USER), stop: times(n, (at) => `stop ${at}`) }),
    refusedBy: ["native"],
  },
  {
    name: "properties of a response format",
    fields: (n) => ({
      ...messages(USER),
      response_format: { type: "json_schema", json_schema: { name: "a", schema: properties(n) } },
    }),
    refusedBy: ["messages", "local"],
  },
  {
    name: "escapes in a text",
    fields: (n) => messages({ role: "user", content: '\n"\\'.repeat(n) }),
  },
];

/** Malformed messages, which are refused before a provider is chosen. */
export const REFUSED_CHAT_SHAPES: readonly ChatShape[] = [
  {
    name: "messages without a role",
    fields: (n) => messages(...times(n, () => ({ content: "a" }))),
  },
  {
    name: "malformed tools",
    fields: (n) => ({ ...messages(USER), tools: times(n, () => ({ type: 1 })) }),
  },
];
