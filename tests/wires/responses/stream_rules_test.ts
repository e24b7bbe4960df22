import { assertFailed } from "../../support/translated.ts";
import { decodeStream, streamOf } from "./encoded_request.ts";
import {
  added,
  argued,
  BEGUN,
  CALL,
  created,
  done,
  ended,
  LABELS,
  MESSAGE,
  message,
  textDelta,
  WHOLE,
} from "./events.ts";

const CUSTOM = { type: "custom_tool_call", call_id: "c1", name: "g", input: "" };
const TOKEN = { token: "a", logprob: -1 };

/** Streams that each violate one rule of the protocol. */
const BROKEN: Readonly<Record<string, string>> = {
  "a record that is no JSON": "data: {\n\n",
  "a record that is no object": "data: []\n\n",
  "a record without a type": 'data: {"sequence_number":0}\n\n',
  "a name that is not the type": streamOf(WHOLE).replace("event: response.created", "event: other"),
  "no sequence number": streamOf([{ ...created(), sequence_number: null }]),
  "a negative number": streamOf([{ ...created(), sequence_number: -1 }]),
  "a number with a fraction": streamOf([{ ...created(), sequence_number: 0.5 }]),
  "a number twice": streamOf([created(), { ...added(0, MESSAGE), sequence_number: 0 }]),
  "no response at its beginning": streamOf([{ type: "response.created" }]),
  "a response without an id": streamOf([created({ id: "" })]),
  "a response with a space in its id": streamOf([created({ id: " a" })]),
  "another response in progress": streamOf([
    created(),
    { type: "response.in_progress", response: { ...LABELS, id: "resp_2" } },
  ]),
  "another response at its end": streamOf([...BEGUN, ended("completed", { id: "resp_2" })]),
  "an item without its place": streamOf([created(), { ...added(0, MESSAGE), output_index: null }]),
  "an item that is none": streamOf([created(), { ...added(0, MESSAGE), item: null }]),
  "an item that Chat has no place for": streamOf([created(), added(0, { type: "mcp_call" })]),
  "a call without its id": streamOf([created(), added(0, { ...CALL, call_id: null })]),
  "a call without its name": streamOf([created(), added(0, { ...CALL, name: "" })]),
  "an item that becomes another one": streamOf([...BEGUN, done(0, CALL)]),
  "a call that becomes another one": streamOf([
    created(),
    added(0, CALL),
    done(0, { ...CALL, call_id: "c2" }),
  ]),
  "text without an item": streamOf([created(), textDelta("a")]),
  "text of a call": streamOf([created(), added(0, CALL), textDelta("a")]),
  "text that is none": streamOf([...BEGUN, textDelta(1)]),
  "text without its place": streamOf([...BEGUN, { ...textDelta("a"), content_index: null }]),
  "text of an item that is whole": streamOf([...BEGUN, done(0, message("a")), textDelta("b")]),
  "text of a part before the last": streamOf([
    ...BEGUN,
    textDelta("a", 0, 1),
    textDelta("b", 0, 0),
  ]),
  "text of an item before the last": streamOf([
    ...BEGUN,
    added(1, MESSAGE),
    textDelta("a", 1),
    textDelta("b", 0),
  ]),
  "a text that is shorter than its pieces": streamOf([
    ...BEGUN,
    textDelta("ab"),
    done(0, message("a")),
  ]),
  "arguments without a call": streamOf([...BEGUN, argued("a")]),
  "arguments of nothing": streamOf([created(), argued("a")]),
  "arguments that are no text": streamOf([created(), added(0, CALL), argued({})]),
  "arguments that are shorter than their pieces": streamOf([
    created(),
    added(0, CALL),
    argued('{"a":1}'),
    done(0, CALL),
  ]),
  "arguments of a call that is whole": streamOf([created(), done(0, CALL), argued("a")]),
  "input of a custom tool for a function": streamOf([
    created(),
    added(0, CALL),
    { type: "response.custom_tool_call_input.delta", output_index: 0, delta: "a" },
  ]),
  "arguments for a custom tool": streamOf([created(), added(0, CUSTOM), argued("a")]),
  "input that is no text": streamOf([
    created(),
    added(0, CUSTOM),
    { type: "response.custom_tool_call_input.done", output_index: 0, input: null },
  ]),
  "text of a search": streamOf([created(), added(0, { type: "web_search_call" }), textDelta("a")]),
  "log probabilities that are none": streamOf([...BEGUN, { ...textDelta("a"), logprobs: [{}] }]),
  "log probabilities of a part before the last": streamOf([
    ...BEGUN,
    { ...textDelta("a", 0, 0), logprobs: [TOKEN] },
    { ...textDelta("b", 0, 1), logprobs: [TOKEN] },
    { ...textDelta("", 0, 0), logprobs: [TOKEN] },
  ]),
  "a moderation that is unknown": streamOf([
    ...WHOLE.slice(0, -1),
    ended("completed", {
      moderation: { input: {}, output: {} },
    }),
  ]),
  "a response of another type": streamOf([created({ object: "chat.completion" })]),
  "an annotation of nothing": streamOf([
    created(),
    { type: "response.output_text.annotation.added", output_index: 0, content_index: 0 },
  ]),
  "a message without content": streamOf([...BEGUN, done(0, MESSAGE)]),
  "a part that has no place": streamOf([
    ...BEGUN,
    done(0, { ...MESSAGE, content: [{ type: "audio" }] }),
  ]),
  "a terminal without its response": streamOf([...BEGUN, { type: "response.completed" }]),
  "a terminal of another status": streamOf([
    { ...ended("incomplete"), type: "response.completed" },
  ]),
  "a terminal that was cancelled": streamOf([...BEGUN, ended("cancelled")]),
  "a terminal with an unknown reason": streamOf([
    ended("incomplete", { incomplete_details: { reason: "steered" } }),
  ]),
  "a terminal without a reason": streamOf([ended("incomplete")]),
  "a completed response with an open item": streamOf([...BEGUN, textDelta("a"), ended()]),
  "an end without a terminal": streamOf(WHOLE.slice(0, -1)),
  "[DONE] without a terminal": `${streamOf(WHOLE.slice(0, -1))}data: [DONE]\n\n`,
  "nothing at all": "",
};

for (const [name, text] of Object.entries(BROKEN)) {
  Deno.test(`a stream that violates the protocol is a failure: ${name}`, () => {
    assertFailed(decodeStream(text), "invalid_upstream_response");
  });
}

Deno.test("a stream truncated at any position is never complete", () => {
  const text = streamOf(WHOLE);
  for (let end = 0; end < text.length - 1; end++) {
    assertFailed(decodeStream(text.slice(0, end)), "invalid_upstream_response");
  }
});
