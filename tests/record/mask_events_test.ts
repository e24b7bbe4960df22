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

/** Events of other places of a text, most of which only some providers send. */
const FURTHER_PIECES: readonly ((text: string) => object)[] = [
  (text) => ({ choices: [{ index: 0, delta: { function_call: { arguments: text } } }] }),
  (text) => ({ choices: [{ index: 0, delta: { reasoning_details: [{ index: 0, text }] } }] }),
  (transcript) => ({ choices: [{ index: 0, delta: { audio: { transcript } } }] }),
  (text) => ({ choices: [{ index: 0, delta: { content: [{ type: "text", text }] } }] }),
  (text) => ({ type: "content_block_start", index: 1, content_block: { type: "text", text } }),
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

Deno.test("so are those in texts that only some providers send, and in events with a blank before them", () => {
  for (const [at, piece] of FURTHER_PIECES.entries()) {
    const [first, second] = [KEY.slice(0, 9), KEY.slice(9)].map((text) =>
      JSON.stringify(piece(text))
    );
    // The rest of a block comes in deltas.
    const rest = at < 4 ? second : second?.replace("content_block_start", "content_block_delta")
      .replace('"content_block":', '"delta":');
    const events = masked(`data:  ${first}\n\ndata: ${rest}\n\n`);
    assert(events.includes("[api_key]") && !events.includes(KEY.slice(9)), events);
  }
});

Deno.test("a client key is found in JSON that is the text of a stream", () => {
  const written = OWN_KEY.replace("/", "\\/");
  const events = [written.slice(0, 5), written.slice(5)].map((text) => PIECES[0]?.(text)).join("");
  const { events: mask } = newRecordMask("none", () => 0)();
  assert(mask(events, false, [clientKeyRule(OWN_KEY)]).includes("[client_key]"));
});

Deno.test("events without a match, or with one in a single event, are as they were", () => {
  const events = `: ping\n\nid: 7\n${PIECES[0]?.("1.0 a")}data: {"n":1.0,"choices":[]}\n\n` +
    `${PIECES[0]?.(KEY)}${PIECES[0]?.(" and")}data: [DONE]\n\ndata: {"half`;
  assertEquals(masked(events), events);
});

Deno.test("numbers of a changed event keep their digits, and its name stays", () => {
  const event = (delta: string) =>
    `event: e\ndata: {"delta":"${delta}","output_index":0.0,"n":12345678901234567890}\n\n`;
  assertEquals(
    masked(event("a sk-") + event(`${KEY.slice(3)}.`)),
    event("a [api_key]") + event("."),
  );
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
