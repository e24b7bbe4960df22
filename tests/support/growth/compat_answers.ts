import type { JsonObject } from "../../../src/core/json/json.ts";
import {
  type AnswerShape,
  cited,
  MAX_GROWN_CALLS,
  MAX_GROWN_CHOICES,
  THINK_TEXTS,
} from "./response_shape.ts";
import { chunk, compatAnswer, compatStream, json, times } from "./spoken.ts";

function compatCall(at: number): JsonObject {
  return { id: `call_${at}`, type: "function", function: { name: "f", arguments: '{"a":1}' } };
}

function objectCall(at: number): JsonObject {
  return { id: `call_${at}`, type: "function", function: { name: "f", arguments: { a: 1 } } };
}

/** Answers of a compat provider. */
export const COMPAT_ANSWERS: readonly AnswerShape[] = [
  ...THINK_TEXTS.flatMap(({ name, text }) => [
    { name, stream: false, answer: (n: number) => compatAnswer({ content: text(n) }) },
    { name, stream: true, answer: (n: number) => compatStream([chunk({ content: text(n) })]) },
  ]),
  {
    name: "choices with a think region",
    stream: false,
    most: MAX_GROWN_CHOICES,
    only: "chat",
    answer: (n) =>
      json({
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: times(n, (index) => ({
          index,
          message: { role: "assistant", content: "<think>a</think>b" },
          finish_reason: "stop",
        })),
      }),
  },
  {
    name: "choices with a think region in one chunk",
    stream: true,
    most: MAX_GROWN_CHOICES,
    only: "chat",
    answer: (n) =>
      compatStream([{
        ...chunk({}),
        choices: times(n, (index) => ({
          index,
          delta: { content: "<think>a</think>b" },
          finish_reason: "stop",
        })),
      }]),
  },
  {
    name: "calls",
    stream: false,
    most: MAX_GROWN_CALLS,
    refusedBy: ["responses"],
    answer: (n) => compatAnswer({ tool_calls: times(n, compatCall) }, "tool_calls"),
  },
  {
    name: "calls whose arguments are objects",
    stream: false,
    most: MAX_GROWN_CALLS,
    refusedBy: ["responses"],
    answer: (n) => compatAnswer({ tool_calls: times(n, objectCall) }, "tool_calls"),
  },
  {
    name: "calls whose arguments are objects in one chunk",
    stream: true,
    most: MAX_GROWN_CALLS,
    refusedBy: ["responses"],
    answer: (n) => compatStream([chunk({ tool_calls: times(n, objectCall) })], "tool_calls"),
  },
  {
    name: "calls in chunks of their own",
    stream: true,
    most: MAX_GROWN_CALLS,
    refusedBy: ["responses"],
    answer: (n) =>
      compatStream(times(n, (at) => chunk({ tool_calls: [compatCall(at)] })), "tool_calls"),
  },
  ...[true, false].map((stream): AnswerShape => ({
    name: "calls without an id",
    stream,
    most: MAX_GROWN_CALLS,
    refusedBy: ["responses"],
    answer(n) {
      const tool_calls = times(n, () => ({ function: { name: "f", arguments: "{}" } }));
      return stream
        ? compatStream([chunk({ tool_calls })], "tool_calls")
        : compatAnswer({ tool_calls }, "tool_calls");
    },
  })),
  {
    name: "choices, and chunks with a call whose id comes late",
    stream: true,
    most: MAX_GROWN_CHOICES,
    only: "chat",
    answer: (n) => {
      const choices = times(n, (index) => ({ index, delta: { tool_calls: [compatCall(0)] } }));
      return compatStream([
        { ...chunk({}), choices },
        ...times(n, (index) => ({
          ...chunk({}),
          choices: [{ index, delta: { tool_calls: [{ index: 1, function: { name: "g" } }] } }],
        })),
        { ...chunk({}), choices: times(n, (index) => ({ index, finish_reason: "tool_calls" })) },
      ], "tool_calls");
    },
  },
  {
    name: "pieces of arguments",
    stream: true,
    refusedBy: ["messages"],
    answer: (n) =>
      compatStream([
        chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "[" } }] }),
        ...times(n, () => chunk({ tool_calls: [{ index: 0, function: { arguments: "1," } }] })),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "1]" } }] }),
      ], "tool_calls"),
  },
  {
    name: "pieces of text",
    stream: true,
    answer: (n) => compatStream(times(n, () => chunk({ content: "a" }))),
  },
  {
    name: "pieces of text and of reasoning in turn",
    stream: true,
    // Each is an item with a part, of which Responses takes 16,384.
    most: 2_000,
    answer: (n) =>
      compatStream(
        times(n, (at) => chunk(at % 2 === 0 ? { content: "a" } : { reasoning_content: "b" })),
      ),
  },
  {
    name: "chunks with a usage",
    stream: true,
    answer: (n) =>
      compatStream(times(n, (at) => ({
        ...chunk({ content: "a" }),
        usage: { prompt_tokens: at, completion_tokens: at },
      }))),
  },
  {
    name: "comments between two chunks",
    stream: true,
    answer: (n) => {
      const { body } = compatStream([chunk({ content: "a" })]);
      return { body: body.replace("data: [DONE]", `${": a\n\n".repeat(n)}data: [DONE]`) };
    },
  },
  {
    name: "data lines of one record",
    stream: true,
    answer: (n) => {
      const { body } = compatStream([chunk({ content: "a" })]);
      return {
        body: body.replace(
          "data: [DONE]",
          `data: {"choices":\n${"data: \n".repeat(n)}data: []}\n\ndata: [DONE]`,
        ),
      };
    },
  },
  {
    name: "bytes of a record that come one by one",
    stream: true,
    answer: (n) => ({ ...compatStream([chunk({ content: "a".repeat(n) })]), readSize: 1 }),
  },
  {
    name: "annotations",
    stream: false,
    answer: (n) =>
      compatAnswer({
        content: "a",
        annotations: times(n, (at) => ({ type: "url_citation", url_citation: cited(at) })),
      }),
  },
];
