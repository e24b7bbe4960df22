import fc from "fast-check";
import { clientKeyRule } from "../../src/record/client_key_rule.ts";
import { maskEvents } from "../../src/record/mask_events.ts";
import { newRecordMask } from "../../src/record/record_mask.ts";
import { CREDENTIAL_RULES } from "../../src/record/redact_credentials.ts";
import { assert, assertEquals } from "../support/assert.ts";

const KEY = `sk-${"a1B2".repeat(6)}`;
const OWN_KEY = "own-key-of/the-client";

/** An event of each client API with a piece of a text. */
const PIECES: readonly ((text: string) => string)[] = [
  (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`,
  (text) => `data: ${JSON.stringify({ choices: [{ index: 0, text, logprobs: 1 }] })}\n\n`,
  (text) => {
    const delta = { type: "text_delta", text };
    const event = { type: "content_block_delta", index: 0, delta };
    return `event: content_block_delta\ndata: ${JSON.stringify(event)}\n\n`;
  },
  (delta) => {
    const event = { type: "response.output_text.delta", item_id: "i", delta };
    return `event: response.output_text.delta\ndata: ${JSON.stringify(event)}\n\n`;
  },
  (written) => {
    const call = { index: 0, function: { arguments: JSON.stringify(written).slice(1, -1) } };
    return `data: ${
      JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call] } }] })
    }\n\n`;
  },
];

const RULES = [clientKeyRule(OWN_KEY), ...CREDENTIAL_RULES];

function masked(events: string, isCut = false): string {
  return maskEvents(events, RULES, isCut);
}

Deno.test("a credential and the key of a client are masked wherever events divide them, and no other byte", () => {
  for (const piece of PIECES) {
    for (const [secret, label] of [[KEY, "[api_key]"], [OWN_KEY, "[client_key]"]] as const) {
      for (const size of [1, 2, 5, 13]) {
        const text = `It is ${secret}, or so. ${secret}\nThe end.`;
        const cuts = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
        const written = cuts.map(piece).join("");
        const events = masked(written);
        const { events: mask } = newRecordMask("credentials", () => 0)();
        assertEquals(mask(written, false, [clientKeyRule(OWN_KEY)]), events);
        const [first = "", ...others] = text.split(secret);
        const found = events.split("\n\n").slice(0, -1);
        assertEquals(found.length, cuts.length);
        const texts = found.map((one) => JSON.parse(one.slice(one.indexOf("data: ") + 6)));
        const joined = JSON.stringify(texts).match(/"(?:content|text|delta|arguments)":"([^"]*)"/g)
          ?.map((one) => JSON.parse(`{${one}}`)).map((one) => Object.values(one)[0]).join("");
        const wanted = [first, ...others].join(label);
        assertEquals(joined, piece === PIECES.at(-1) ? wanted.replace("\n", "\\n") : wanted);
      }
    }
  }
});

Deno.test("so are those that begin with their block, and in events with a blank before them", () => {
  const [text, rest] = [KEY.slice(0, 9), KEY.slice(9)];
  const block = { type: "content_block_start", index: 1, content_block: { type: "text", text } };
  const further = {
    type: "content_block_delta",
    index: 1,
    delta: { type: "text_delta", text: rest },
  };
  const { events: mask } = newRecordMask("credentials", () => 0)();
  const written = `data:  ${JSON.stringify(block)}\n\ndata: ${JSON.stringify(further)}\n\n`;
  const events = mask(written, false, []);
  assert(events.includes("[api_key]") && !events.includes(rest), events);
});

Deno.test("a client key is found in JSON that is the text of a stream", () => {
  const written = OWN_KEY.replace("/", "\\/");
  const events = [written.slice(0, 5), written.slice(5)].map((text) => PIECES[0]?.(text)).join("");
  const { events: mask } = newRecordMask("none", () => 0)();
  assert(mask(events, false, [clientKeyRule(OWN_KEY)]).includes("[client_key]"));
});

Deno.test("events without a match are as they were, also next to one with a whole match", () => {
  const before = `: ping\n\nid: 7\n${PIECES[0]?.("1.0 a")}data: {"n":1.0,"choices":[]}\n\n`;
  const after = `${PIECES[0]?.(" and")}data: [DONE]\n\ndata: {"half`;
  assertEquals(masked(`${before}${after}`), `${before}${after}`);
  const events = `${before}${PIECES[0]?.(` ${KEY}`)}${after}`;
  assertEquals(masked(events), `${before}${PIECES[0]?.(" [api_key]")}${after}`);
});

/** Texts with a credential, and what is left of them. */
const SECRETS = [
  [`${KEY}; `, "[api_key]; "],
  [`${OWN_KEY}; `, "[client_key]; "],
  ["postgres://admin:hunter2@db; ", "postgres://admin:[api_key]@db; "],
  [`AccountKey=${"a1B2".repeat(10)}; `, "AccountKey=[api_key]; "],
] as const;

/** Events with a piece of one of several texts. */
const LAYOUTS: readonly ((text: string, index: number) => object)[] = [
  (content, index) => ({ choices: [{ index, delta: { content } }] }),
  (content, index) => ({ choices: [{ delta: { content }, index }] }),
  (text, index) => ({ delta: { type: "text_delta", text }, index }),
  (text, index) => {
    const tool_calls = [{ index: 0, function: { arguments: text } }];
    return { choices: [{ index, delta: { tool_calls } }] };
  },
  (input, index) => ({ choices: [{ delta: { tool_calls: [{ custom: { input }, index }] } }] }),
];

/** Placeholder of a piece in an event. */
const GAP = "GAP";

Deno.test("texts that alternate in a stream lose each credential, wherever its context and the number of its text are", () => {
  const { events: mask } = newRecordMask("credentials", () => 0)();
  const text = fc.array(fc.constantFrom(...SECRETS), { minLength: 1, maxLength: 3 });
  const size = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 60 }));
  const cuts = fc.array(fc.tuple(fc.constantFrom(0, 1), size), { maxLength: 60 });
  const stream = fc.tuple(fc.constantFrom(...LAYOUTS), fc.tuple(text, text), cuts);
  fc.assert(fc.property(stream, ([layout, texts, cuts]) => {
    const left = texts.map((parts) => parts.map(([secret]) => secret).join(""));
    const sources: number[] = [];
    let written = "";
    for (const [at, size] of [...cuts, [0, 1_000], [1, 1_000]] as const) {
      const piece = left[at]?.slice(0, size) ?? "";
      left[at] = left[at]?.slice(size) ?? "";
      written += `data: ${JSON.stringify(layout(piece, at))}\n\n`;
      sources.push(at);
    }
    const events = mask(written, false, [clientKeyRule(OWN_KEY)]).split("\n\n");
    const joined = ["", ""];
    for (const [event, at] of sources.entries()) {
      const [begin = "", end = ""] = `data: ${JSON.stringify(layout(GAP, at))}`.split(GAP);
      const one = events[event] ?? "";
      assert(one.startsWith(begin) && one.endsWith(end), one);
      joined[at] += JSON.parse(`"${one.slice(begin.length, one.length - end.length)}"`);
    }
    assertEquals(joined, texts.map((parts) => parts.map(([, wanted]) => wanted).join("")), written);
  }));
});

Deno.test("numbers of a changed event keep their digits, and its name stays", () => {
  const event = (delta: string) =>
    `event: e\ndata: {"delta":"${delta}","output_index":0.0,"n":12345678901234567890}\n\n`;
  assertEquals(
    masked(event("a sk-") + event(`${KEY.slice(3)}.`)),
    event("a [api_key]") + event("."),
  );
});

Deno.test("an event that is nested deeper than any text loses its credential, and its record is written", () => {
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  const event = (content: string) =>
    `data: {"choices":[{"index":0,"delta":{"content":"${content}","deep":${deep}}}]}\n\n`;
  const { events: mask } = newRecordMask("credentials", () => 0)();
  assertEquals(
    mask(event("a sk-") + event(`${KEY.slice(3)}.`), false, []),
    event("a [api_key]") + event("."),
  );
});

Deno.test("what a provider has written in the place of the number of a text takes room once, not for each of 20,000 pieces", () => {
  const content = Array.from({ length: 20_000 }, (_, index) => ({ index, text: "sk-" }));
  const delta = { index: "x".repeat(400_000), content };
  const events = `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
  assertEquals(masked(events), events);
});

Deno.test("of a stream that was cut, no begun credential is left, also not in the event that was cut", () => {
  const [piece = () => ""] = PIECES;
  const whole = [..."The key is ", KEY.slice(0, 4), KEY.slice(4, 9), KEY.slice(9)].map(piece)
    .join("");
  const begun = whole.indexOf(KEY.slice(0, 4));
  for (let end = begun; end < whole.length; end++) {
    const events = newRecordMask("credentials", () => 0)().events(whole.slice(0, end), true, []);
    const left = [...events.matchAll(/"content":"([^"]*)/g)].map(([, text]) => text).join("");
    assertEquals(left, "The key is ", events);
  }
});

Deno.test("text of two places of a stream is no match together", () => {
  const event = (index: number, content: string) =>
    `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
  const events = event(0, KEY.slice(0, 12)) + event(1, KEY.slice(12));
  assertEquals(masked(events), events);
  assert(masked(event(0, KEY.slice(0, 12)) + event(1, "x") + event(0, KEY.slice(12))) !== events);
});

Deno.test("of a stream that was cut nothing is left behind a begun key, also before a match in it", () => {
  const [piece = () => ""] = PIECES;
  const begun = [
    "Key: -----BEGIN ",
    "PRIVATE KEY-----MII",
    " A",
    OWN_KEY.slice(0, 4),
    OWN_KEY.slice(4),
  ];
  const events = masked(begun.map(piece).join(""), true);
  const left = [...events.matchAll(/"content":"([^"]*)/g)].map(([, text]) => text).join("");
  assertEquals(left, "Key: ");
});
