import type { JsonObject } from "../../../../src/core/json/json.ts";
import { openaiErrors } from "../../../../src/core/failure/openai_error.ts";
import { assert, assertEquals, assertMatch } from "../../../support/assert.ts";
import { sentenceOf } from "../../../support/sentence.ts";
import {
  assertBroken,
  CREATED,
  DELTA,
  delta,
  keepalive,
  lifecycle,
  relayed,
  sse,
} from "./native_stream.ts";

/** A record that breaks one rule, given the sequence number that would be right. */
type Breach = (sequence: number) => string;

const DEEP = `${"[".repeat(600)}${"]".repeat(600)}`;

function numbered(text: string): Breach {
  return () => `data: {"type":"response.output_text.delta","sequence_number":${text}}\n\n`;
}

function changed(members: JsonObject): Breach {
  return (sequence) => sse(delta(sequence, members));
}

function breachOf(type: string, response: JsonObject, name?: string): Breach {
  return (sequence) => sse(lifecycle(type, sequence, response), name);
}

/** Invalid records, each with its error message. */
const BREACHES: readonly (readonly [what: string, says: RegExp, breach: Breach])[] = [
  ["half an object", /one JSON object/, () => 'data: {"type":\n\n'],
  ["a list", /one JSON object/, () => "data: []\n\n"],
  ["a text", /one JSON object/, () => 'data: "x"\n\n'],
  ["null", /one JSON object/, () => "data: null\n\n"],
  ["white space alone", /one JSON object/, () => "data:  \n\n"],
  ["two objects", /one JSON object/, (n) => sse(delta(n)).replace("}\n", '}{"a":1}\n')],
  ["a key twice", /each key once/, (n) => sse(delta(n)).replace("{", '{"type":"x",')],
  [
    "a response with a second id",
    /a key comes twice/,
    (n) =>
      breachOf("response.in_progress", {})(n).replace('"response":{', '"response":{"id":"other",'),
  ],
  ["an early [DONE]", /end of its stream/, () => "data: [DONE]\n\n"],
  ["no type", /without a type/, (n) => sse({ sequence_number: n }, null)],
  ["an empty type", /without a type/, changed({ type: "" })],
  ["a number for a type", /without a type/, changed({ type: 5 })],
  ["no sequence number", /exact sequence/, () => sse({ type: "response.output_text.delta" })],
  ["null for a sequence number", /exact sequence/, numbered("null")],
  ["a text for a sequence number", /exact sequence/, numbered('"2"')],
  ["2.0 for a sequence number", /exact sequence/, numbered("2.0")],
  ["2e0 for a sequence number", /exact sequence/, numbered("2e0")],
  ["2.5 for a sequence number", /exact sequence/, numbered("2.5")],
  ["a negative sequence number", /exact sequence/, numbered("-1")],
  ["a negative zero for a sequence number", /exact sequence/, numbered("-0")],
  ["a sequence number beyond 2^53", /exact sequence/, numbered("9007199254740993")],
  [
    "a sequence number with a fraction of nothing",
    /exact sequence/,
    numbered("3.00000000000000001"),
  ],
  ["an empty response_id", /not exact text/, changed({ response_id: "" })],
  ["a space in front of a response_id", /not exact text/, changed({ response_id: " resp_1" })],
  ["a number for a response_id", /not exact text/, changed({ response_id: 1 })],
  ["a line end behind a nested id", /not exact text/, changed({ response: { id: "resp_1\n" } })],
  ["an empty nested id", /not exact text/, changed({ response: { id: "" } })],
  [
    "two ids that differ",
    /another response/,
    (n) => sse({ ...lifecycle("response.in_progress", n), response_id: "resp_2" }),
  ],
  ["response.created without an id", /exact id/, breachOf("response.created", { id: undefined })],
  ["response.created with an id of spaces", /exact id/, breachOf("response.created", { id: " " })],
  [
    "response.created without a response",
    /exact id/,
    (n) => sse({ type: "response.created", sequence_number: n, response_id: "resp_1" }),
  ],
  ["a terminal without an id", /exact id/, breachOf("response.completed", { id: undefined })],
  ["a terminal with an empty id", /exact id/, breachOf("response.failed", { id: "" })],
  [
    "a terminal with a space behind its id",
    /exact id/,
    breachOf("response.completed", { id: "a " }),
  ],
  [
    "a terminal without a response",
    /exact id/,
    (n) => sse({ type: "response.completed", sequence_number: n, response_id: "resp_1" }),
  ],
  [
    "a terminal with another object",
    /without a Response object/,
    breachOf("response.completed", { object: "chat.completion" }),
  ],
  [
    "a terminal of another name",
    /name and type/,
    breachOf("response.completed", {}, "response.done"),
  ],
  [
    "a terminal with the name of another",
    /name and type/,
    breachOf("response.incomplete", {}, "response.completed"),
  ],
  [
    "a piece of text with the name of a terminal",
    /name and type/,
    (n) => sse(delta(n), "response.completed"),
  ],
  ["a terminal without a status", /type and status/, breachOf("response.failed", { status: null })],
  [
    "a terminal with the status of another",
    /type and status/,
    breachOf("response.completed", { status: "incomplete" }),
  ],
  [
    "a terminal that is still in progress",
    /type and status/,
    breachOf("response.completed", { status: "in_progress" }),
  ],
  [
    "a cancelled terminal that is completed",
    /type and status/,
    breachOf("response.cancelled", { status: "completed" }),
  ],
  [
    "a terminal that is nested too deeply",
    /too deeply/,
    (n) => sse(lifecycle("response.completed", n)).replace("[]", DEEP),
  ],
];

for (const [what, says, breach] of BREACHES) {
  Deno.test(`a stream that begins with ${what} is refused`, async () => {
    for (const before of ["", ": hello\n\n", keepalive(0)]) {
      const { refused, text, outcome } = await relayed(before + breach(1) + DELTA);
      assertEquals([text, outcome], ["", null]);
      assertEquals(refused?.kind, "invalid_upstream_response");
      assertMatch(sentenceOf(refused), says);
    }
  });

  Deno.test(`a stream that continues with ${what} ends with one failure`, async () => {
    for (const before of [CREATED, CREATED + DELTA, CREATED + keepalive(1)]) {
      const sequence = before.split("\n\n").length - 1;
      const end = sse(lifecycle("response.completed", sequence + 1));
      const answer = await relayed(before + breach(sequence) + end);
      assertBroken(answer, before);
      assertMatch(sentenceOf(answer.broken), says);
    }
  });
}

/** Breaches of what an earlier event has settled. */
const LATER: readonly (readonly [what: string, says: RegExp, breach: Breach])[] = [
  ["another response_id", /another response/, changed({ response_id: "resp_2" })],
  ["another nested id", /another response/, breachOf("response.in_progress", { id: "resp_2" })],
  ["the terminal of another", /another response/, breachOf("response.completed", { id: "resp_2" })],
  ["the same sequence number", /not above/, (n) => sse(delta(n - 1))],
  ["a terminal of the same number", /not above/, (n) => sse(lifecycle("response.failed", n - 1))],
  ["a lower sequence number", /not above/, () => sse(delta(0))],
];

for (const [what, says, breach] of LATER) {
  Deno.test(`after a keep-alive, ${what} is refused`, async () => {
    const { refused } = await relayed(keepalive(0) + breach(1) + DELTA);
    assertEquals(refused?.kind, "invalid_upstream_response");
    assertMatch(sentenceOf(refused), says);
  });

  Deno.test(`after the first event, ${what} ends the stream with one failure`, async () => {
    for (const before of [CREATED, CREATED + DELTA]) {
      const answer = await relayed(before + breach(before.split("\n\n").length - 1));
      assertBroken(answer, before);
      assertMatch(sentenceOf(answer.broken), says);
    }
  });
}

/** Errors as providers write them in a stream, each with the error that the client receives. */
const ERRORS: readonly (readonly [text: string, shown: JsonObject])[] = [
  [
    sse({ type: "error", code: "boom", message: "No.", param: null, sequence_number: 0 }),
    { message: "No.", type: "server_error", param: null, code: "boom" },
  ],
  [
    sse({ error: { type: "odd", message: "No.", param: "input", code: null } }, "error"),
    { message: "No.", type: "odd", param: "input", code: null },
  ],
  [
    sse({ error: { type: "odd", message: "No." } }, null),
    { message: "No.", type: "odd", param: null, code: null },
  ],
];

Deno.test("an error event before the first response event is the provider's error", async () => {
  for (const [text, shown] of ERRORS) {
    for (const before of ["", keepalive(0)]) {
      const { refused } = await relayed(before + text);
      assert(refused?.kind === "upstream_unavailable" && "upstream" in refused);
      assertEquals<unknown>(refused.upstream?.error, shown);
      const body = new TextDecoder().decode(openaiErrors.whole(refused, "id").body);
      assertEquals<unknown>(JSON.parse(body), { error: shown });
    }
  }
});

Deno.test("an error event after the first response event ends the stream with one failure", async () => {
  for (const [text] of ERRORS) {
    for (const before of [CREATED, CREATED + DELTA]) {
      assertBroken(await relayed(before + text), before);
    }
  }
});
