import { sealThinking } from "../../../src/api/reasoning/sealed_thinking.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import type { GrowingCall } from "./doubling.ts";
import {
  growingCall,
  growingConfig,
  MAX_GROWN_MEMBERS,
  type ProviderName,
} from "./growing_gateway.ts";
import { shortAnswer, times } from "./spoken.ts";

/** Fields of a Messages request with `n` things, and the providers that refuse them at the end. */
interface MessagesShape {
  readonly name: string;
  readonly fields: (n: number) => JsonObject;
  readonly refusedBy?: readonly ProviderName[];
  readonly most?: number;
}

const TRANSLATED = ["compat", "native", "local"] as const;

const USER = { role: "user", content: "Hi" };
const TURN = { role: "assistant", content: "Hi" };

function text(): JsonObject {
  return { type: "text", text: "a" };
}

function call(at: number): JsonObject {
  return { type: "tool_use", id: `call_${at}`, name: "f", input: { a: 1 } };
}

function result(at: number, content: string | JsonObject[] = "1"): JsonObject {
  return { type: "tool_result", tool_use_id: `call_${at}`, content };
}

function messages(...list: readonly JsonObject[]): JsonObject {
  return { messages: [...list] };
}

function content(n: number, make: (at: number) => JsonObject): JsonObject {
  return messages({ role: "user", content: times(n, make) });
}

/** A call whose result has this content. */
function answered(given: JsonObject[]): JsonObject {
  return messages(
    USER,
    { role: "assistant", content: [call(0)] },
    { role: "user", content: [result(0, given)] },
  );
}

function image(): JsonObject {
  return { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
}

function tool(at: number): JsonObject {
  return { name: `f${at}`, input_schema: { type: "object", properties: {} } };
}

function thinking(): JsonObject {
  const signature = sealThinking([{ type: "thinking", thinking: "hm" }]);
  return { type: "thinking", thinking: "", signature };
}

function document(texts: JsonObject[]): JsonObject {
  return { type: "document", source: { type: "content", content: texts } };
}

const SHAPES: readonly MessagesShape[] = [
  { name: "user messages", fields: (n) => messages(...times(n, () => USER)) },
  {
    name: "messages of alternating roles",
    fields: (n) => messages(...times(n, (at) => at % 2 === 0 ? USER : TURN), USER),
  },
  {
    name: "system messages",
    fields: (n) =>
      messages(
        USER,
        ...times(n, () => ({ role: "system", content: "S", output_config: { effort: "low" } })),
      ),
  },
  {
    name: "system messages before the first user message",
    fields: (n) => messages(...times(n, () => ({ role: "system", content: "S" })), USER),
  },
  { name: "system blocks", fields: (n) => ({ ...messages(USER), system: times(n, text) }) },
  {
    name: "lines of a system text",
    fields: (n) => ({ ...messages(USER), system: "x-anthropic-billing-heade\n".repeat(n) }),
  },
  { name: "text blocks", fields: (n) => content(n, text) },
  { name: "images", fields: (n) => content(n, image) },
  { name: "documents", fields: (n) => content(n, () => document([text()])) },
  { name: "texts of a document", fields: (n) => content(1, () => document(times(n, text))) },
  {
    name: "calls of one message and their results",
    fields: (n) =>
      messages(
        USER,
        { role: "assistant", content: times(n, call) },
        { role: "user", content: times(n, (at) => result(at)) },
      ),
  },
  {
    name: "calls of one message and their results in the other order",
    fields: (n) =>
      messages(
        USER,
        { role: "assistant", content: times(n, call) },
        { role: "user", content: times(n, (at) => result(at)).toReversed() },
      ),
  },
  {
    name: "messages with a call and its result",
    fields: (n) =>
      messages(
        USER,
        ...times(n, (at) => [
          { role: "assistant", content: [call(at)] },
          { role: "user", content: [result(at)] },
        ]).flat(),
      ),
  },
  {
    name: "calls without results",
    fields: (n) => messages(USER, { role: "assistant", content: times(n, call) }, USER),
    refusedBy: TRANSLATED,
  },
  { name: "texts of a result", fields: (n) => answered(times(n, text)) },
  { name: "images of a result", fields: (n) => answered(times(n, image)) },
  {
    name: "references of a result to deferred tools",
    fields: (n) => ({
      ...answered(times(n, (at) => ({ type: "tool_reference", tool_name: `f${at}` }))),
      tools: times(n, (at) => ({ ...tool(at), defer_loading: true })),
    }),
  },
  {
    name: "sealed thinking blocks",
    fields: (n) => messages(USER, { role: "assistant", content: times(n, thinking) }, USER),
  },
  {
    name: "redacted thinking blocks",
    fields: (n) =>
      messages(
        USER,
        { role: "assistant", content: times(n, () => ({ type: "redacted_thinking", data: "x" })) },
        USER,
      ),
  },
  { name: "tools", fields: (n) => ({ ...messages(USER), tools: times(n, tool) }) },
  {
    name: "tools with long names",
    fields: (n) => ({
      ...messages(USER),
      tools: times(n, (at) => ({ ...tool(at), name: `${"long_".repeat(20)}${at}` })),
    }),
  },
  {
    name: "members of a call's input",
    fields: (n) => {
      const input = Object.fromEntries(times(n, (at) => [`p${at}`, 1.5]));
      return messages(
        USER,
        { role: "assistant", content: [{ ...call(0), input }] },
        { role: "user", content: [result(0)] },
      );
    },
  },
  {
    name: "members that are null",
    most: MAX_GROWN_MEMBERS,
    fields: (n) => ({
      ...messages({ ...USER, ...Object.fromEntries(times(n, (at) => [`x${at}`, null])) }),
      ...Object.fromEntries(times(n, (at) => [`x${at}`, null])),
    }),
  },
  {
    name: "edits of the context",
    fields: (n) => ({
      ...messages(USER),
      context_management: {
        edits: times(n, () => ({ type: "clear_thinking_20251015", keep: "all" })),
      },
    }),
  },
];

/** Messages requests in which one thing grows, for every protocol to which they are translated. */
export const MESSAGES_REQUESTS: readonly GrowingCall[] = [
  ...TRANSLATED.flatMap((provider) =>
    SHAPES.map(({ name, fields, refusedBy = [], most }, at) => {
      const stream = at % 2 === 0;
      return growingCall(`messages over ${provider}: ${name}`, (n) => ({
        path: "/messages",
        body: JSON.stringify({ model: `${provider}/m`, max_tokens: 100, stream, ...fields(n) }),
        answer: shortAnswer(provider, stream),
      }), { isRefused: refusedBy.includes(provider), most });
    })
  ),
  ...["messages of alternating roles", "system messages"].map((name, at) =>
    growingCall(`chat with leading system messages: ${name}`, (n) => ({
      path: "/chat/completions",
      body: JSON.stringify({
        model: "compat/m",
        messages: [
          USER,
          ...times(
            n,
            (index) => at === 1 || index % 2 === 0 ? { role: "system", content: "S" } : USER,
          ),
        ],
      }),
      answer: shortAnswer("compat", false),
    }), {
      config: growingConfig().replace(
        "normalize_developer_role: true",
        "normalize_developer_role: true\n    system_messages: leading",
      ),
    })
  ),
];
