import type { JsonObject } from "../../../src/core/json/json.ts";
import { type AnswerShape, MAX_GROWN_CALLS, THINK_TEXTS } from "./response_shape.ts";
import { localAnswer, localStream, times } from "./spoken.ts";

const LOCAL_CALL: JsonObject = { function: { name: "f", arguments: { a: 1 } } };

/** Answers of a local runtime. */
export const LOCAL_ANSWERS: readonly AnswerShape[] = [
  ...THINK_TEXTS.flatMap(({ name, text }) => [
    { name, stream: false, answer: (n: number) => localAnswer({ content: text(n) }) },
    { name, stream: true, answer: (n: number) => localStream([{ content: text(n) }]) },
  ]),
  {
    name: "calls",
    stream: false,
    most: MAX_GROWN_CALLS,
    refusedBy: ["responses"],
    answer: (n) => localAnswer({ tool_calls: times(n, () => LOCAL_CALL) }),
  },
  {
    name: "calls in one line",
    stream: true,
    most: MAX_GROWN_CALLS,
    refusedBy: ["responses"],
    answer: (n) => localStream([{ tool_calls: times(n, () => LOCAL_CALL) }]),
  },
  {
    name: "calls in lines of their own",
    stream: true,
    most: MAX_GROWN_CALLS,
    refusedBy: ["responses"],
    answer: (n) => localStream(times(n, () => ({ tool_calls: [LOCAL_CALL] }))),
  },
  {
    name: "pieces of text",
    stream: true,
    answer: (n) => localStream(times(n, () => ({ content: "a" }))),
  },
  {
    name: "blank lines",
    stream: true,
    answer: (n) => {
      const { body } = localStream([{ content: "a" }]);
      return { body: body.replace("\n", `\n${"\n".repeat(n)}`) };
    },
  },
];
