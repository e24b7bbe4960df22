import { parseNativeResponse } from "../../../../src/api/responses/native/whole_response.ts";
import type { UpstreamResponse } from "../../../../src/core/stream/reply.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { longParses } from "../../../support/long_parses.ts";
import { assertFailed, valueOf } from "../../../support/translated.ts";

const TEXT =
  ' { "object":"response","id":"resp_1","status":"completed","output":[],"temperature":1.0,"usage":{"input_tokens":1.0,"output_tokens":2}}\n';
const HEADERS = { "content-type": "application/json", "x-request-id": "req_1" };
const PLAIN = { conversation: null, storesNothing: false, expected: null };

function answerOf(body: string | Uint8Array<ArrayBuffer>): UpstreamResponse {
  return {
    status: 200,
    headers: () => HEADERS,
    body: typeof body === "string" ? new TextEncoder().encode(body) : body,
  };
}

Deno.test("an unstreamed response keeps its bytes and headers", () => {
  const given = answerOf(TEXT);
  const { response, outcome } = valueOf(
    parseNativeResponse(given, { ...PLAIN, expected: "resp_1" }),
  );
  assertEquals(response, { ...given, headers: HEADERS });
  assert(response.body === given.body);
  assertEquals(JSON.stringify(outcome.resource).includes('"temperature":1.0'), true);
  assertEquals(outcome.usage, {
    input: 1,
    output: 2,
    total: 3,
    cached: 0,
    cacheWrite: 0,
    reasoning: 0,
  });
});

Deno.test("a local conversation is set in an unstreamed response", () => {
  const options = { ...PLAIN, conversation: "conv_1" };
  for (const theirs of ["", '"conversation":null,', '"conversation":{"id":"conv_x"},']) {
    const text = TEXT.replace('"status"', `${theirs}"status"`);
    const { response, outcome } = valueOf(parseNativeResponse(answerOf(text), options));
    const ours = '"conversation":{"id":"conv_1"},';
    const wanted = theirs === "" ? TEXT.replace("{", `{${ours}`) : text.replace(theirs, ours);
    assertEquals(new TextDecoder().decode(response.body), wanted);
    assertEquals(response.headers["x-request-id"], "req_1");
    assertEquals<unknown>(outcome.resource?.conversation, { id: "conv_1" });
  }
});

Deno.test("where the gateway stores nothing store: false is set in an unstreamed response, and one that says so keeps its bytes", () => {
  const options = { ...PLAIN, storesNothing: true };
  const read = (text: string) => {
    const given = answerOf(text);
    const { response, outcome } = valueOf(parseNativeResponse(given, options));
    assertEquals<unknown>(outcome.resource?.store, false);
    return response.body === given.body ? null : new TextDecoder().decode(response.body);
  };
  const withStore = (value: string) => TEXT.replace('"status"', `"store" :${value},"status"`);
  assertEquals(read(TEXT), TEXT.replace("{", '{"store":false,'));
  assertEquals([read(withStore("true")), read(withStore("null"))], [
    withStore("false"),
    withStore("false"),
  ]);
  assertEquals(read(withStore(" false ")), null);
});

Deno.test("a body that is no valid Response object is a fault", () => {
  const broken: readonly (string | Uint8Array<ArrayBuffer>)[] = [
    "",
    "[]",
    "null",
    `${TEXT}{}`,
    `\ufeff${TEXT}`,
    new Uint8Array([...new TextEncoder().encode('{"object":"response","id":"'), 0xff, 0x22, 0x7d]),
    TEXT.replace('"response"', '"chat.completion"'),
    TEXT.replace('"object":"response",', ""),
    TEXT.replace('"resp_1"', '""'),
    TEXT.replace('"resp_1"', '" resp_1"'),
    TEXT.replace('"resp_1"', '"resp_1\\n"'),
    TEXT.replace('"resp_1"', "1"),
    TEXT.replace('"id":"resp_1",', ""),
    TEXT.replace('"id"', '"id":"resp_2","id"'),
    TEXT.replace("[]", `${"[".repeat(600)}${"]".repeat(600)}`),
  ];
  for (const body of broken) {
    assertFailed(parseNativeResponse(answerOf(body), PLAIN), "invalid_upstream_response");
  }
});

Deno.test("a response with a different ID than requested is a fault", () => {
  const options = { ...PLAIN, expected: "resp_2" };
  assertFailed(parseNativeResponse(answerOf(TEXT), options), "invalid_upstream_response");
});

Deno.test("an error with status 200 is the provider's error", () => {
  const result = parseNativeResponse(answerOf('{"error":{"message":"No.","code":429}}'), PLAIN);
  assertFailed(result, "upstream_throttled");
});

Deno.test("a failed response is returned with its error", () => {
  const text = TEXT.replace(
    '"completed"',
    '"failed","error":{"code":"server_error","message":"x"}',
  );
  const { response, outcome } = valueOf(parseNativeResponse(answerOf(text), PLAIN));
  assertEquals(new TextDecoder().decode(response.body), text);
  assertEquals<unknown>(outcome.resource?.status, "failed");
});

Deno.test("an unstreamed response whose bytes do not change is parsed once", () => {
  const text = `{"object":"response","id":"resp_1","output":[],"x":"${"x".repeat(1_000)}"}`;
  using parses = longParses();
  valueOf(parseNativeResponse(answerOf(text), PLAIN));
  assertEquals(parses.count(), 1);
});
