import { sealThinking } from "../../../src/api/reasoning/sealed_thinking.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import type { GrowingCall } from "./doubling.ts";
import { type GrowingAnswer, growingCall } from "./growing_gateway.ts";
import { block, messagesAnswer, messagesStream, times } from "./spoken.ts";

const SEALED = {
  type: "thinking",
  thinking: "hm",
  signature: sealThinking([{ type: "reasoning", text: "hm" }]),
};
const TEXT = { type: "text", text: "Hi" };

function assistant(...content: readonly JsonObject[]): JsonObject {
  return { role: "assistant", content: [...content] };
}

/** Messages with `n` things in them. */
const REQUESTS: readonly (readonly [name: string, messages: (n: number) => JsonObject[]])[] = [
  ["messages", (n) => times(n, () => ({ role: "user", content: "Hi" }))],
  ["sealed blocks of one message", (n) => [assistant(TEXT, ...times(n, () => SEALED))]],
  [
    "sealed blocks between other ones",
    (n) => [assistant(...times(n, () => [SEALED, TEXT]).flat())],
  ],
  ["messages with sealed blocks", (n) => times(n, () => assistant(SEALED, TEXT))],
  ["messages of sealed blocks alone", (n) => times(n, () => assistant(SEALED))],
];

const ANSWERS: readonly (readonly [name: string, answer: (n: number) => GrowingAnswer])[] = [
  ["pieces of text", (n) =>
    messagesStream(
      block(0, { type: "text", text: "" }, times(n, () => ({ type: "text_delta", text: "a" }))),
    )],
  ["records of usage", (n) =>
    messagesStream([
      ...block(0, TEXT, []),
      ...times(n, (at) => ({ type: "message_delta", delta: {}, usage: { [`x${at}`]: at } })),
    ])],
  [
    "unknown events",
    (n) => messagesStream([...block(0, TEXT, []), ...times(n, (at) => ({ type: `later_${at}` }))]),
  ],
];

/**
 * Calls of the Messages API that are passed on to a messages provider, in which one thing grows.
 */
export const RELAYED_MESSAGES: readonly GrowingCall[] = [
  ...REQUESTS.map(([name, messages]) =>
    growingCall(`messages over messages: ${name}`, (n) => ({
      path: "/messages",
      body: JSON.stringify({ model: "messages/m", max_tokens: 9, messages: messages(n) }),
      answer: messagesAnswer([TEXT]),
    }))
  ),
  ...ANSWERS.map(([name, answer]) =>
    growingCall(`messages over messages: ${name}`, (n) => ({
      path: "/messages",
      body: JSON.stringify({ model: "messages/m", stream: true, messages: [] }),
      answer: answer(n),
    }))
  ),
];
