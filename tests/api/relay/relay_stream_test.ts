import { assertEquals } from "../../support/assert.ts";
import { CONFIG, post, relayedGateway } from "./relayed_gateway.ts";

const CHUNK = 'data: {"object":"transcription.chunk","choices":[{"delta":{"content":"a"}}]}\n\n';
const DONE = "data: [DONE]\n\n";
const SSE = { "content-type": "text/event-stream" };

/** Headers of a body whose end is no break: one with a last chunk, and one with a length. */
const DELIMITED = [
  { ...SSE, "transfer-encoding": "chunked" },
  (body: string) => ({ ...SSE, "content-length": String(body.length) }),
] as const;

const SINGLE = CONFIG.replace("{initial_delay: 1s, jitter_factor: 0}", "{enabled: false}");

/** Sends a request whose response has this body, and returns its text and how the call ended. */
async function relayed(path: string, request: FormData | object, body: string, headers: object) {
  const calls = relayedGateway(
    () => new Response(body, { headers: { ...headers } }),
    SINGLE,
  );
  const response = await calls.app(
    post(path, request instanceof FormData ? request : { ...request }),
  );
  const text = await response.text();
  const { end } = JSON.parse(calls.log.findLast((line) => line.includes('"end"')) ?? "{}");
  return { status: response.status, text, end };
}

function transcription(): FormData {
  const form = new FormData();
  form.set("model", "able/heard");
  form.set("stream", "true");
  form.set("file", new Blob(["x"]), "a.wav");
  return form;
}

Deno.test("a transcript whose stream ends with [DONE] and without the event of the OpenAI API is complete", async () => {
  const body = CHUNK + CHUNK + DONE;
  const { text, end } = await relayed("/v1/audio/transcriptions", transcription(), body, SSE);
  assertEquals([text, end], [body, "complete"]);
});

Deno.test("a relayed stream that ends with its length or its last chunk is complete", async () => {
  for (const form of DELIMITED) {
    const headers = typeof form === "function" ? form(CHUNK) : form;
    const { text, end } = await relayed(
      "/v1/audio/transcriptions",
      transcription(),
      CHUNK,
      headers,
    );
    assertEquals([text, end], [CHUNK, "complete"]);
    const none = await relayed("/v1/audio/transcriptions", transcription(), ": hi\n\n", headers);
    assertEquals(none.status, 502, "a stream without an event");
  }
  const { text, end } = await relayed("/v1/audio/transcriptions", transcription(), CHUNK, SSE);
  assertEquals([text.startsWith(CHUNK), text.includes('"error"')], [true, true]);
  assertEquals(end, "stream_broken", "a body that ends with its connection");
});

Deno.test("a stream of several images is whole with each of their events, or with its own end", async () => {
  const image = 'data: {"type":"image_generation.completed","b64_json":"AA=="}\n\n';
  const cases = [
    [image + image, SSE, "complete"],
    [image + DONE, SSE, "complete"],
    [image, { ...SSE, "transfer-encoding": "chunked" }, "complete"],
    [image, SSE, "stream_broken"],
  ] as const;
  // Providers that are not strict read a number in a text.
  for (const n of [2, "2"]) {
    const request = { model: "able/image", prompt: "x", n, stream: true };
    for (const [body, headers, expected] of cases) {
      const { text, end } = await relayed("/v1/images/generations", request, body, headers);
      assertEquals([text.startsWith(body), end], [true, expected]);
    }
  }
});

Deno.test("a stream of transcripts that ends with [DONE] does not open the circuit breaker of its provider", async () => {
  const calls = relayedGateway(
    () => new Response(CHUNK + DONE, { headers: SSE }),
    SINGLE.replace("circuit_breaker: {enabled: false}", "circuit_breaker: {failure_threshold: 5}"),
  );
  for (let count = 0; count < 12; count++) {
    const response = await calls.app(post("/v1/audio/transcriptions", transcription()));
    assertEquals([response.status, await response.text()], [200, CHUNK + DONE]);
  }
});

Deno.test("a stream of completions without [DONE] is complete at the end of its body if it has finished", async () => {
  const config = SINGLE.replace("relay: [moderations, images, audio]", "relay: [completions]");
  for (const [reason, expected] of [["stop", true], [null, false]] as const) {
    const body = `data: {"choices":[{"index":0,"text":"a","finish_reason":${
      JSON.stringify(reason)
    }}]}\n\n`;
    const headers = { ...SSE, "transfer-encoding": "chunked" };
    const calls = relayedGateway(() => new Response(body, { headers }), config);
    const request = { model: "able/m", prompt: "x", stream: true };
    const text = await (await calls.app(post("/v1/completions", request))).text();
    assertEquals([text === body, text.includes('"error"')], [expected, !expected]);
  }
});
