import type { JsonObject } from "../../../src/core/json/json.ts";
import { MAX_CALLS } from "../../../src/core/stream/stream.ts";
import { mostWithin } from "./doubling.ts";
import { type AnswerShape, cited, MAX_GROWN_CALLS, THINK_TEXTS } from "./response_shape.ts";
import { outputText, responsesAnswer, responsesMessage, responsesStream, times } from "./spoken.ts";

function functionCall(at: number): JsonObject {
  return {
    id: `fc_${at}`,
    type: "function_call",
    status: "completed",
    call_id: `call_${at}`,
    name: "f",
    arguments: "{}",
  };
}

function messageDelta(delta: string): JsonObject {
  return {
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    delta,
    logprobs: [],
  };
}

const BEGUN: JsonObject = {
  type: "response.output_item.added",
  output_index: 0,
  item: responsesMessage([]),
};

/** Answers of a provider that speaks Responses. */
export const NATIVE_ANSWERS: readonly AnswerShape[] = [
  ...THINK_TEXTS.flatMap(({ name, text }) => [
    {
      name,
      stream: false,
      answer: (n: number) => responsesAnswer([responsesMessage([outputText(text(n))])]),
    },
    {
      name,
      stream: true,
      answer: (n: number) =>
        responsesStream([BEGUN, messageDelta(text(n))], [responsesMessage([outputText(text(n))])]),
    },
  ]),
  {
    name: "parts of a message",
    stream: false,
    most: MAX_GROWN_CALLS,
    answer: (n) => responsesAnswer([responsesMessage(times(n, () => outputText("a")))]),
  },
  {
    name: "messages",
    stream: false,
    // Each counts with its part.
    most: mostWithin(MAX_CALLS / 2),
    answer: (n) => responsesAnswer(times(n, () => responsesMessage([outputText("a")]))),
  },
  {
    name: "calls",
    stream: false,
    most: MAX_GROWN_CALLS,
    answer: (n) => responsesAnswer(times(n, functionCall)),
  },
  {
    name: "calls that are told at the end",
    stream: true,
    most: MAX_GROWN_CALLS,
    answer: (n) => responsesStream([], times(n, functionCall)),
  },
  {
    name: "calls that are told one by one",
    stream: true,
    most: MAX_GROWN_CALLS,
    answer: (n) =>
      responsesStream(
        times(n, (at) => ({
          type: "response.output_item.done",
          output_index: at,
          item: functionCall(at),
        })),
        times(n, functionCall),
      ),
  },
  {
    name: "citations",
    stream: false,
    answer: (n) => responsesAnswer([responsesMessage([outputText("a", times(n, cited))])]),
  },
  {
    name: "citations that are told one by one",
    stream: true,
    refusedBy: ["messages"],
    // The terminal event repeats them: a record may have 4 MiB.
    most: 5_000,
    answer: (n) =>
      responsesStream([
        BEGUN,
        ...times(n, (at) => ({
          type: "response.output_text.annotation.added",
          item_id: "msg_1",
          output_index: 0,
          content_index: 0,
          annotation_index: at,
          annotation: cited(at),
        })),
      ], [responsesMessage([outputText("", times(n, cited))])]),
  },
  {
    name: "log probabilities",
    stream: false,
    answer: (n) =>
      responsesAnswer([
        responsesMessage([{
          ...outputText("a".repeat(n)),
          logprobs: times(n, () => ({ token: "a", logprob: -1, bytes: [97], top_logprobs: [] })),
        }]),
      ]),
  },
  {
    name: "pieces of text",
    stream: true,
    answer: (n) =>
      responsesStream([BEGUN, ...times(n, () => messageDelta("a"))], [
        responsesMessage([outputText("a".repeat(n))]),
      ]),
  },
  {
    name: "pieces of arguments",
    stream: true,
    answer: (n) =>
      responsesStream([
        { type: "response.output_item.added", output_index: 0, item: functionCall(0) },
        ...times(n, () => ({
          type: "response.function_call_arguments.delta",
          item_id: "fc_0",
          output_index: 0,
          delta: " ",
        })),
      ], [{ ...functionCall(0), arguments: `${" ".repeat(n)}{}` }]),
  },
];
