import { endOf } from "../../../../src/observe/report.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import {
  MESSAGE,
  type Received,
  relayed,
  REQUEST,
  type Says,
  STREAM,
  STREAMED,
  streaming,
} from "./relayed.ts";

const UP = { up: "type: messages, api_key: sk-up-secret" };
const [START = "", BLOCK = "", DELTA = "", CLOSE = "", END = "", STOP = ""] = STREAM;
const OVERLOADED =
  '{"type":"error", "error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}';

/** One call of one messages provider that gives this response. */
async function called(body: string, says: Says, more = "") {
  const { call, sent, gateway } = relayed(UP, { up: [says] }, "", more);
  const received = await call(body);
  return { received, sent, report: await gateway.reported(1) };
}

/** The records of a stream that a client received. */
function recordsOf({ text }: Received): readonly string[] {
  return text.split("\n\n").slice(0, -1).map((record) => `${record}\n\n`);
}

Deno.test("only an object with a list of messages, a text as model and a flag as stream is needed", async () => {
  const { call, sent } = relayed(UP, { up: [{ body: MESSAGE }] });
  const refused = [
    ['{"model":"m"}', "messages: Field required"],
    ['{"model":"m","messages":{}}', "messages: Input should be a valid list"],
    ['{"model":1,"messages":[]}', "model: Input should be a valid string"],
    ['{"model":"m","messages":[],"stream":1}', "stream: Input should be a valid boolean"],
  ] as const;
  for (const [body, message] of refused) {
    const { status, text } = await call(body);
    assertEquals([status, JSON.parse(text).error.message], [400, message]);
  }
  assertEquals(sent.length, 0);
  const odd =
    '{"model":"m","messages":[1,{"role":"later"},{"role":"system"}],"max_tokens":-1,"tools":{},' +
    '"thinking":{"type":"later"},"mcp_servers":[{}],"stream":null,"later":{"a":[null]}}';
  assertEquals((await call(odd)).text, MESSAGE);
  assertEquals(sent[0]?.body, odd);
});

Deno.test("no declared capability is needed for any field", async () => {
  const { call, sent } = relayed(UP, { up: [{ body: MESSAGE }] });
  const body =
    '{"model":"m","messages":[],"output_config":{"effort":"max","format":{"type":"x"}},' +
    '"tools":[{"type":"web_search_20250305","name":"web_search"}],"speed":"fast"}';
  assertEquals((await call(body)).status, 200);
  assertEquals(sent[0]?.body, body);
});

Deno.test("sampling defaults follow the version that is sent", async () => {
  const settings = "type: messages, api_key: k, temperature: 0.5, top_p: 1";
  const cases = [
    [settings, {}, '"temperature":0.5,"top_p":1,'],
    [settings, { "anthropic-version": "2023-06-01" }, '"temperature":0.5,"top_p":1,'],
    [settings, { "anthropic-version": "2026-10-21" }, ""],
  ] as const;
  for (const [written, headers, added] of cases) {
    const { call, sent } = relayed({ up: written }, { up: [{ body: MESSAGE }] });
    await call(REQUEST, { headers: { ...headers } });
    assertEquals(sent[0]?.body, REQUEST.replace("{", `{${added}`));
  }
});

Deno.test("thinking of this gateway is cut and named in X-Gateway-Lossy", async () => {
  const own = '{"type":"thinking","thinking":"Hm","signature":"switchyard1.a.b"}';
  const text = '{"type":"text","text":"A"}';
  const body = (list: string) =>
    `{"model":"m","messages":[{"role":"assistant","content":[${list}]}]}`;
  const { call, sent } = relayed(UP, { up: [{ body: MESSAGE }] });
  const received = await call(body(`${text},${own}`));
  assertEquals(received.headers.get("x-gateway-lossy"), "messages.0.content.1");
  assertEquals(sent[0]?.body, body(text));
  assertEquals((await call(body(text))).headers.get("x-gateway-lossy"), null);
});

Deno.test("the prompt that is counted is the sum of the three input figures", async () => {
  const whole = await called(REQUEST, { body: MESSAGE });
  assertEquals([whole.received.text, whole.report.usage?.input], [MESSAGE, 43]);
  const stream = await called(STREAMED, streaming(...STREAM));
  assertEquals(stream.received.text, STREAM.join(""));
  const { usage } = stream.report;
  assertEquals([usage?.input, usage?.cacheWrite, usage?.output], [503, 500, 2]);
  assertEquals(endOf(stream.report), "complete");
});

Deno.test("the cache is bypassed", async () => {
  const { call, sent } = relayed(UP, { up: [{ body: MESSAGE }] }, "", "caching: {enabled: true}\n");
  for (let count = 0; count < 2; count++) {
    assertEquals((await call(REQUEST)).status, 200);
  }
  assertEquals(sent.length, 2);
});

Deno.test("an attempt that failed before the first content is repeated", async () => {
  const failures: readonly (readonly [string, Says])[] = [
    [REQUEST, { status: 529, body: OVERLOADED }],
    [REQUEST, { body: OVERLOADED }],
    [STREAMED, { status: 503, body: OVERLOADED }],
    [STREAMED, streaming(START, `event: error\ndata: ${OVERLOADED}\n\n`)],
  ];
  for (const [body, says] of failures) {
    const good = body === REQUEST ? { body: MESSAGE } : streaming(...STREAM);
    const { call, sent, world } = relayed(
      UP,
      { up: [says, good] },
      "",
      "retry: {enabled: true, max_attempts: 2}\n",
    );
    const calling = call(body);
    await world.advance(2_000);
    const { status, text } = await calling;
    assertEquals([status, text], [200, good.body]);
    assertEquals(sent.map((one) => one.body), [body, body]);
  }
});

Deno.test("a JSON body in response to a request for a stream is a failed attempt", async () => {
  const { received, report } = await called(STREAMED, { body: MESSAGE });
  assertEquals([received.status, JSON.parse(received.text).error.type], [502, "api_error"]);
  assert(report.failure?.kind === "invalid_upstream_response");
});

Deno.test("an error of the upstream keeps its bytes and status, without the keys of the provider", async () => {
  for (const status of [400, 404, 413, 429, 500, 529]) {
    for (const body of [REQUEST, STREAMED]) {
      const { received } = await called(body, { status, body: OVERLOADED });
      assertEquals([received.status, received.text], [status, OVERLOADED]);
    }
  }
  const leaking = OVERLOADED.replace("Overloaded", "Bad key sk-up-secret");
  const { received } = await called(REQUEST, { status: 401, body: leaking });
  assertEquals(received.text, OVERLOADED.replace("Overloaded", "Bad key [redacted]"));
});

Deno.test("a stream without message_stop ends with one error event, and its tokens are counted", async () => {
  for (const records of [[START, BLOCK], [START, BLOCK, DELTA, CLOSE, END]]) {
    const { received, report } = await called(STREAMED, streaming(...records));
    const got = recordsOf(received);
    assertEquals(got.slice(0, -1), records);
    const [name, data = ""] = got.at(-1)?.split("\n") ?? [];
    assertEquals(name, "event: error");
    assertEquals(JSON.parse(data.slice("data: ".length)).error.type, "api_error");
    assertEquals(report.usage?.input, 503);
    assert(endOf(report) !== "complete");
  }
});

Deno.test("the upstream's own error event after the first content ends the stream as a failure", async () => {
  const error = `event: error\ndata: ${OVERLOADED}\n\n`;
  const { received, report } = await called(
    STREAMED,
    streaming(START, BLOCK, DELTA, error, DELTA, STOP),
  );
  assertEquals(recordsOf(received), [START, BLOCK, DELTA, error]);
  assertEquals(report.failure?.kind, "upstream_unavailable");
  assertEquals(report.usage?.input, 503);
});

Deno.test("a record of more than 4 MiB ends the stream with an error event", async () => {
  const huge = `event: content_block_delta\ndata: {"type":"${"x".repeat(4 * 1024 * 1024)}"}\n\n`;
  const { received } = await called(STREAMED, streaming(START, BLOCK, huge, STOP));
  const got = recordsOf(received);
  assertEquals(got.slice(0, -1), [START, BLOCK]);
  assert(got.at(-1)?.startsWith('event: error\ndata: {"type":"error","error":{"type":"api_error"'));
  const early = await called(STREAMED, streaming(START, huge));
  assertEquals(early.received.status, 502);
});

Deno.test("a read error after the first content ends the stream with an error event", async () => {
  const { received, report } = await called(STREAMED, {
    ...streaming(START, BLOCK, DELTA),
    ending: "breaks",
  });
  const got = recordsOf(received);
  assertEquals(got.slice(0, -1), [START, BLOCK, DELTA]);
  assert(got.at(-1)?.startsWith('event: error\ndata: {"type":"error","error":{"type":"api_error"'));
  assertEquals(report.usage?.input, 503);
});

Deno.test("the tokens of a stream that the client leaves are counted", async () => {
  const says = { ...streaming(START, BLOCK, DELTA), ending: "stays open" } as const;
  const { gateway } = relayed(UP, { up: [says] });
  const response = await gateway.app(
    new Request("http://localhost/v1/messages", { method: "POST", body: STREAMED }),
  );
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  const report = await gateway.reported(1);
  assertEquals([report.usage?.input, report.failure?.kind], [503, "client_cancelled"]);
});

const COMPLETION =
  '{"id":"c","object":"chat.completion","created":1,"model":"g","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}';
const BOTH = { ...UP, chat: "type: compat, api_key: sk-chat" };

Deno.test("a fallback to another protocol is translated", async () => {
  const { call, sent } = relayed(
    BOTH,
    { up: [{ status: 529, body: OVERLOADED }], chat: [{ body: COMPLETION }] },
    "targets: [{provider: up}], fallback: [{provider: chat, model: g}]",
  );
  const { status, text, headers } = await call(REQUEST, {
    path: "/v1/messages?beta=true",
    headers: { "anthropic-version": "2026-10-21", "anthropic-beta": "a" },
  });
  const { type, content } = JSON.parse(text);
  assertEquals([status, type, content[0].text], [200, "message", "Hi"]);
  assertEquals(headers.get("x-gateway-provider"), "chat");
  assertEquals(sent.map(({ url }) => url), [
    "http://up.test/v1/messages?beta=true",
    "http://chat.test/chat/completions",
  ]);
  assertEquals(sent[1]?.headers.get("anthropic-version"), null);
  assertEquals(sent[1]?.headers.get("anthropic-beta"), null);
});

Deno.test("a fallback to a messages provider receives the client's own text", async () => {
  const { call, sent } = relayed(
    BOTH,
    { up: [{ body: MESSAGE }], chat: [{ status: 503, body: "{}" }] },
    "targets: [{provider: chat}], fallback: [{provider: up, model: claude-y}]",
  );
  const body = REQUEST.replace(":9,", ':9, "cache_control":{"type":"ephemeral"},');
  assertEquals((await call(body)).text, MESSAGE);
  assertEquals(sent[1]?.body, body.replace('"m"', '"claude-y"'));
});

Deno.test("a fallback that refuses a field is skipped, and the failure of the called target is sent", async () => {
  const { call, sent } = relayed(
    BOTH,
    { up: [{ status: 529, body: OVERLOADED }], chat: [{ body: COMPLETION }] },
    "targets: [{provider: up}], fallback: [{provider: chat, model: g}]",
  );
  const { status, text } = await call(REQUEST.replace("{", '{"mcp_servers":[{}],'));
  assertEquals([status, text, sent.length], [529, OVERLOADED, 1]);
});

Deno.test("failed attempts open the circuit breaker", async () => {
  const { call, sent } = relayed(
    UP,
    { up: [{ status: 500, body: OVERLOADED }] },
    "",
    "retry: {enabled: false}\ncircuit_breaker: {enabled: true, failure_threshold: 2}\n",
  );
  for (let count = 0; count < 2; count++) assertEquals((await call(REQUEST)).status, 500);
  const { status, text } = await call(REQUEST);
  assertEquals([status, JSON.parse(text).error.type], [503, "overloaded_error"]);
  assertEquals(sent.length, 2);
});

Deno.test("request-id is the upstream's own, and the gateway's where the upstream sends none", async () => {
  const theirs = await called(REQUEST, { headers: { "request-id": "req_9" }, body: MESSAGE });
  assertEquals(theirs.received.headers.get("request-id"), "req_9");
  const { received, report } = await called(REQUEST, { body: MESSAGE });
  assertEquals(received.headers.get("request-id"), report.id);
});
