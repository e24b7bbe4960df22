import { assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { nativeGateway } from "../../support/native_gateway.ts";
import { refusalOf } from "../../support/state_call.ts";
import { CONFIG, post, relayedGateway } from "./relayed_gateway.ts";

Deno.test("only a target with the capability serves, and the document changes at the model alone", async () => {
  const calls = relayedGateway(() => ({ results: [] }));
  const text = '{ "input": [1.0,"x"],"model" : "able/m", "unknown": {"a":1e3} }';
  const request = new Request("http://gateway/v1/moderations?x=1", { method: "POST", body: text });
  const response = await calls.app(request);
  assertEquals([response.status, response.headers.get("x-gateway-provider")], [200, "able"]);
  const [sent] = calls.sent;
  assertEquals([sent?.url, sent?.text], [
    "http://able/moderations?x=1",
    text.replace("able/m", "m"),
  ]);
});

Deno.test("a request without a model leaves without one, not with the model for chats", async () => {
  const calls = relayedGateway(() => ({ results: [] }));
  const response = await calls.app(post("/v1/moderations", { input: "x" }));
  assertEquals([response.status, calls.sent[0]?.text], [200, '{"input":"x"}']);
  assertEquals((await calls.reported(1)).model, null);
  const speech = await calls.app(
    post("/v1/audio/speech", { input: "x" }, { "x-gateway-provider": "spare" }),
  );
  assertEquals(speech.status, 400, "an endpoint that needs a model");
  assertEquals(calls.sent.length, 1);
});

Deno.test("a route matches the request type of a relayed endpoint, which is its path", async () => {
  const calls = relayedGateway(() =>
    new Response("bytes", { headers: { "content-type": "audio/wav" } })
  );
  const speech = await calls.app(post("/v1/audio/speech", { model: "m", input: "x" }));
  assertEquals(speech.headers.get("x-gateway-route"), "forced");
  assertEquals([await speech.text(), speech.headers.get("content-type")], ["bytes", "audio/wav"]);
});

Deno.test("bytes have no first token, in no log line, metric or record of the admin page", async () => {
  const calls = relayedGateway(() =>
    new Response("bytes", { headers: { "content-type": "audio/wav" } })
  );
  await (await calls.app(post("/v1/audio/speech", { model: "m", input: "x" }))).text();
  const report = await calls.reported(1);
  assertEquals([report.ms.firstToken, report.stream, report.ms.firstByte], [null, false, 0]);
  assertEquals(calls.log.filter((line) => line.includes("ttft_ms")), []);
  const metrics = await calls.gateway.metrics.scrape();
  assertEquals(/^gateway_time_to_first_token_seconds_count.*$/m.exec(metrics), null);
});

/** The first target and the fallback serve every relayed endpoint of the configuration. */
const FALLING_BACK = CONFIG.replace(/\n {4}- \{name: forced,.*/, "");

Deno.test("a failed attempt is retried and then falls back", async () => {
  const calls = relayedGateway(({ url }) =>
    url.startsWith("http://able") ? new Response("{}", { status: 503 }) : { results: [] }
  );
  const called = calls.app(post("/v1/moderations", { model: "able/m", input: "x" }, {}));
  for (let wait = 0; wait < 3; wait++) await calls.world.advance(10_000);
  const response = await called;
  // A requested provider limits the fallbacks to it.
  assertEquals(response.status, 503);
  await response.body?.cancel();
  const again = calls.app(post("/v1/moderations", { model: "m", input: "x" }));
  for (let wait = 0; wait < 3; wait++) await calls.world.advance(10_000);
  assertEquals((await again).headers.get("x-gateway-provider"), "spare");
  assertEquals(calls.sent.at(-1)?.text, '{"model":"other","input":"x"}');
});

/** Requests that name a provider or none, and the parameter of their refusal. */
const NAMED = [
  ["m", {}, null],
  ["able/m", {}, "provider"],
  ["m", { "x-gateway-provider": "able" }, "provider"],
] as const;

Deno.test("a request that no target can serve names the capability, and the provider if the client does", async () => {
  const calls = nativeGateway(CONFIG, () => ({ body: {} }));
  for (const [path, family] of [["/rerank", "rerank"], ["/completions", "completions"]] as const) {
    for (const [model, headers, param] of NAMED) {
      const answer = await calls.post(path, { model }, headers);
      assertEquals(refusalOf(answer), [400, "unsupported_feature", param]);
      assertStringIncludes(answer.text, `capabilities.relay: [${family}]`);
    }
  }
  assertEquals(calls.requests.length, 0);
});

Deno.test("a model that is no text is refused, because the upstream would get it unread", async () => {
  const calls = nativeGateway(CONFIG, () => ({ body: {} }));
  for (const [path, model] of [["/moderations", ["m"]], ["/images/generations", 5]] as const) {
    const answer = await calls.post(path, {
      model: typeof model === "number" ? model : [...model],
    });
    assertEquals(refusalOf(answer), [400, "invalid_type", "model"]);
  }
  assertEquals(calls.requests.length, 0);
});

Deno.test("a multipart body is refused as soon as it is malformed, without waiting for the rest of it", async () => {
  const calls = relayedGateway(() => ({}));
  let isCancelled = false;
  const body = new ReadableStream({
    type: "bytes",
    start: (controller) => controller.enqueue(new TextEncoder().encode("--c\r\n")),
    cancel: () => void (isCancelled = true),
  });
  const response = await calls.app(
    new Request("http://gateway/v1/images/edits", {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=b" },
      body,
    }),
  );
  const { error } = await response.json();
  assertEquals([response.status, error.code, isCancelled], [400, "invalid_multipart", true]);
  assertEquals(calls.gateway.state.admission.bodyBytes(), 0);
});

Deno.test("an answer with another status of success reaches the client with it, complete ones alone", async () => {
  const cases = [[201, 201], [202, 202], [203, 203], [204, 502], [206, 502], [302, 502]] as const;
  for (const [sent, received] of cases) {
    const calls = relayedGateway(
      () =>
        new Response(sent === 204 ? null : '{"results":[]}', {
          status: sent,
          headers: { "content-type": "application/json" },
        }),
      CONFIG.replace("{initial_delay: 1s, jitter_factor: 0}", "{enabled: false}"),
    );
    const response = await calls.app(post("/v1/moderations", { model: "able/m", input: "x" }));
    assertEquals(response.status, received);
    if (received < 300) assertEquals(await response.json(), { results: [] });
    else await response.body?.cancel();
    assertEquals((await calls.reported(1)).status, received);
  }
});

Deno.test("bytes and event streams with another status of success reach the client with it", async () => {
  const cases = [[200, 200], [201, 201], [202, 202], [203, 203], [206, 502]] as const;
  const done = 'data: {"type":"speech.audio.done"}\n\n';
  for (const [type, body] of [["audio/wav", "tone"], ["text/event-stream", done]] as const) {
    for (const [sent, received] of cases) {
      const calls = relayedGateway(
        () => new Response(body, { status: sent, headers: { "content-type": type } }),
        CONFIG.replace("{initial_delay: 1s, jitter_factor: 0}", "{enabled: false}"),
      );
      const response = await calls.app(
        post("/v1/audio/speech", { model: "spare/m", input: "x", voice: "v" }),
      );
      assertEquals(response.status, received);
      const text = await response.text();
      if (received < 300) assertEquals(text, body);
      assertEquals((await calls.reported(1)).status, received);
    }
  }
});

Deno.test("bytes in a content coding that the gateway does not know have it for the client too", async () => {
  for (const [coding, received] of [["zstd", "zstd"], ["identity", null]] as const) {
    for (const type of ["audio/wav", "text/vtt"]) {
      const calls = relayedGateway(() =>
        new Response("packed", { headers: { "content-type": type, "content-encoding": coding } })
      );
      const form = new FormData();
      form.set("model", "able/m");
      const response = await calls.app(
        type === "audio/wav"
          ? post("/v1/audio/speech", { model: "spare/m", input: "x", voice: "v" })
          : post("/v1/audio/transcriptions", form),
      );
      assertEquals([response.status, response.headers.get("content-encoding")], [200, received]);
      assertEquals(await response.text(), "packed");
    }
  }
});

Deno.test("an error under status 200, and an answer that is no JSON, are faults", async () => {
  for (const body of ['{"error":{"message":"no"}}', "{", "[]", ""]) {
    const calls = relayedGateway(
      () => new Response(body, { headers: { "content-type": "application/json" } }),
      CONFIG.replace("{initial_delay: 1s, jitter_factor: 0}", "{enabled: false}"),
    );
    const response = await calls.app(post("/v1/moderations", { model: "able/m", input: "x" }));
    assertEquals(response.status, 502, body);
    await response.body?.cancel();
  }
});

const PAGE = "<!doctype html><title>Sign in</title>";

Deno.test("an HTML page with status 200 in place of bytes or JSON is a failed attempt that is retried and falls back", async () => {
  for (const path of ["/v1/audio/speech", "/v1/moderations"]) {
    for (const type of ["text/html", "Text/HTML; charset=utf-8"]) {
      const calls = relayedGateway(
        ({ url }) =>
          url.startsWith("http://able")
            ? new Response(PAGE, { headers: { "content-type": type } })
            : new Response("{}", { headers: { "content-type": "application/json" } }),
        FALLING_BACK,
      );
      const called = calls.app(post(path, { model: "m", input: "x", voice: "v" }));
      for (let wait = 0; wait < 3; wait++) await calls.world.advance(10_000);
      const response = await called;
      assertEquals([response.status, await response.text()], [200, "{}"], `${path} ${type}`);
      const { attempts } = await calls.reported(1);
      assertEquals(attempts.map(({ provider, outcome }) => `${provider}:${outcome}`), [
        "able:invalid_upstream_response",
        "able:invalid_upstream_response",
        "able:invalid_upstream_response",
        "spare:success",
      ]);
    }
  }
});

Deno.test("a transcription called text/html is delivered, because whisper.cpp calls its texts so", async () => {
  const calls = relayedGateway(() =>
    new Response("Hello.", { headers: { "content-type": "text/html; charset=utf-8" } })
  );
  const form = new FormData();
  form.set("model", "able/m");
  const response = await calls.app(post("/v1/audio/transcriptions", form));
  assertEquals([response.status, await response.text()], [200, "Hello."]);
});

Deno.test("a key uses the relayed endpoints that it may use, by the name of the capability", async () => {
  const config = twoKeys().replace("value: key-of-ada", "value: key-of-ada, endpoints: [audio]");
  const calls = nativeGateway(config + CONFIG, () => ({ body: { results: [] } }));
  const refused = await calls.post("/moderations", { input: "x" }, keyOf("ada"));
  assertEquals(refused.error.code, "endpoint_not_allowed");
  const files = await calls.get("/files", keyOf("ada"));
  assertEquals(files.error.code, "endpoint_not_allowed");
  assertEquals((await calls.post("/moderations", { input: "x" }, keyOf("bob"))).status, 200);
});

Deno.test("a JSON response is named as JSON, with the provider's content type only if it is one of JSON", async () => {
  const cases = [
    ["text/event-stream", "application/json"],
    ["text/html; charset=utf-8", "application/json"],
    ["application/jsonl", "application/json"],
    ["", "application/json"],
    ["application/json; charset=utf-8", "application/json; charset=utf-8"],
    ["application/problem+json", "application/problem+json"],
  ] as const;
  for (const [type, received] of cases) {
    const calls = relayedGateway(() =>
      new Response(new TextEncoder().encode('{"results":[]}'), {
        headers: type === "" ? {} : { "content-type": type },
      })
    );
    const response = await calls.app(post("/v1/moderations", { model: "able/m", input: "x" }));
    assertEquals([response.status, response.headers.get("content-type")], [200, received], type);
    assertEquals(await response.json(), { results: [] });
  }
});

Deno.test("an edit of images in JSON is relayed with the model of the target, whole and as a stream", async () => {
  const event = 'data: {"type":"image_edit.completed"}\n\n';
  const calls = relayedGateway(({ text }) =>
    text.includes('"stream"')
      ? new Response(event, { headers: { "content-type": "text/event-stream" } })
      : { data: [{}] }
  );
  const body = '{"images":[{"file_id":"f"}], "model":"able/image", "n":1';
  for (
    const [type, more] of [["application/json", "}"], [
      "Application/JSON; charset=utf-8",
      ',"stream":true}',
    ]]
  ) {
    const request = new Request("http://gateway/v1/images/edits", {
      method: "POST",
      headers: { "content-type": type ?? "" },
      body: `${body}${more}`,
    });
    const response = await calls.app(request);
    assertEquals(response.status, 200);
    assertStringIncludes(await response.text(), more === "}" ? '"data"' : event);
    const sent = calls.sent.at(-1);
    assertEquals([sent?.url, sent?.text], [
      "http://able/images/edits",
      `${body}${more}`.replace("able/image", "image"),
    ]);
    assertEquals(sent?.headers.get("content-type"), "application/json");
  }
  assertEquals((await calls.reported(2)).cost, 0.04);
});

Deno.test("a body for edits of images that is not called JSON must be multipart, and one for audio always", async () => {
  const calls = nativeGateway(CONFIG, () => ({ body: {} }));
  for (
    const [path, type] of [["/images/edits", "text/plain"], [
      "/audio/transcriptions",
      "application/json",
    ]] as const
  ) {
    const refused = await calls.post(path, '{"model":"able/m"}', { "content-type": type });
    assertEquals(refusalOf(refused), [400, "invalid_multipart", null]);
  }
  assertEquals(calls.requests.length, 0);
});

Deno.test("a boundary that is in the model of the target is refused, because parsers could end the model there", async () => {
  const calls = nativeGateway(
    CONFIG.replace(
      /targets: \[\{provider: none.*?\]/,
      'targets: [{provider: able, model: "m--b0"}]',
    ),
    () => ({ body: { data: [] } }),
  );
  const send = (boundary: string) =>
    calls.post(
      "/images/variations",
      `--${boundary}\r\nContent-Disposition: form-data; name="n"\r\n\r\n1\r\n--${boundary}--`,
      {
        "content-type": `multipart/form-data; boundary=${boundary}`,
      },
    );
  assertEquals(refusalOf(await send("b0")), [400, "invalid_multipart", null]);
  assertEquals((await send("b1")).status, 200);
});

Deno.test("a transcript that was requested as text is delivered although the provider calls it JSON", async () => {
  const config = CONFIG.replace("{initial_delay: 1s, jitter_factor: 0}", "{enabled: false}");
  const plain = "text/plain; charset=utf-8", json = "application/json";
  const cases = [
    ["text", "Hello there.\n", 200, plain],
    ["srt", "1\n00:00:00,000 --> 00:00:01,000\nHi\n", 200, plain],
    ["text", "", 200, plain],
    ["text", '"Hello."', 200, json],
    ["text", '{"text":"Hello."}', 200, json],
    ["text", '{"error":{"message":"no"}}', 502, json],
    ["json", "Hello there.", 502, json],
  ] as const;
  for (const [format, body, status, type] of cases) {
    const calls = relayedGateway(
      () => new Response(body, { headers: { "content-type": json } }),
      config,
    );
    const form = new FormData();
    form.set("model", "able/m");
    form.set("response_format", format);
    const response = await calls.app(post("/v1/audio/transcriptions", form));
    const text = await response.text();
    assertEquals([response.status, response.headers.get("content-type")], [status, type], body);
    if (status === 200) assertEquals(text, body);
  }
});
