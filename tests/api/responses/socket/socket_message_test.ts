import {
  findStreamId,
  parseCreateMessage,
  parseMessage,
} from "../../../../src/api/responses/socket/socket_message.ts";
import { parseWarmUpRequest } from "../../../../src/api/responses/request.ts";
import { parseJson } from "../../../../src/core/json/json.ts";
import type { Result } from "../../../../src/core/failure/result.ts";
import { assertEquals } from "../../../support/assert.ts";
import { longParses } from "../../../support/long_parses.ts";
import { assertFailed, valueOf } from "../../../support/translated.ts";

const LIMITS = { maxItems: 1_000, hold: () => null };

/** The request that a message holds; `warm` in front of one that is not to be generated. */
function requestIn(text: string): string {
  const { document, isWarmUp } = valueOf(
    parseCreateMessage(valueOf(parseMessage(text, LIMITS))),
  );
  return `${isWarmUp ? "warm " : ""}${document.text}`;
}

function refusalOf(text: string): Result<unknown> {
  const message = parseMessage(text, LIMITS);
  return message.ok ? parseCreateMessage(message.value) : message;
}

Deno.test("a request is parsed from the top level of its message or from 'response', and keeps its text", () => {
  const fields = '"model":"m", "input":[ ], "temperature":1.0, "seed":12345678901234567890';
  const request = `{${fields},"stream":true}`;
  assertEquals(requestIn(`{"type":"response.create",${fields},"stream":false}`), request);
  assertEquals(
    requestIn(`{"type":"response.create","response":{${fields},"stream":null}}`),
    request,
  );
  assertEquals(requestIn(`{"type":"response.create","response":{}}`), '{"stream":true}');
});

Deno.test("fields of the message are not in the request", () => {
  const about = '"event_id":"e","stream_id":"s","generate":true,"type":"response.create"';
  assertEquals(requestIn(`{${about},"model":"m"}`), '{"stream":true,"model":"m"}');
  assertEquals(requestIn(`{${about},"response":{"model":"m"}}`), '{"stream":true,"model":"m"}');
  assertEquals(
    requestIn(`{${about},"response":{"model":"m",${about}}}`),
    '{"stream":true,"model":"m"}',
  );
  assertEquals(requestIn(`{${about},"response":null,"model":"m"}`), '{"stream":true,"model":"m"}');
});

Deno.test("a warm-up is recognised at the top level and in 'response'", () => {
  const warm = 'warm {"stream":true,"model":"m"}';
  assertEquals(requestIn('{"type":"response.create","generate":false,"model":"m"}'), warm);
  for (
    const text of [
      '{"type":"response.create","generate":false,"response":{"model":"m"}}',
      '{"type":"response.create","response":{"generate":false,"model":"m"}}',
    ]
  ) assertEquals(requestIn(text), warm);
});

Deno.test("an empty input is removed from a continuation, and stays to be refused otherwise", () => {
  const previous = '"previous_response_id":"resp_1"';
  assertEquals(
    requestIn(`{"type":"response.create","input":[],${previous}}`),
    `{"stream":true,${previous}}`,
  );
  for (const other of ['"previous_response_id":null', '"conversation":"conv_1"']) {
    const text = requestIn(`{"type":"response.create","input":[],${other}}`);
    assertEquals(text, `{"stream":true,"input":[],${other}}`);
  }
});

Deno.test("a message has the stream_id of its top level or of 'response'", () => {
  const labels = [
    '{"stream_id":"s"}',
    '{"response":{"stream_id":"s"}}',
    '{"stream_id":"s","response":{"stream_id":"t"}}',
    '{"stream_id":null,"response":{"stream_id":"s"}}',
    '{"stream_id":""}',
    '{"stream_id":7}',
    '{"response":"s"}',
    "{}",
    "[]",
    "no JSON",
  ].map((text) => findStreamId(parseJson(text)));
  assertEquals(labels, ["s", "s", "s", "s", null, null, null, null, null, null]);
});

Deno.test("a message that is no valid request is refused by its path", () => {
  for (const text of ["", "7", "[]", "{", '{"a":1,"a":2}', '"response.create"', "\u0000"]) {
    assertFailed(refusalOf(text), "invalid_json", "type");
  }
  const create = '{"type":"response.create"';
  const refused = [
    ["{}", "invalid_value", "type"],
    ['{"type":"response.cancel"}', "invalid_value", "type"],
    ['{"type":["response.create"]}', "invalid_value", "type"],
    [`${create},"stream_id":""}`, "invalid_value", "stream_id"],
    [`${create},"response":{"stream_id":7}}`, "invalid_value", "stream_id"],
    [`${create},"stream_id":"${"s".repeat(257)}"}`, "invalid_value", "stream_id"],
    [`${create},"response":"m"}`, "invalid_type", "response"],
    [`${create},"response":[]}`, "invalid_type", "response"],
    [`${create},"response":{"a":1,"a":2}}`, "invalid_json", null],
    [`${create},"response":{},"model":"m"}`, "invalid_parameter_combination", "model"],
    [`${create},"generate":"no"}`, "invalid_type", "generate"],
    [`${create},"response":{"generate":0}}`, "invalid_type", "generate"],
    [`${create},"background":true}`, "unsupported_feature", "background"],
    [`${create},"response":{"background":true}}`, "unsupported_feature", "background"],
  ] as const;
  for (const [text, kind, param] of refused) assertFailed(refusalOf(text), kind, param);
  assertEquals(requestIn(`${create},"background":false}`), '{"stream":true,"background":false}');
});

Deno.test("a message is parsed once, though its request has another text", () => {
  const fields = `"model":"m","input":"${"x".repeat(1_000)}"`;
  for (const body of [fields, `"response":{${fields}}`]) {
    const text = `{"type":"response.create","stream_id":"s",${body}}`;
    using parses = longParses();
    const { document } = valueOf(parseCreateMessage(valueOf(parseMessage(text, LIMITS))));
    valueOf(parseWarmUpRequest(document));
    assertEquals(parses.count(), 1);
    assertEquals<unknown>(document.value, JSON.parse(document.text));
    assertEquals(document.members.map(({ key }) => key).toSorted(), ["input", "model", "stream"]);
  }
});

Deno.test("the value of a request has what its text has", () => {
  for (
    const fields of [
      '"model":"m","stream":null,"generate":false',
      '"model":"m","input":[],"previous_response_id":"resp_1"',
      '"model":"m","input":[]',
      '"__proto__":{"a":1},"model":"m","7":1',
    ]
  ) {
    const { document } = valueOf(
      parseCreateMessage(
        valueOf(parseMessage(`{"type":"response.create",${fields}}`, LIMITS)),
      ),
    );
    assertEquals<unknown>(document.value, JSON.parse(document.text));
  }
});
