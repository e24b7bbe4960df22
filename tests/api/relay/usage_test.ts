import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { streamOf } from "../../support/pieces.ts";
import { CONFIG, post, relayedGateway, type Sent } from "./relayed_gateway.ts";

const COSTS: readonly (readonly [
  what: string,
  path: string,
  model: string,
  answer: JsonObject,
  usd: number | null,
])[] = [
  ["two images", "/v1/images/generations", "able/image", { data: [{}, {}] }, 0.08],
  ["tokens before images", "/v1/images/generations", "able/tokens", {
    data: [{}],
    usage: { input_tokens: 1_000_000, output_tokens: 500_000, total_tokens: 1_500_000 },
  }, 2],
  ["an unpriced model", "/v1/images/generations", "able/m", { data: [{}] }, null],
  ["characters", "/v1/audio/speech", "spare/said", {}, 3],
];

for (const [what, path, model, answer, usd] of COSTS) {
  Deno.test(`the cost of a relayed call is that of ${what}`, async () => {
    const calls = relayedGateway(() => answer);
    const response = await calls.app(post(path, { model, prompt: "x", input: "a😀c" }));
    assertEquals(response.status, 200);
    await response.body?.cancel();
    assertEquals((await calls.reported(1)).cost, usd);
  });
}

Deno.test("the cost of a transcription is that of its minutes, if the provider reports its length", async () => {
  const answers = [
    [{ text: "x", usage: { type: "duration", seconds: 30 } }, 0.3],
    [{ text: "x", duration: "60" }, 0.6],
    [{ text: "x" }, null],
  ] as const;
  for (const [answer, usd] of answers) {
    const calls = relayedGateway(() => ({ ...answer }));
    const form = new FormData();
    form.set("file", new File(["\x00\xff"], "ä.wav"));
    form.set("model", "able/heard");
    const response = await calls.app(post("/v1/audio/transcriptions", form));
    assertEquals(response.status, 200, await response.text());
    assertEquals((await calls.reported(1)).cost, usd);
    const [sent] = calls.sent;
    assertStringIncludes(sent?.text ?? "", 'filename="ä.wav"');
    assertStringIncludes(sent?.text ?? "", "\r\n\r\nheard\r\n");
    assert(sent?.headers.get("content-type")?.startsWith("multipart/form-data; boundary="));
  }
});

Deno.test("a key is charged for images, without an estimate of tokens, and for speech that it did not wait for", async () => {
  const wav = () =>
    new Response(streamOf([new Uint8Array(200_000)]), { headers: { "content-type": "audio/wav" } });
  const script = ({ url }: Sent) =>
    url.endsWith("/speech") ? wav() : { data: [{ b64_json: "A".repeat(9_000) }] };
  const calls = relayedGateway(script, twoKeys() + CONFIG);
  const image = await calls.app(
    post("/v1/images/generations", { model: "able/image", prompt: "x" }, keyOf("ada")),
  );
  assertEquals([image.status, (await image.json()).data.length], [200, 1]);
  const first = await calls.reported(1);
  assertEquals([first.charge, first.estimated], [{ tokens: 0, nanoUsd: 40_000_000 }, false]);
  const speech = await calls.app(
    post("/v1/audio/speech", { model: "spare/said", input: "abc" }, keyOf("ada")),
  );
  assertEquals(speech.status, 200);
  await speech.body?.cancel();
  assertEquals((await calls.reported(2)).charge, { tokens: 0, nanoUsd: 3_000_000_000 });
});

/** A request for a transcript in a format. */
function transcription(format: string, model = "able/heard"): Request {
  const form = new FormData();
  form.set("file", new File(["x"], "x.wav"));
  form.set("model", model);
  form.set("response_format", format);
  return post("/v1/audio/transcriptions", form, keyOf("ada"));
}

function plain(text: string): () => Response {
  return () => new Response(text, { headers: { "content-type": "text/plain" } });
}

const SRT = "1\n00:00:01,000 --> 00:00:29,500\nHi\n\n2\n00:00:29,500 --> 00:02:00,000\nyou\n\n";
const VTT = "WEBVTT\n\n00:01.000 --> 02:00.000 align:start\nHi\n";

/** Transcripts of two minutes. */
const TRANSCRIPTS: readonly (readonly [
  format: string,
  answer: () => Response | JsonObject,
])[] = [
  ["json", () => ({ text: "x", usage: { type: "duration", seconds: 120 } })],
  ["verbose_json", () => ({ text: "x", duration: 120 })],
  ["diarized_json", () => ({ segments: [{ end: 1 }, { end: 120 }] })],
  ["srt", plain(SRT)],
  ["srt", plain(SRT.replaceAll("\n", "\r\n"))],
  ["srt", plain("é".repeat(20_000) + SRT)],
  ["vtt", plain(VTT)],
  ["vtt", plain(VTT.replaceAll(/(?=0\d:)/g, "00:"))],
];

Deno.test("a key is charged for the minutes of a transcript that says its length, in each format", async () => {
  for (const [format, answer] of TRANSCRIPTS) {
    const calls = relayedGateway(answer, twoKeys() + CONFIG);
    const response = await calls.app(transcription(format));
    assertEquals(response.status, 200, await response.text());
    const { charge, cost, usage, isCostUnknown } = await calls.reported(1);
    const nanoUsd = 1_200_000_000;
    assertEquals([charge, cost, usage], [{ tokens: 0, nanoUsd }, 1.2, null], format);
    assertEquals(isCostUnknown, false);
  }
});

Deno.test("the cost of a transcript without a length is unknown in log and metrics, and not zero", async () => {
  for (
    const [format, text] of [
      ["text", SRT],
      ["srt", ""],
      ["srt", "1\n00:00:01 --> soon\nHi\n"],
      ["vtt", "WEBVTT\n\n00:00.000 --> 00:01.0000"],
    ] as const
  ) {
    const calls = relayedGateway(plain(text));
    const response = await calls.app(transcription(format));
    assertEquals(await response.text(), text);
    const { cost, usage, isCostUnknown } = await calls.reported(1);
    assertEquals([cost, usage, isCostUnknown], [null, null, true]);
    assertStringIncludes(calls.log.join(""), '"cost_unknown":true');
    const metrics = await calls.gateway.metrics.scrape();
    assertStringIncludes(
      metrics,
      'gateway_cost_unknown_total{provider="able",model="_dynamic"} 1\n',
    );
    assert(!metrics.includes("gateway_cost_usd_total{"));
  }
});

Deno.test("a key is charged for audio by its bytes, at 16 kbit/s, if the provider does not report its length", async () => {
  const events = () =>
    new Response(
      streamOf([
        new TextEncoder().encode('data: {"type": "transcript.text.delta", "delta": "a"}\n\n'),
      ]),
      { headers: { "content-type": "text/event-stream" } },
    );
  for (const script of [plain("text"), () => ({ text: "x" }), events]) {
    const calls = relayedGateway(script, twoKeys() + CONFIG);
    const form = new FormData();
    form.set("file", new File(["x".repeat(2_000 * 60)], "x.wav"));
    form.set("model", "able/heard");
    form.set("stream", "true");
    const response = await calls.app(post("/v1/audio/transcriptions", form, keyOf("ada")));
    if (script === events) await response.body?.cancel();
    else await response.text();
    const { charge, cost, estimated } = await calls.reported(1);
    assertEquals([charge?.nanoUsd, cost, estimated], [600_000_000, 0.6, true]);
  }
});

Deno.test("an operation whose cost is not known of every call is refused for a key with a budget in USD", async () => {
  const limited = twoKeys().replace("key-of-ada", "key-of-ada, budgets: [{per: day, usd: 1}]");
  assert(limited !== twoKeys());
  const config = limited +
    CONFIG.replace(
      "pricing:",
      "pricing:\n  able/half: {input: 1, output: 1}\n  spare/half: {input: 1, output: 1}",
    );
  for (
    const [path, model, member] of [
      ["/v1/images/generations", "able/half", "per_image"],
      ["/v1/audio/speech", "spare/half", "per_million_characters"],
    ] as const
  ) {
    const calls = relayedGateway(() => ({ data: [] }), config);
    const body = { model, prompt: "x", input: "x" };
    const refused = await calls.app(post(path, body, keyOf("ada")));
    const { error } = await refused.json();
    assertEquals([refused.status, error.code, error.param], [403, "model_not_priced", "model"]);
    assertStringIncludes(error.message, `'${member}'`);
    assertEquals((await calls.app(post(path, body, keyOf("bob")))).status, 200);
  }
  const calls = relayedGateway(() => ({ text: "x" }), config);
  const heard = await calls.app(transcription("json", "able/half"));
  assertStringIncludes((await heard.json()).error.message, "'per_minute'");
});

Deno.test("a transcript whose reported tokens have no price is charged by its estimated length", async () => {
  const limited = twoKeys().replace("key-of-ada", "key-of-ada, budgets: [{per: day, usd: 9}]");
  const usage = { type: "tokens", input_tokens: 100, output_tokens: 10, total_tokens: 110 };
  const calls = relayedGateway(() => ({ text: "x", usage }), limited + CONFIG);
  const form = new FormData();
  form.set("file", new File(["x".repeat(2_000 * 60)], "x.wav"));
  form.set("model", "able/heard");
  const response = await calls.app(post("/v1/audio/transcriptions", form, keyOf("ada")));
  await response.text();
  const { charge, cost } = await calls.reported(1);
  assertEquals([charge?.tokens, charge?.nanoUsd, cost], [110, 600_000_000, 0.6]);
});

Deno.test("the cost of rerank without tokens is unknown, and moderations without tokens cost nothing", async () => {
  const config = CONFIG.replaceAll("[moderations,", "[rerank, moderations,")
    .replace("able/image:", "able/priced: {input: 1, output: 1}\n  able/image:");
  const estimated = relayedGateway(() => ({ results: [] }), twoKeys() + config);
  await estimated.app(post("/v1/rerank", { model: "able/priced" }, keyOf("ada")));
  assertEquals((await estimated.reported(1)).charge, { tokens: 5, nanoUsd: 5_000 });
  for (
    const [path, usage, cost, isUnknown] of [
      ["/v1/rerank", undefined, null, true],
      ["/v1/rerank", { total_tokens: 1_000_000 }, 1, false],
      ["/v1/moderations", undefined, null, false],
      ["/v1/moderations", { total_tokens: 1_000_000 }, 1, false],
    ] as const
  ) {
    const calls = relayedGateway(
      () => ({ results: [], ...usage !== undefined && { usage } }),
      config,
    );
    const response = await calls.app(post(path, { model: "able/priced" }));
    assertEquals(response.status, 200, await response.text());
    const report = await calls.reported(1);
    assertEquals([report.cost, report.isCostUnknown], [cost, isUnknown], path);
  }
});

Deno.test("a cost is not unknown if the model has no price, if it is known, or without a response", async () => {
  const answers = [
    [plain("x"), "able/free"],
    [() => ({ text: "x", duration: 0 }), "able/heard"],
    [() => new Response("{}", { status: 400 }), "able/heard"],
  ] as const;
  for (const [answer, model] of answers) {
    const calls = relayedGateway(answer, CONFIG);
    await (await calls.app(transcription("text", model))).body?.cancel();
    assertEquals((await calls.reported(1)).isCostUnknown, false);
    assert(!calls.log.join("").includes("cost_unknown"));
  }
});

Deno.test("a key is charged by image if the provider reports tokens that have no price", async () => {
  const usage = { input_tokens: 5, output_tokens: 6, total_tokens: 11 };
  const calls = relayedGateway(() => ({ data: [{}, {}], usage }), twoKeys() + CONFIG);
  const body = { model: "able/image", prompt: "x" };
  const response = await calls.app(post("/v1/images/generations", body, keyOf("ada")));
  assertEquals(response.status, 200);
  const { charge, cost } = await calls.reported(1);
  assertEquals([charge, cost], [{ tokens: 11, nanoUsd: 80_000_000 }, 0.08]);
});

Deno.test("a key is charged for the images that it did not wait for", async () => {
  const event = `data: ${JSON.stringify({ type: "image_generation.partial_image" })}\n\n`;
  const records = Array.from({ length: 100 }, () => new TextEncoder().encode(event));
  const calls = relayedGateway(
    () => new Response(streamOf(records), { headers: { "content-type": "text/event-stream" } }),
    twoKeys() + CONFIG,
  );
  const body = { model: "able/image", prompt: "x", n: 3, stream: true };
  const response = await calls.app(post("/v1/images/generations", body, keyOf("ada")));
  await response.body?.cancel();
  const { charge, cost } = await calls.reported(1);
  assertEquals([charge, cost], [{ tokens: 0, nanoUsd: 120_000_000 }, 0.12]);
});
