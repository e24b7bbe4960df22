import fc from "fast-check";
import { sealThinking } from "../../src/api/reasoning/sealed_thinking.ts";
import { newPrivacyCounts } from "../../src/core/privacy_counts.ts";
import { sealedText } from "../../src/core/stream/sealed_text.ts";
import { newRuleText } from "../../src/privacy/answer_text.ts";
import { finishDocument } from "../../src/privacy/finish.ts";
import { newRecordRestorer } from "../../src/privacy/restore_records.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { anySizes, CORES, cut } from "./answer_cases.ts";
import { rulesOf } from "./rules.ts";
import { deliveredBy, DONE, eventOf, joined, PLAIN, run } from "./stream_cases.ts";

const MASKS = "find: [email, card, us_ssn, phone], phase: response, action: mask";

/** Number of detectors of these rules. */
const FINDER_COUNT = 4;

const VALUES = [
  ["jane.doe@example.com", "email"],
  ["jane.doe%40example.com", "email"],
  ["4111 1111 1111 1111", "card"],
  ["4111-1111-1111-1111", "card"],
  ["912-45-6789", "usssn"],
] as const;

function rules(...texts: readonly string[]) {
  const counts = newPrivacyCounts();
  return { answer: newRuleText(rulesOf(...texts), counts), counts };
}

const chunk = (delta: object, finish: string | null = null) =>
  eventOf({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] });

function* deltasOf(value: { choices: { delta: object }[] }): Generator<[string, string]> {
  for (const { delta } of value.choices) {
    for (const [key, text] of Object.entries(delta)) yield [key, text];
  }
}

/** Returns the label that a mask shows for each value. */
function labelOf(value: string): string {
  const whole = finishDocument(rules(MASKS).answer, JSON.stringify({ text: value }), PLAIN);
  return JSON.parse(whole).text;
}

Deno.test("a value that the model writes is masked as a whole, in a text, a key and an unknown member", () => {
  for (const [value] of VALUES) {
    assert(/^\[[a-z]+\]$/.test(labelOf(value)), value);
    const { answer, counts } = rules(MASKS);
    const text = JSON.stringify({ a: `is ${value}, or`, [value]: { unknown: [value] } });
    const finished = finishDocument(answer, text, PLAIN);
    assert(!finished.includes(value));
    assertEquals(counts.matches.map(({ count }) => count), [3]);
  }
});

Deno.test("masked arguments of a tool stay JSON where a value seems to begin with the letter of an escape", () => {
  const text = JSON.stringify({ arguments: JSON.stringify({ to: "A\fbob@example.com" }) });
  const finished = JSON.parse(finishDocument(rules(MASKS).answer, text, PLAIN));
  assertEquals(JSON.parse(finished.arguments), { to: "A\f[email]" });
});

Deno.test("masked arguments of a tool stay JSON where a pattern matches over the end of a text, whole and cut anywhere", () => {
  const rule = String.raw`pattern: 'pass=\S+', phase: response, action: mask`;
  const written = '{"cmd":"use pass=hunter2","in":5,"dry":true}';
  const expected = '{"cmd":"use [value]","[value]":5,"[value]":true}';
  const text = JSON.stringify({ arguments: written });
  assertEquals(
    JSON.parse(finishDocument(rules(rule).answer, text, PLAIN)).arguments,
    expected,
  );
  const call = (piece: string) =>
    chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
  for (let size = 1; size < written.length; size++) {
    const sent = Array.from(
      { length: Math.ceil(written.length / size) },
      (_, at) => call(written.slice(at * size, (at + 1) * size)),
    );
    const { records } = run(rules(rule).answer, [...sent, chunk({}, "tool_calls"), DONE]);
    const delivered = records.map(({ data }) =>
      /"arguments":("(?:[^"\\]|\\.)*")/.exec(data)?.[1] ?? '""'
    );
    assertEquals(delivered.map((one) => JSON.parse(one)).join(""), expected);
  }
});

Deno.test("a text with the character that separates texts in a search is one text for contains", () => {
  const rule = "pattern: 'B-[0-9]{6}', contains: [badge], phase: response, action: mask";
  const finish = (value: object) =>
    finishDocument(rules(rule).answer, JSON.stringify(value), PLAIN);
  assertEquals(
    finish({ a: "badge\0 B-123456", b: "badge", c: "B-123456" }),
    '{"a":"badge\\u0000 [value]","b":"badge","c":"B-123456"}',
  );
});

Deno.test("a value that is cut anywhere is masked in a stream, and no part of it is delivered before", () => {
  const member = fc.constantFrom("content", "record_field", "reasoning_content", "refusal");
  fc.assert(
    fc.property(fc.constantFrom(...VALUES), member, anySizes, ([value], name, sizes) => {
      const { answer, counts } = rules(MASKS);
      const sent = cut(`Reference: ${value}, and so on.`, sizes)
        .map((piece) => chunk({ content: "", [name]: piece }));
      const { records } = run(answer, [...sent, chunk({}, "stop"), DONE]);
      assertEquals(records.length, sent.length + 2);
      assertEquals(joined(records, deltasOf)[name], `Reference: ${labelOf(value)}, and so on.`);
      assertEquals(counts.matches.map(({ count }) => count), [1]);
    }),
    { numRuns: 250 },
  );
});

/** Values whose signs are in no word and no key, with the rule that finds each. */
const WITH_SIGNS = [
  ["find: [api_key]", "https://bob:pa!s$s,w(rd@host", "https://bob:[apikey]@host"],
  ["find: [api_key]", "amqp://:s;cr*t@host", "amqp://:[apikey]@host"],
  ["find: [api_key]", "db://bob:p@ss@host", "db://bob:[apikey]@host"],
  ["words: ['R&D team'], label: secret", "R&D team", "[secret]"],
  ['words: ["O\'Neil Smith"], label: secret', "O'Neil Smith", "[secret]"],
  ["words: [Jean-Paul Sartre], label: secret", "Jean-Paul Sartre", "[secret]"],
  ["words: ['@acme'], label: secret", "@acme", "[secret]"],
  // Behind and with the escapes of JSON inside a text.
  ["words: [acme], label: secret", String.raw`\nacme\n`, String.raw`\n[secret]\n`],
  ["find: [card]", String.raw`\u00a04111 1111 1111 1111`, String.raw`\u00a0[card]`],
  ["find: [api_key]", String.raw`ftp:\/\/bob:secret@host`, String.raw`ftp:\/\/bob:[apikey]@host`],
] as const;

Deno.test("a password and a phrase with any signs are masked as a whole in a stream that is cut anywhere", () => {
  for (const [rule, value, masked] of WITH_SIGNS) {
    const text = `So it is ${value}, and so on.`;
    const halves = Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]);
    for (const pieces of [[...text], ...halves]) {
      const { answer } = rules(`${rule}, phase: response, action: mask`);
      const sent = pieces.map((content) => chunk({ content }));
      const { records } = run(answer, [...sent, chunk({}, "stop"), DONE]);
      assertEquals(joined(records, deltasOf).content, `So it is ${masked}, and so on.`);
    }
  }
});

Deno.test("a refusing rule refuses what only the event of a whole text has, and does not count repetitions", () => {
  const item = { type: "mcp_call", output: "from jane.doe@example.org" };
  for (const type of ["response.output_item.done", "response.completed"]) {
    for (const output of [item.output, item.output.padEnd(40_000)]) {
      const { answer, counts } = rules("find: [email], phase: response, action: refuse");
      const event = { type, output_index: 0, item: { ...item, output } };
      deliveredBy(newRecordRestorer(answer, PLAIN).push(eventOf(event)));
      assert(answer.isRefused());
      assertEquals(counts.matches, []);
    }
  }
});

Deno.test("events whose words are no match arrive as they came", () => {
  fc.assert(
    fc.property(fc.lorem({ maxCount: 20 }), anySizes, (text, sizes) => {
      const sent = [
        ...cut(text, sizes).map((content) => chunk({ content })),
        chunk({}, "stop"),
        DONE,
      ];
      assertEquals(run(rules(MASKS).answer, sent).records, sent);
    }),
    { numRuns: 150 },
  );
});

Deno.test("text waits only for the end of a word that could be a match", () => {
  const restorer = newRecordRestorer(rules(MASKS).answer, PLAIN);
  const delivered = (content: string) =>
    deliveredBy(restorer.push(chunk({ content }))).records.length;
  assertEquals([delivered("All is well, "), delivered("says "), delivered("jane")], [1, 1, 0]);
  assertEquals([delivered("t, "), delivered("too. ")], [2, 1]);
});

Deno.test("the text of an answer does not wait for the last word of its reasoning", () => {
  const restorer = newRecordRestorer(rules(MASKS).answer, PLAIN);
  assertEquals(
    deliveredBy(restorer.push(chunk({ reasoning_content: "so I am done" }))).records.length,
    0,
  );
  assertEquals(deliveredBy(restorer.push(chunk({ content: "Well, " }))).records.length, 2);
});

Deno.test("a token is no match, also where two of them are", () => {
  const text = JSON.stringify({ text: `${CORES.mail}email and ${CORES.card}card` });
  assertEquals(finishDocument(rules(MASKS).answer, text, PLAIN), text);
});

Deno.test("a rule that only counts changes no byte", () => {
  const { answer, counts } = rules("find: [email], phase: response, action: monitor");
  const sent = ["to jane.doe@exam", "ple.com and ", "x@example.org"].map((content) =>
    chunk({ content })
  );
  const all = [...sent, chunk({}, "stop"), DONE];
  assertEquals(run(answer, all).records, all);
  assertEquals(counts.matches.map(({ action, count }) => [action, count]), [["monitor", 2]]);
  assert(!answer.isRefused());
});

Deno.test("a refusing rule refuses the answer, and so does a mask within signed thinking", () => {
  const refusing = rules("find: [email], phase: response, action: refuse").answer;
  finishDocument(refusing, JSON.stringify({ text: "a jane.doe@example.com" }), PLAIN);
  assert(refusing.isRefused());
  const masking = rules(MASKS).answer;
  const block = { type: "thinking", thinking: "a jane.doe@example.com", signature: "sig" };
  assertEquals(finishDocument(masking, JSON.stringify(block), PLAIN), JSON.stringify(block));
  assert(masking.isRefused());
});

Deno.test("a value is masked in thinking that the gateway has sealed too, and refuses the answer if a provider has signed that", () => {
  const thinking = { type: "thinking", thinking: "a jane.doe@example.com" };
  const opened = (text: string) => sealedText(/switchyard1\.[\w.-]+/.exec(text)?.[0] ?? "");
  for (
    const answerOf of [
      (signature: string) => ({ content: [{ ...thinking, signature }] }),
      (encrypted_content: string) => ({ output: [{ type: "reasoning", encrypted_content }] }),
    ]
  ) {
    const { answer, counts } = rules(MASKS);
    const text = JSON.stringify(answerOf(sealThinking([thinking])));
    const finished = finishDocument(answer, text, PLAIN);
    assertEquals(opened(finished), '[{"type":"thinking","thinking":"a [email]"}]');
    // It counts where it is visible.
    assertEquals(counts.matches.length, text.includes("jane") ? 1 : 0);
    const signed = rules(MASKS).answer;
    const seal = sealThinking([{ ...thinking, signature: "sig" }]);
    assertEquals(
      opened(finishDocument(signed, JSON.stringify(answerOf(seal)), PLAIN)),
      sealedText(seal),
    );
    assert(signed.isRefused());
  }
  const [first, last] = run(rules(MASKS).answer, [
    eventOf({ type: "content_block_delta", index: 0, delta: thinking }),
    eventOf({
      type: "content_block_delta",
      index: 0,
      delta: { type: "signature_delta", signature: sealThinking([thinking]) },
    }),
    eventOf({ type: "content_block_stop", index: 0 }),
  ]).records;
  assert(first?.data.includes("a [email]"));
  assertEquals(opened(last?.data ?? ""), '[{"type":"thinking","thinking":"a [email]"}]');
});

Deno.test("an answer is refused if a possible match would hold more than 256 events", () => {
  const { answer } = rules(MASKS);
  const restorer = newRecordRestorer(answer, PLAIN);
  deliveredBy(restorer.push(eventOf({ type: "response.x.delta", output_index: 0, delta: "jane" })));
  for (let at = 0; at < 256; at++) {
    assert(!answer.isRefused());
    deliveredBy(
      restorer.push(eventOf({ type: "response.y.delta", output_index: 1, delta: "and, " })),
    );
  }
  assert(answer.isRefused());
});

Deno.test("an event of more than 1 MiB waits for the end of its last word like any other one", () => {
  for (const next of [chunk({ content: "t." }), chunk({}, "stop")]) {
    const { answer } = rules(MASKS);
    const content = `${"All is well. ".repeat(100_000)}it is jane.doe@example.com or jane`;
    const { records } = run(answer, [chunk({ content }), next, DONE]);
    assertEquals([records.length, answer.isRefused()], [3, false]);
    const text = joined(records, deltasOf).content ?? "";
    assert(/it is \[email\] or janet?\.?$/.test(text), text.slice(-60));
  }
});

Deno.test("identifiers and the bytes of media are not searched", () => {
  const text = JSON.stringify({
    id: "resp_4111111111111111",
    b64_json: "4111111111111111",
    type: "4111111111111111",
    output: [
      { type: "speech.audio.delta", audio: "4111111111111111" },
      { type: "response.audio.delta", delta: "4111111111111111" },
      { type: "output_audio", data: "4111111111111111" },
      { type: "input_audio", input_audio: { data: "4111111111111111" } },
    ],
  });
  assertEquals(finishDocument(rules(MASKS).answer, text, PLAIN), text);
});

Deno.test("a number in the input of a tool is masked as a text, and numbers of a protocol stay", () => {
  const text = (card: string) =>
    `{"content":[{"type":"tool_use","id":"t","name":"f","input":{"card":${card},"n":[1,${card}],"to":"x"}}],"created":4111111111111111}`;
  const { answer, counts } = rules(MASKS);
  assertEquals(finishDocument(answer, text("4111111111111111"), PLAIN), text('"[card]"'));
  assertEquals(finishDocument(answer, text("4.111111111111111e15"), PLAIN), text('"[card]"'));
  assertEquals(counts.matches.map(({ count }) => count), [4]);
  const event = eventOf({
    type: "content_block_start",
    index: 0,
    content_block: JSON.parse(text("4111111111111111")).content[0],
  });
  const [{ data } = event] = run(rules(MASKS).answer, [event]).records;
  assertEquals(JSON.parse(data).content_block.input, { card: "[card]", n: [1, "[card]"], to: "x" });
  const refusing = rules(MASKS.replace("mask", "refuse")).answer;
  finishDocument(refusing, text("4111111111111111"), PLAIN);
  assert(refusing.isRefused());
});

Deno.test("names and words that each event of a stream has are searched once", () => {
  const searched: string[] = [];
  const counting = rulesOf(MASKS).map((rule) => ({
    ...rule,
    finders: rule.finders.filter((finder) => "find" in finder).map((finder) => ({
      ...finder,
      find(...[text, ...rest]: Parameters<typeof finder.find>) {
        searched.push(text);
        finder.find(text, ...rest);
      },
    })),
  }));
  const answer = newRuleText(counting, newPrivacyCounts());
  const sent = Array.from({ length: 100 }, (_, at) => chunk({ content: `word ${at} ` }));
  const { records } = run(answer, [...sent, chunk({ content: "jane.doe@example.com" }), DONE]);
  assert(!records.some(({ data }) => data.includes("jane")));
  assertEquals(searched.filter((text) => text === "finish_reason").length, FINDER_COUNT);
});

const BADGE = "pattern: 'B-[0-9]{6}', contains: [badge, 'pass of the company'], max_length: 8";

/** Texts with what a rule with `contains` leaves of them. */
const CONDITIONAL = [
  [`The badge ${"is long, ".repeat(40)}B-123456.`, "[value]"],
  ["B-123456 is the badge", "[value]"],
  ["B-123456, the pass of the company", "[value]"],
  ["The pass of the company: B-123456", "[value]"],
  ["B-123456, and no more", "B-123456"],
  ["B-000000 is the badge", "B-000000"],
] as const;

Deno.test("contains looks at the whole text of a stream that is cut anywhere, also behind a match", () => {
  fc.assert(
    fc.property(fc.constantFrom(...CONDITIONAL), anySizes, ([text, left], sizes) => {
      const { answer } = rules(`${BADGE}, except: [B-000000], phase: response, action: mask`);
      const sent = cut(text, sizes).map((content) => chunk({ content }));
      const other = chunk({ reasoning_content: "B-123456 " });
      const { records } = run(answer, [other, ...sent, chunk({}, "stop"), DONE]);
      const { content, reasoning_content } = joined(records, deltasOf);
      assertEquals(content, text.replace(/B-\d+/, left));
      // A text that only the other one contains does not count.
      assertEquals(reasoning_content, "B-123456 ");
    }),
    { numRuns: 250 },
  );
});

/** Returns a text after a rule: of a stream in these pieces, and as a whole. */
function bothWays(rule: string, pieces: readonly string[]): [stream: string, whole: string] {
  const sent = pieces.map((content) => chunk({ content }));
  const { records } = run(rules(rule).answer, [...sent, chunk({}, "stop"), DONE]);
  const whole = finishDocument(
    rules(rule).answer,
    JSON.stringify({ text: pieces.join("") }),
    PLAIN,
  );
  return [joined(records, deltasOf).content ?? "", JSON.parse(whole).text];
}

const PATTERN = "phase: response, action: mask, max_length: 16, pattern:";

Deno.test("a character that separates texts in a search is one like any other in a stream and a long event", () => {
  const text = "the key: \0a1b2c3 and so on";
  for (const rule of ["'key:.{8}'", "'key:.{8}', contains: [key]"]) {
    for (const pieces of [[...text], [text], [text.padEnd(40_000)]]) {
      const [stream, whole] = bothWays(`${PATTERN} ${rule}`, pieces);
      assertEquals([stream.trim(), whole.trim()], Array(2).fill("the [value] and so on"));
    }
  }
  const key = "-----BEGIN PRIVATE KEY-----\nMII\0\x01abc\n-----END PRIVATE KEY-----";
  for (const pieces of [[...key], [key.padEnd(40_000)]]) {
    const both = bothWays("find: [private_key], phase: response, action: mask", pieces);
    assertEquals(both.map((one) => one.trim()), Array(2).fill("[privatekey]"));
  }
});

Deno.test("the beginning of a text is the only one for a pattern, wherever a stream is cut and whatever was masked before", () => {
  const anchored = `${PATTERN} '(?:^|x)[^.]{0,80}(?P<value>[0-9]{4})'`;
  const word = `${PATTERN} '\\b[0-9]{3}\\b|red'`;
  const texts = [
    [
      anchored,
      `is 1234. ${"a".repeat(90)} 5678 and so on`,
      `is [value]. ${"a".repeat(90)} 5678 and so on`,
    ],
    [word, "it is red123 and 456 too, and more", "it is [value]123 and [value] too, and more"],
  ] as const;
  for (const [rule, text, expected] of texts) {
    const halves = Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]);
    for (const pieces of [[...text], ...halves]) {
      assertEquals(bothWays(rule, pieces), [expected, expected], pieces.join("|"));
    }
  }
});

Deno.test("in a stream a pattern sees 64 characters before a value, and max_length from its beginning on", () => {
  const before = `${PATTERN} 'staff[^0-9]*(?P<value>[0-9]{4})'`;
  const behind = `${PATTERN} '(?P<value>[0-9]{4})[^!]*!'`;
  const streamed = (rule: string, text: string) => bothWays(rule, [...text])[0];
  const filled = (chars: number) => "-".repeat(chars);
  assertEquals(streamed(before, `staff${filled(59)}1234`), `staff${filled(59)}[value]`);
  assertEquals(streamed(before, `staff${filled(90)}1234`), `staff${filled(90)}1234`);
  assertEquals(streamed(behind, `1234${filled(11)}!`), `[value]${filled(11)}!`);
  assertEquals(streamed(behind, `1234${filled(20)}!`), `1234${filled(20)}!`);
});

Deno.test("a match that waits for contains beyond its bounds is masked, and one that is only counted does not wait", () => {
  const words = Array.from({ length: 200 }, (_, at) => chunk({ content: `${at} ` }));
  for (
    const rest of [words, [chunk({ content: "long ".repeat(4_000) }), chunk({ content: "x" })]]
  ) {
    const sent = [chunk({ content: "B-123456 " }), ...rest];
    const { answer } = rules(`${BADGE}, phase: response, action: mask`);
    const { records, maxHeld } = run(answer, sent);
    assert(joined(records, deltasOf).content?.startsWith("[value] "));
    assert(!answer.isRefused() && maxHeld < 80, String(maxHeld));
    const counting = run(rules(`${BADGE}, phase: response, action: monitor`).answer, sent);
    assert(counting.maxHeld < 16);
    assertEquals(counting.records, sent);
  }
});
