import fc from "fast-check";
import type { StreamRecord } from "../../src/core/stream/reply.ts";
import { finishDocument } from "../../src/privacy/finish.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { answerOf, anySizes, anyWords, CORES, cut, VALUES, type Word } from "./answer_cases.ts";
import { DONE, eventOf, joined, PLAIN, run } from "./stream_cases.ts";

const sentOf = (words: readonly Word[]) => words.map(({ sent }) => sent).join("");
const receivedOf = (words: readonly Word[]) => words.map(({ received }) => received).join("");
const TOKEN = `${CORES.mail}email`, VALUE = "bob.miller@example.com";

/** Mixes lists so that the order in each stays; `turns` say from which list the next one is. */
function mixed<Value>(lists: readonly (readonly Value[])[], turns: readonly number[]): Value[] {
  const left = lists.map((list) => [...list]);
  const all: Value[] = [];
  for (let at = 0; left.some((list) => list.length > 0); at++) {
    const open = left.filter((list) => list.length > 0);
    const next = open[(turns[at % Math.max(1, turns.length)] ?? 0) % open.length]?.shift();
    if (next !== undefined) all.push(next);
  }
  return all;
}

const chunk = (index: number, delta: object, finish: string | null = null) =>
  eventOf({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    choices: [{ index, delta, finish_reason: finish }],
  });

function* deltasOf(
  value: { choices: { index: number; delta: Record<string, unknown> }[] },
): Generator<[string, string]> {
  for (const { index, delta } of value.choices) {
    for (const [key, text] of Object.entries(delta)) {
      if (typeof text === "string") yield [`${index} ${key}`, text];
    }
    for (
      const call of (delta.tool_calls ?? []) as { index: number; function: { arguments: string } }[]
    ) {
      yield [`${index} call ${call.index}`, call.function.arguments];
    }
  }
}

Deno.test("a Chat stream of several choices, cut anywhere, has the values and as many events in their order", () => {
  fc.assert(
    fc.property(
      fc.tuple(anyWords, anyWords, anyWords),
      anySizes,
      fc.array(fc.nat(2)),
      (texts, sizes, turns) => {
        const { answer } = answerOf();
        const choices = texts.map((words, index) => [
          ...cut(sentOf(words), sizes).map((content) => chunk(index, { content })),
          chunk(index, {}, "stop"),
        ]);
        const sent = [...mixed(choices, turns), DONE];
        const { records } = run(answer, sent);
        assertEquals(records.length, sent.length);
        for (const [at, record] of records.entries()) {
          assertEquals(withoutTexts(record), withoutTexts(sent[at]));
        }
        const all = joined(records, deltasOf);
        texts.forEach((words, index) =>
          assertEquals(all[`${index} content`] ?? "", receivedOf(words))
        );
      },
    ),
    { numRuns: 150 },
  );
});

/** Returns an event without the texts of its deltas. */
function withoutTexts(record: StreamRecord | undefined): string {
  return (record?.data ?? "").replaceAll(
    /"(content|text|delta|partial_json)":"(?:[^"\\]|\\.)*"/g,
    '"$1":""',
  );
}

Deno.test("the arguments of parallel calls of a Chat stream, mixed, are JSON with the values", () => {
  fc.assert(
    fc.property(
      fc.tuple(anyWords, anyWords),
      anySizes,
      fc.array(fc.nat(1)),
      (texts, sizes, turns) => {
        const { answer } = answerOf();
        const calls = texts.map((words, index) =>
          cut(JSON.stringify({ text: sentOf(words) }), sizes).map((piece) =>
            chunk(0, { tool_calls: [{ index, function: { arguments: piece } }] })
          )
        );
        const sent = [...mixed(calls, turns), chunk(0, {}, "tool_calls"), DONE];
        const { records } = run(answer, sent);
        assertEquals(records.length, sent.length);
        const all = joined(records, deltasOf);
        texts.forEach((words, index) =>
          assertEquals(JSON.parse(all[`0 call ${index}`] ?? ""), { text: receivedOf(words) })
        );
      },
    ),
    { numRuns: 150 },
  );
});

Deno.test("a Messages stream, cut anywhere, has the values in its text and in the input of its tools", () => {
  fc.assert(
    fc.property(anyWords, anyWords, anySizes, (text, input, sizes) => {
      const { answer } = answerOf();
      const block = (index: number, type: string, member: string, pieces: readonly string[]) => [
        eventOf({ type: "content_block_start", index, content_block: { type: "text", text: "" } }),
        ...pieces.map((piece) =>
          eventOf(
            { type: "content_block_delta", index, delta: { type, [member]: piece } },
            "content_block_delta",
          )
        ),
        eventOf({ type: "content_block_stop", index }),
      ];
      const sent = [
        ...block(0, "text_delta", "text", cut(sentOf(text), sizes)),
        ...block(
          1,
          "input_json_delta",
          "partial_json",
          cut(JSON.stringify([sentOf(input)]), sizes),
        ),
        eventOf({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null } }),
        eventOf({ type: "message_stop" }),
      ];
      const { records } = run(answer, sent);
      assertEquals(records.map(withoutTexts), sent.map(withoutTexts));
      const all = joined(records, function* ({ index, delta }) {
        if (typeof index === "number" && delta !== undefined) {
          yield [String(index), delta.text ?? delta.partial_json ?? ""];
        }
      });
      assertEquals(all["0"] ?? "", receivedOf(text));
      assertEquals(JSON.parse(all["1"] ?? ""), [receivedOf(input)]);
    }),
    { numRuns: 150 },
  );
});

Deno.test("the deltas of a Responses stream, joined, equal the text of its done events and its terminal", () => {
  fc.assert(
    fc.property(anyWords, anySizes, (words, sizes) => {
      const { answer } = answerOf();
      const text = sentOf(words);
      let sequence_number = 0;
      const event = (type: string, members: object) =>
        eventOf({
          type,
          sequence_number: sequence_number++,
          item_id: "msg_1q",
          output_index: 0,
          content_index: 0,
          ...members,
        }, type);
      const part = { type: "output_text", text, annotations: [] };
      const item = { id: "msg_1q", type: "message", content: [part] };
      const sent = [
        ...cut(text, sizes).map((delta) => event("response.output_text.delta", { delta })),
        event("response.output_text.done", { text }),
        event("response.content_part.done", { part }),
        event("response.output_item.done", { item }),
        event("response.completed", { response: { id: "resp_1", output: [item] } }),
      ];
      const { records } = run(answer, sent);
      assertEquals(records.map(withoutTexts), sent.map(withoutTexts));
      const received = receivedOf(words);
      const all = joined(records, function* ({ type, delta }) {
        if (type === "response.output_text.delta") yield ["text", delta];
      });
      assertEquals(all.text ?? "", received);
      const values = records.map(({ data }) => JSON.parse(data));
      assertEquals(values.at(-4).text, received);
      assertEquals(values.at(-3).part.text, received);
      assertEquals(values.at(-2).item.content[0].text, received);
      assertEquals(values.at(-1).response.output[0].content[0].text, received);
    }),
    { numRuns: 150 },
  );
});

Deno.test("the joined events of a stream are what a whole answer with their text is", () => {
  fc.assert(
    fc.property(anyWords, anySizes, (words, sizes) => {
      const { answer } = answerOf();
      const sent = cut(sentOf(words), sizes).map((content) => chunk(0, { content }));
      const streamed = joined(run(answer, sent).records, deltasOf)["0 content"] ?? "";
      const whole = JSON.stringify({ choices: [{ message: { content: sentOf(words) } }] });
      assertEquals(
        JSON.parse(finishDocument(answerOf().answer, whole, PLAIN)).choices[0].message.content,
        streamed,
      );
    }),
    { numRuns: 150 },
  );
});

Deno.test("a stream without tokens keeps every byte, and is held only behind a q until the next event", () => {
  const { answer } = answerOf();
  const sent = ["An FAQ", " and a q", "uiz", " of qz", " e"].map((content) =>
    chunk(0, { content })
  );
  const { records, maxHeld } = run(answer, [...sent, chunk(0, {}, "stop"), DONE]);
  assertEquals(records.slice(0, sent.length), sent);
  assertEquals(maxHeld, 1);
});

Deno.test("of an event that changes, only the literals with tokens change", () => {
  const { answer } = answerOf();
  const data =
    `{ "x":1.0,  "choices":[{"index":0,"delta":{"content":"${TOKEN}\\u0021","role":"assistant"}}] }`;
  const { records } = run(answer, [{ event: null, data, raw: `: note\ndata: ${data}\nid: 7\n\n` }]);
  const expected = data.replace(`"${TOKEN}\\u0021"`, `"${VALUE}!"`);
  assertEquals(records, [{
    event: null,
    data: expected,
    raw: `: note\ndata: ${expected}\nid: 7\n\n`,
  }]);
});

Deno.test("a token is found whichever of its letters the JSON escapes, whole and cut in a stream", () => {
  const escaped = (text: string, at: number) =>
    text.slice(0, at) + `\\u00${text.charCodeAt(at).toString(16)}` + text.slice(at + 1);
  for (let at = 0; at < TOKEN.length; at++) {
    const whole = `{"text":"to ${escaped(TOKEN, at)}."}`;
    assertEquals(JSON.parse(finishDocument(answerOf().answer, whole, PLAIN)).text, `to ${VALUE}.`);
    const sent = [TOKEN.slice(0, 9), TOKEN.slice(9)].map((piece, part) => {
      const index = at - 9 * part;
      const own = index >= 0 && index < piece.length ? escaped(piece, index) : piece;
      const data = `{"choices":[{"index":0,"delta":{"content":"${own}"}}]}`;
      return { event: null, data, raw: `data: ${data}\n\n` };
    });
    const { records } = run(answerOf().answer, [...sent, DONE]);
    assertEquals(joined(records, deltasOf), { "0 content": VALUE });
  }
});

Deno.test("events of other texts and comments wait behind held text, and keep their order", () => {
  const { answer } = answerOf();
  const comment = { event: null, data: "", raw: ": alive\n\n" };
  const sent = [
    chunk(0, { content: `to ${TOKEN.slice(0, 9)}` }),
    comment,
    chunk(1, { content: "other" }),
    chunk(0, { content: `${TOKEN.slice(9)}.` }),
    DONE,
  ];
  const { records, maxHeld } = run(answer, sent);
  assertEquals(maxHeld, 3);
  assertEquals(records[1], comment);
  assertEquals(joined(records, deltasOf), { "0 content": `to ${VALUE}.`, "1 content": "other" });
});

Deno.test("a beginning that is followed by 256 events of other texts is delivered as it is", () => {
  const { answer } = answerOf();
  const others = Array.from({ length: 300 }, (_, at) => chunk(1, { content: `${at} ` }));
  const { records, maxHeld } = run(answer, [chunk(0, { content: "qzba" }), ...others]);
  assertEquals(maxHeld, 256);
  assertEquals(joined(records, deltasOf)["0 content"], "qzba");
});

Deno.test("the failure of a stream comes after the text that was held", () => {
  const { answer } = answerOf();
  const failures = [
    eventOf({ error: { message: `no ${TOKEN}`, code: "x" } }),
    eventOf({ type: "error", error: { type: "api_error", message: `no ${TOKEN}` } }),
    eventOf({ type: "response.failed", response: { error: { message: `no ${TOKEN}` } } }),
  ];
  for (const failure of failures) {
    const { records } = run(answer, [chunk(0, { content: "a q" }), failure]);
    assertEquals(records[0], chunk(0, { content: "a q" }));
    assert(records[1]?.data.includes(`no ${VALUE}`));
  }
});

Deno.test("values that make an event longer than 128 MiB end its search before it is written", () => {
  const value = "v".repeat(16_384);
  const token = `${CORES.mail} `;
  const events = (times: number) => {
    const { answer } = answerOf([{ core: CORES.mail, label: "email", value }]);
    const delta = { content: token.repeat(times) };
    return run(answer, [eventOf({ choices: [0, 1].map((index) => ({ index, delta })) }), DONE]);
  };
  assertEquals(events(100).records.length, 2);
  assertThrows(() => events(4_500));
});

Deno.test("ids, names, signatures, encrypted content and bytes are never changed", () => {
  const { answer } = answerOf();
  const kept = {
    id: TOKEN,
    call_id: TOKEN,
    encrypted_content: TOKEN,
    model: TOKEN,
    data: `data:image/png;base64,${TOKEN}`,
    content: [
      { type: "thinking", thinking: TOKEN, signature: "sig" },
      { type: "redacted_thinking", data: TOKEN },
      { type: "tool_use", id: TOKEN, name: TOKEN, input: {} },
    ],
    choices: [{ logprobs: { content: [{ token: TOKEN }] }, message: { audio: { data: TOKEN } } }],
  };
  const text = JSON.stringify(kept);
  assertEquals(finishDocument(answer, text, PLAIN), text);
});

Deno.test("a text that begins with the data of a file has the values that are behind it", () => {
  const written = (value: string) =>
    JSON.stringify({ content: `data:image/png;base64,iVBORw0KGgo=\n\nMail it to ${value}` });
  assertEquals(finishDocument(answerOf().answer, written(TOKEN), PLAIN), written(VALUE));
});

Deno.test("the members of a document or a file that its client has named are no names of a protocol", () => {
  const written = (id: string) =>
    JSON.stringify({
      results: [{ index: 0, id: TOKEN, document: { id, type: id, model: id, text: id } }],
      output: [{ id: TOKEN, results: [{ file_id: TOKEN, attributes: { id, status: id } }] }],
    });
  assertEquals(finishDocument(answerOf().answer, written(TOKEN), PLAIN), written(VALUE));
});

Deno.test("thinking that the gateway has sealed shows values; that of the provider itself does not", () => {
  const event = (delta: object) => eventOf({ type: "content_block_delta", index: 0, delta });
  const sent = [
    event({ type: "thinking_delta", thinking: TOKEN }),
    event({ type: "signature_delta", signature: TOKEN }),
  ];
  const sealed = run(answerOf().answer, sent).records.map(({ data }) => JSON.parse(data).delta);
  assertEquals(sealed.map(({ thinking, signature }) => thinking ?? signature), [VALUE, TOKEN]);
  const form = { isJsonText: false, isThinkingSigned: true };
  assertEquals(run(answerOf().answer, sent, form).records, sent);
  const block = { type: "thinking", thinking: TOKEN, signature: "switchyard1.0.x" };
  assertEquals(
    JSON.parse(finishDocument(answerOf().answer, JSON.stringify(block), form)).thinking,
    VALUE,
  );
});

Deno.test("thinking that a host signs in Chat Completions keeps its tokens, also before its signature; unsigned one has the values", () => {
  const detail = { type: "reasoning.text", text: TOKEN }, block = { thinking: TOKEN };
  const listsOf = (more: object) => ({
    reasoning_details: [{ ...detail, ...more }],
    thinking_blocks: [{ ...block, ...more }],
  });
  const signature = "QUJD".repeat(30);
  const sent = [
    chunk(0, listsOf({ signature: null })),
    chunk(0, {
      reasoning_details: [{ signature }],
      thinking_blocks: [{ thinking: "", signature }],
    }),
    chunk(0, { reasoning: TOKEN }),
  ];
  const { records } = run(answerOf().answer, sent);
  assertEquals(records.slice(0, 2), sent.slice(0, 2));
  assertEquals(JSON.parse(records[2]?.data ?? "").choices[0].delta.reasoning, VALUE);
  const wholeOf = (message: object) => {
    const text = JSON.stringify({ choices: [{ index: 0, message }] });
    return JSON.parse(finishDocument(answerOf().answer, text, PLAIN)).choices[0].message;
  };
  assertEquals(wholeOf(listsOf({ signature })), listsOf({ signature }));
  const unsigned = wholeOf(listsOf({ signature: null }));
  assertEquals([unsigned.reasoning_details[0].text, unsigned.thinking_blocks[0].thinking], [
    VALUE,
    VALUE,
  ]);
});

Deno.test("a value in the text of structured output is escaped, in a delta and as a whole", () => {
  const form = { isJsonText: true, isThinkingSigned: false };
  const value = 'a "quoted" \\ key\nof two lines';
  const content = JSON.stringify({ key: `${CORES.key}iraq` });
  const { records } = run(
    answerOf().answer,
    cut(content, [5]).map((piece) => chunk(0, { content: piece })),
    form,
  );
  assertEquals(JSON.parse(joined(records, deltasOf)["0 content"] ?? ""), { key: value });
  const whole = finishDocument(
    answerOf().answer,
    JSON.stringify({ type: "output_text", text: content }),
    form,
  );
  assertEquals(JSON.parse(JSON.parse(whole).text), { key: value });
});

Deno.test("in an answer with structured output, code and summaries of reasoning have values as they are, in deltas and as a whole", () => {
  const form = { isJsonText: true, isThinkingSigned: false };
  const value = 'a "quoted" \\ key\nof two lines';
  const token = `${CORES.key}iraq`;
  const { records } = run(
    answerOf().answer,
    [
      ...cut(token, [5]).map((delta) =>
        eventOf({ type: "response.code_interpreter_call_code.delta", output_index: 0, delta })
      ),
      eventOf({ type: "response.code_interpreter_call_code.done", output_index: 0, code: token }),
      ...cut(token, [5]).map((delta) =>
        eventOf({ type: "response.reasoning_summary_text.delta", output_index: 1, delta })
      ),
      eventOf({
        type: "response.reasoning_summary_part.done",
        output_index: 1,
        part: { type: "summary_text", text: token },
      }),
    ],
    form,
  );
  const texts = joined(records, function* ({ type, delta = "", code = "", part = { text: "" } }) {
    yield [type, delta + code + part.text];
  });
  assertEquals(Object.values(texts), [value, value, value, value]);
});

Deno.test("an event that is too large to be parsed has the values too, escaped as in JSON", () => {
  const numbers = Array.from({ length: 2_100_000 }, () => 1).join(",");
  const token = `${CORES.key}iraq`;
  const written = JSON.stringify(VALUES.find(({ core }) => core === CORES.key)?.value).slice(1, -1);
  const data = `{"url":"see ${token}","n":[${numbers}]}`;
  const outline = { value: {}, lengths: new Map<string, number>() };
  const large: StreamRecord = { event: null, data, raw: null, outline };
  const { records } = run(answerOf().answer, [large]);
  assertEquals(records[0]?.data === data.replace(token, () => written), true);
});
