import { assert, assertEquals } from "../../../support/assert.ts";
import { testOverStores } from "../../../support/over_stores.ts";
import {
  type Account,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  streamOf,
} from "../../../support/native_gateway.ts";
import { failureIn } from "./native_stream.ts";

/** As no JSON writer of ours would spell it. */
const ODD = ' {"model" : "up/m-1","input":"H\\u0069", "future":[1.0,{"a":12345678901234567890}]}\n';

const ANSWER =
  ' {"id":"resp_\\u0031","object":"response","status":"completed","output":[],"temperature":1.0,"usage":{"input_tokens":1.0,"output_tokens":2},"x":12345678901234567890}\n';

/** Headers as providers send them, with what may not go on. */
const HEADERS = {
  "x-request-id": "req_1",
  "openai-processing-ms": "12",
  "set-cookie": "a=b",
  "x-gateway-route": "theirs",
  "etag": "w",
};

function gateway(body = ANSWER, account: Account = {}, type = "application/json"): NativeGateway {
  const headers = { "content-type": type, ...HEADERS };
  return nativeGateway(nativeConfig({ up: account }), () => ({ headers, body }));
}

Deno.test("a native target gets the client's own document with the bare model", async () => {
  const calls = gateway();
  assertEquals((await calls.post("/responses", ODD)).status, 200);
  assertEquals(calls.lastRequest(), "up POST /responses");
  assertEquals(calls.requests[0]?.body, ODD.replace("up/m-1", "m-1"));
  await calls.post("/responses", ODD.replace("up/m-1", "m-2"));
  assertEquals(calls.requests[1]?.body, ODD.replace("up/m-1", "m-2"));
});

Deno.test("sampling defaults are added where the client has set none", async () => {
  const calls = gateway(ANSWER, { more: ["temperature: 0.5", "top_p: 0.25"] });
  const cases = {
    '{"model":"m","input":"x"}': '{"temperature":0.5,"top_p":0.25,"model":"m","input":"x"}',
    '{"model":"m","input":"x","top_p":1.0}':
      '{"temperature":0.5,"model":"m","input":"x","top_p":1.0}',
    '{"model":"m","input":"x","temperature":0,"top_p":0}': null,
  };
  for (const [sent, wanted] of Object.entries(cases)) {
    await calls.post("/responses", sent);
    assertEquals(calls.requests.at(-1)?.body, wanted ?? sent);
  }
});

testOverStores("an unstreamed native response keeps its bytes and its headers", async () => {
  const answer = await gateway().post("/responses", ODD);
  assertEquals([answer.status, answer.text], [200, ANSWER]);
  const shown = ["openai-processing-ms", "set-cookie", "etag"];
  assertEquals(shown.map((name) => answer.headers.get(name)), ["12", null, null]);
  assertEquals(answer.headers.get("x-request-id"), answer.headers.get("x-gateway-request-id"));
  assertEquals(answer.headers.get("content-type"), "application/json");
  const own = ["x-gateway-provider", "x-gateway-model", "x-gateway-route"];
  assertEquals(own.map((name) => answer.headers.get(name)), ["up", "m-1", "main"]);
});

testOverStores("a native stream keeps its bytes and its headers", async () => {
  const stream = `: hello\r\n\r\n${streamOf("resp_1", { x: 1 }).replaceAll("\n", "\r\n")}`;
  const calls = gateway(`${stream}data: [DONE]\n\n`, {}, "text/event-stream; charset=utf-8");
  const answer = await calls.post("/responses", { model: "m", input: "x", stream: true });
  assertEquals([answer.status, answer.text], [200, stream]);
  assertEquals(answer.headers.get("openai-processing-ms"), "12");
  assertEquals(answer.headers.get("x-request-id"), answer.headers.get("x-gateway-request-id"));
  assertEquals(answer.headers.get("set-cookie"), null);
  assertEquals(answer.headers.get("x-gateway-route"), "main");
  assertEquals(answer.headers.get("content-type")?.startsWith("text/event-stream"), true);
});

Deno.test("only status 200 is a native success, streamed or not", async () => {
  for (const stream of [false, true]) {
    for (const status of [201, 202, 302]) {
      const body = stream ? streamOf("resp_1") : ANSWER;
      const calls = nativeGateway(nativeConfig({ up: {} }), () => ({ status, body }));
      const answer = await calls.post("/responses", { model: "m", input: "x", stream });
      assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_status"]);
      assertEquals([calls.state.objects.stats().response_bindings.entries, calls.requests.length], [
        0,
        1,
      ]);
    }
  }
});

Deno.test("a stream with an error status is the provider's error, not a stream", async () => {
  for (const status of [400, 500]) {
    const calls = nativeGateway(
      nativeConfig({ up: {} }),
      () => ({ status, body: streamOf("resp_1") }),
    );
    const answer = await calls.post("/responses", { model: "m", input: "x", stream: true });
    assertEquals(answer.status, status);
    assert(!answer.text.includes("resp_1"), answer.text);
    assertEquals(calls.state.objects.stats().response_bindings.entries, 0);
  }
});

Deno.test("a body that is no valid Response object is a 502 and stores no owner", async () => {
  const wrong = [
    "",
    "[]",
    ANSWER.replace("resp_\\u0031", ""),
    ANSWER.replace("resp_\\u0031", " resp_1"),
    ANSWER.replace('"response"', '"chat.completion"'),
    ANSWER.replace('"id"', '"id":"resp_2","id"'),
  ];
  for (const body of wrong) {
    const calls = gateway(body);
    const answer = await calls.post("/responses", { model: "m", input: "x" });
    assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"], body);
    assertEquals(calls.state.objects.stats().response_bindings.entries, 0);
  }
});

Deno.test("a native response has at most 16 MiB", async () => {
  const room = 16 * 1024 * 1024 - ANSWER.length;
  const fits = await gateway(`${ANSWER}${" ".repeat(room)}`).post("/responses", ODD);
  assertEquals(fits.status, 200);
  const large = await gateway(`${ANSWER}${" ".repeat(room + 1)}`).post("/responses", ODD);
  assertEquals([large.status, large.error.code], [502, "upstream_response_too_large"]);
});

Deno.test(
  "a native stream with an invalid first event is a 502, and one with an invalid later event ends with a failure",
  async () => {
    const [created = ""] = streamOf("resp_1").split(/(?<=\n\n)/);
    for (
      const [stream, status] of [["data: {\n\n", 502], [`${created}data: {\n\n`, 200]] as const
    ) {
      const calls = gateway(stream, {}, "text/event-stream");
      const answer = await calls.post("/responses", { model: "m", input: "x", stream: true });
      assertEquals(answer.status, status);
      if (status === 502) assertEquals(answer.error.code, "invalid_upstream_response");
      else assertEquals<unknown>(failureIn(answer.text.slice(created.length), 1).id, "resp_1");
      assertEquals(calls.state.objects.stats().response_bindings.entries, 0);
      assertEquals(calls.state.objects.stats().responses.entries, 0);
    }
  },
);
