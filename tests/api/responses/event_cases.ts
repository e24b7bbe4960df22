import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { call, finish, USAGE } from "./encoded.ts";

/** A piece of text. */
export function text(delta: string): StreamEvent {
  return { type: "text", delta };
}

/** A piece of a refusal. */
export function refusal(delta: string): StreamEvent {
  return { type: "refusal", delta };
}

/** A piece of a thought. */
export function reasoning(delta: string): StreamEvent {
  return { type: "reasoning", delta };
}

/** The end of a thinking block with its signature. */
export function signed(thinking: string): StreamEvent {
  return { type: "thinking_block", value: { type: "thinking", thinking, signature: "s" } };
}

/** A citation from one place in the answer to another. */
export function cited(start_index: number, end_index: number): StreamEvent {
  const url_citation = { url: "http://a.test", title: "A", start_index, end_index };
  return { type: "annotation", value: { type: "url_citation", url_citation } };
}

/** A piece of the arguments of a call. */
export function more(index: number, delta: string): StreamEvent {
  return { type: "tool_arguments", index, delta };
}

const START: StreamEvent = { type: "start", id: "chatcmpl-1", model: "told", created: 3 };

/** Events of a model, each under the name of the golden file with the client's events. */
export const CASES: Readonly<Record<string, readonly StreamEvent[]>> = {
  text: [START, text("Hel"), text("lo"), cited(0, 5), { type: "usage", usage: USAGE }, finish()],
  refusal_behind_text: [text("Well"), refusal("No"), refusal("!"), finish("content_filter")],
  reasoning: [reasoning("Hm"), reasoning("m"), text("Yes"), finish()],
  thinking_signed: [
    reasoning("A"),
    signed("A"),
    reasoning("B"),
    signed("B"),
    ...call(0, "f", "{}"),
    finish("tool_calls"),
  ],
  thinking_redacted: [
    { type: "thinking_block", value: { type: "redacted_thinking", data: "x" } },
    text("Ok"),
    finish(),
  ],
  calls_in_turn: [
    text("Both"),
    ...call(0, "f", '{"a":'),
    more(0, "1}"),
    ...call(1, "g", '{"b":2}'),
    finish("tool_calls"),
  ],
  calls_interleaved: [
    ...call(0, "f", null),
    ...call(1, "g", null),
    more(1, '{"b"'),
    more(0, '{"a":'),
    more(0, "1}"),
    more(1, ":2}"),
    finish("tool_calls"),
  ],
  text_behind_an_open_call: [
    ...call(0, "f", '{"a":"}'),
    text("Late"),
    reasoning("Later"),
    more(0, '"}'),
    finish("tool_calls"),
  ],
  call_cut_by_length: [...call(0, "f", '{"a'), ...call(1, "g", '{"b'), finish("length")],
  length: [text("cut"), finish("length")],
  no_output: [finish()],
  no_output_at_length: [finish("length")],
};
