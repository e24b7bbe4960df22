import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { refuse } from "../../../src/core/failure/result.ts";
import { errorEvent } from "../../../src/server/websocket/socket_error.ts";
import { delta, lifecycle, sse } from "../../api/responses/native/native_stream.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { answers } from "../../support/chat_call.ts";
import { create } from "../../support/socket_client.ts";
import { oneProvider } from "../../support/gateway.ts";
import { assertValid } from "../../support/schemas.ts";
import { type SocketGateway, socketGateway } from "../../support/socket_gateway.ts";
import { wordStreams } from "../../support/word_stream.ts";

const TRANSLATED = oneProvider("http://up.test");
const NATIVE = TRANSLATED.replace(
  "provider: up}",
  "provider: up, upstream_request_type: responses}",
);

/** Responses of an upstream before there is a stream. */
const ANSWERS: readonly (readonly [status: number, body: string])[] = [
  [400, '{"error":{"message":"No.","type":"invalid_request_error","param":"input","code":"bad"}}'],
  [401, '{"error":{"message":"Whose?","type":"authentication_error","param":null,"code":null}}'],
  [403, '{"error":{"message":"Plain.","type":"permission_error","extra":{"why":"so"}}}'],
  [404, "<html>not here</html>"],
  [429, '{"error":{"message":"Slow.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}'],
  [500, '{"error":"a text"}'],
  [503, ""],
  [200, "no stream at all"],
  [302, ""],
];

/** Status and error of the same request over HTTP. */
async function overHttp(served: SocketGateway, fields: JsonObject) {
  const response = await fetch(`${served.url}/v1/responses`, {
    method: "POST",
    body: JSON.stringify({ model: "m", input: "Hi", stream: true, ...fields }),
  });
  const body = parseJson(await response.text());
  assert(isObject(body) && isObject(body.error));
  const { type = null, code = null, param = null, message = null } = body.error;
  return { status: response.status, error: { ...body.error, type, code, param, message } };
}

for (const [name, config] of Object.entries({ translated: TRANSLATED, native: NATIVE })) {
  Deno.test(`an error before the stream is one event with the fields of the HTTP error, ${name}`, async () => {
    for (const [status, body] of ANSWERS) {
      const upstream = wordStreams(() => answers(status, body));
      await using served = socketGateway(config, upstream);
      await using client = await served.open();
      const { events, end, error } = await client.turn(create());
      assertEquals(events.length, 1);
      assertValid("ResponseWsError", end);
      const http = await overHttp(served, {});
      assertEquals<unknown>({ status: end.status, error }, http, body);
      assertEquals<unknown>([end.code, end.message, end.param], [
        error.code,
        error.message,
        error.param,
      ]);
    }
  });
}

Deno.test("a refused request gets one event with the fields of the HTTP error", async () => {
  await using served = socketGateway(TRANSLATED, wordStreams(() => answers(200, "")));
  await using client = await served.open();
  const refused = [
    { input: "" },
    { temperature: "hot" },
    { tools: [{ type: "web_search" }] },
    { model: "nobody", metadata: { a: 1 } },
    { input: [{ type: "item_reference", id: "msg_1" }] },
    { conversation: "conv_1", previous_response_id: "resp_1" },
  ];
  for (const fields of refused) {
    const { end, error } = await client.turn(create(fields));
    assertEquals<unknown>({ status: end.status, error }, await overHttp(served, fields));
  }
});

Deno.test("an error event has Retry-After where the HTTP response has it", async () => {
  const config =
    `${TRANSLATED}\nrate_limiting: {enabled: true, requests_per_minute: 1, burst_size: 2}`;
  const upstream = wordStreams(() => answers(429, "{}", { "retry-after": "7", "x-ms-other": "o" }));
  await using served = socketGateway(config, upstream);
  await using client = await served.open();
  const theirs = await client.turn(create());
  assertEquals<unknown>([theirs.end.status, theirs.error.headers], [429, { "retry-after": "7" }]);
  const { end, error } = await client.turn(create());
  assertEquals<unknown>(error.code, "rate_limit_exceeded");
  assert(isObject(error.headers));
  assertMatch(String(error.headers["retry-after"]), /^(?:59|60)$/);
  for (const event of [theirs.end, end]) assertValid("ResponseWsError", event);
  const plain = parseJson(errorEvent(refuse("draining", "Later.").failure, {}));
  assert(isObject(plain) && isObject(plain.error));
  assertEquals("headers" in plain.error, false);
});

Deno.test("an error without type and message gets both, for a failure that has none", () => {
  const event = parseJson(errorEvent({
    kind: "upstream_rejected",
    message: "The provider responded with status 409.",
    mayHaveRun: true,
    retryAfterMs: null,
    upstream: { status: 409, headers: {}, error: { code: 7 }, raw: null },
  }, {}));
  assert(isObject(event));
  assertEquals<unknown>(event.error, {
    code: 7,
    type: "conflict_error",
    message: "The provider responded with status 409.",
    param: null,
  });
  const refusal = parseJson(errorEvent(refuse("draining", "Later.").failure, {}));
  assert(isObject(refusal));
  assertEquals<unknown>([refusal.status, refusal.code, refusal.param], [503, "draining", null]);
});

Deno.test("an error that is nested too deeply to be encoded again is sent with its top members only", async () => {
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  const text = `{"error":{"message":"No.","type":"t","param":"p","code":"c","deep":${deep}}}`;
  await using served = socketGateway(NATIVE, wordStreams(() => answers(400, text)));
  await using client = await served.open();
  const { end, error } = await client.turn(create());
  assertEquals(end.status, 400);
  assertEquals<unknown>(error, { message: "No.", type: "t", param: "p", code: "c" });
});

/** A native upstream that sends these texts. */
function streaming(...texts: readonly string[]) {
  const headers = { "content-type": "text/event-stream" };
  return wordStreams(() => answers(200, texts.join(""), headers));
}

Deno.test("native events go out as they came, but for their label", async () => {
  const created = sse(lifecycle("response.created", 3)).replace(
    '"resp_1"',
    '"resp_1", "odd" : 1.0',
  );
  const completed = sse(lifecycle("response.completed", 9));
  const upstream = streaming(
    ": comment\n\n",
    created,
    sse(delta(5)),
    completed,
    "data: [DONE]\n\n",
  );
  await using served = socketGateway(NATIVE, upstream);
  await using client = await served.open();
  const texts = [created, sse(delta(5)), completed].map((text) => text.split("data: ")[1]?.trim());
  for (const label of [null, "s"]) {
    client.send(create(label === null ? {} : { stream_id: label }));
    for (const text of texts) {
      const own = label === null ? "" : `"stream_id":"${label}",`;
      assertEquals(await client.text(), text?.replace("{", `{${own}`) ?? "");
    }
  }
  await client.close();
  assertEquals(client.unread, 0);
});

Deno.test("a native stream that breaks gets one failure, and the next turn does not continue it", async () => {
  const broken = [sse(lifecycle("response.created", 0)), sse(delta(1))];
  for (const rest of ["", "data: no JSON\n\n", sse(lifecycle("response.completed", 0))]) {
    await using served = socketGateway(NATIVE, streaming(...broken, rest));
    await using client = await served.open();
    const { ending, events, response } = await client.turn(create({ stream_id: "s" }));
    assertEquals<unknown>([ending, response.id, response.status], [
      "response.failed",
      "resp_1",
      "failed",
    ]);
    assertEquals<unknown>(events.map(({ sequence_number: number }) => number), [0, 1, 2]);
    assert(events.every((event) => event.stream_id === "s"));
    const { error } = await client.turn(create({ previous_response_id: "resp_1" }));
    assertEquals<unknown>(error.code, "previous_response_not_found");
  }
});

Deno.test("a thrown error is sent as a failure of the gateway, and logged with its place", async () => {
  await using served = socketGateway(TRANSLATED);
  const { breakers } = served.gateway.state;
  breakers.openFor = () => {
    throw new RangeError("secret words");
  };
  await using client = await served.open();
  const { end, error } = await client.turn(create());
  assertEquals<unknown>([end.status, error.type, error.code], [
    500,
    "server_error",
    "internal_error",
  ]);
  const report = await served.reported(2);
  assertEquals([report.status, report.bug?.split("\n")[0]], [500, "RangeError"]);
  assert(served.log.every((line) => !line.includes("secret words")));
  assertEquals((await client.turn("{}")).ending, "error");
});
