import type { JsonObject } from "../../../src/core/json/json.ts";
import { type AnswerShape, MAX_GROWN_CALLS, THINK_TEXTS } from "./response_shape.ts";
import { block, messagesAnswer, messagesStream, times } from "./spoken.ts";

function toolUse(at: number): JsonObject {
  return { type: "tool_use", id: `call_${at}`, name: "f", input: { a: 1 } };
}

/** Answers of a messages provider. */
export const MESSAGES_ANSWERS: readonly AnswerShape[] = [
  ...THINK_TEXTS.flatMap(({ name, text }) => [
    {
      name,
      stream: false,
      answer: (n: number) => messagesAnswer([{ type: "text", text: text(n) }]),
    },
    {
      name,
      stream: true,
      answer: (n: number) => messagesStream(block(0, { type: "text", text: text(n) }, [])),
    },
  ]),
  {
    name: "text blocks",
    stream: false,
    most: MAX_GROWN_CALLS,
    answer: (n) => messagesAnswer(times(n, () => ({ type: "text", text: "a" }))),
  },
  {
    name: "thinking blocks",
    stream: false,
    most: MAX_GROWN_CALLS,
    answer: (n) =>
      messagesAnswer([
        ...times(n, () => ({ type: "thinking", thinking: "a", signature: "s" })),
        { type: "text", text: "a" },
      ]),
  },
  {
    name: "calls",
    stream: false,
    most: MAX_GROWN_CALLS,
    refusedBy: ["responses"],
    answer: (n) => messagesAnswer(times(n, toolUse), "tool_use"),
  },
  {
    name: "calls",
    stream: true,
    most: MAX_GROWN_CALLS,
    refusedBy: ["responses"],
    answer: (n) => messagesStream(times(n, (at) => block(at, toolUse(at), [])).flat(), "tool_use"),
  },
  {
    name: "calls that stay open",
    stream: true,
    most: MAX_GROWN_CALLS,
    refusedBy: ["responses"],
    answer: (n) =>
      messagesStream(
        times(n, (at) => block(at, toolUse(at), []).slice(0, 1)).flat(),
        "tool_use",
      ),
  },
  {
    name: "pieces of arguments",
    stream: true,
    answer: (n) => {
      const pieces = ["[", ...times(n, () => "1,"), "1]"];
      const texts = ['{"a":', ...pieces, "}"];
      return messagesStream(
        block(
          0,
          toolUse(0),
          texts.map((partial_json) => ({ type: "input_json_delta", partial_json })),
        ),
        "tool_use",
      );
    },
  },
  {
    name: "pieces of text",
    stream: true,
    answer: (n) =>
      messagesStream(
        block(0, { type: "text", text: "" }, times(n, () => ({ type: "text_delta", text: "a" }))),
      ),
  },
  {
    name: "pieces of thinking",
    stream: true,
    answer: (n) =>
      messagesStream(
        block(0, { type: "thinking", thinking: "" }, [
          ...times(n, () => ({ type: "thinking_delta", thinking: "a" })),
          { type: "signature_delta", signature: "s" },
        ]),
      ),
  },
  {
    name: "citations",
    stream: true,
    answer: (n) =>
      messagesStream(
        block(
          0,
          { type: "text", text: "a" },
          times(n, (at) => ({
            type: "citations_delta",
            citation: { url: `http://a.test/${at}`, title: "" },
          })),
        ),
      ),
  },
  {
    name: "usage members, each in a record of its own",
    stream: true,
    answer: (n) =>
      messagesStream([
        ...block(0, { type: "text", text: "a" }, []),
        ...times(n, (at) => ({ type: "message_delta", delta: {}, usage: { [`x${at}`]: at } })),
      ]),
  },
  {
    name: "pings",
    stream: true,
    answer: (n) =>
      messagesStream([
        ...block(0, { type: "text", text: "a" }, []),
        ...times(n, () => ({ type: "ping" })),
      ]),
  },
];
