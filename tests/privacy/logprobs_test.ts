import { newPrivacyCounts } from "../../src/core/privacy_counts.ts";
import { newRuleText } from "../../src/privacy/answer_text.ts";
import { finishDocument } from "../../src/privacy/finish.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answerOf, CORES } from "./answer_cases.ts";
import { rulesOf } from "./rules.ts";
import { eventOf, PLAIN, run } from "./stream_cases.ts";

const VALUE = "jane.doe@example.com";

/** The value in pieces, as log probabilities have it. */
const PIECES = ["jane", ".doe", "@example", ".com"];

const rules = (action: string) =>
  newRuleText(rulesOf(`find: [email], phase: response, action: ${action}`), newPrivacyCounts());

const content = PIECES.map((token) => ({
  token,
  logprob: -1,
  bytes: [...new TextEncoder().encode(token)],
  annotations: [{ index: 3 }],
  top_logprobs: [{ token, logprob: -1 }],
}));

const part = { type: "output_text", text: VALUE, annotations: [{ index: 20 }], logprobs: content };

/** Answers with log probabilities in each place that a protocol has for them. */
const ANSWERS = [
  { choices: [{ index: 0, message: { content: VALUE }, logprobs: { content, refusal: null } }] },
  {
    choices: [{
      index: 0,
      text: VALUE,
      logprobs: { tokens: PIECES, top_logprobs: [{ [VALUE]: -1 }], text_offset: [0, 4, 8, 16] },
    }],
  },
  { output: [{ type: "message", content: [part] }] },
  { type: "response.content_part.done", output_index: 0, content_index: 0, part },
  { type: "response.output_item.done", output_index: 0, item: { content: [part] } },
  { type: "response.output_text.done", output_index: 0, text: VALUE, logprobs: content },
  { type: "response.completed", response: { output: [{ content: [part] }] } },
];

Deno.test("a rule that changes answers leaves nothing of a value in log probabilities, whole and in events", () => {
  for (const answer of ANSWERS) {
    const spellings = [JSON.stringify(answer)];
    spellings.push(spellings[0]?.replaceAll('"logprobs"', '"log\\u0070robs" ') ?? "");
    for (const text of spellings) {
      const whole = finishDocument(rules("mask"), text, PLAIN);
      const event = { event: null, data: text, raw: `data: ${text}\n\n` };
      const [record] = run(rules("mask"), [event]).records;
      for (const one of [whole, record?.data ?? "", record?.raw?.slice(6) ?? ""]) {
        JSON.parse(one);
        assert(!/jane|doe|@example|106,97/.test(one), one);
        assert(/"log[^"]*robs" ?: ?(?:null|\[\])/.test(one), one);
      }
    }
  }
});

Deno.test("log probabilities of a delta are empty although its text is delivered later", () => {
  const sent = PIECES.map((delta, at) =>
    eventOf({
      type: "response.output_text.delta",
      output_index: 0,
      content_index: 0,
      delta,
      logprobs: [content[at]],
    })
  );
  const { records } = run(rules("mask"), sent);
  const events = records.map(({ data }) => JSON.parse(data));
  assertEquals(events.map(({ delta }) => delta).join(""), "[email]");
  assertEquals(events.map(({ logprobs }) => logprobs), [[], [], [], []]);
});

Deno.test("without a rule that changes answers log probabilities stay as they are", () => {
  const token = `${CORES.mail}email`;
  const text = JSON.stringify({ choices: [{ logprobs: { content: [{ token }] } }] });
  assertEquals(finishDocument(answerOf().answer, text, PLAIN), text);
  const counted = JSON.stringify({ choices: [{ logprobs: { content } }] });
  assertEquals(finishDocument(rules("monitor"), counted, PLAIN), counted);
});

Deno.test("what a tool or a client calls logprobs is searched like any other member", () => {
  const token = `${CORES.mail}email`;
  const input = (text: string) => ({
    content: [{ type: "tool_use", input: { logprobs: [text] } }],
  });
  const restored = finishDocument(answerOf().answer, JSON.stringify(input(token)), PLAIN);
  assertEquals(JSON.parse(restored), input("bob.miller@example.com"));
  const masked = finishDocument(rules("mask"), JSON.stringify(input(VALUE)), PLAIN);
  assertEquals(JSON.parse(masked), input("[email]"));
});
