import { APIError, BadRequestError, NotFoundError, toFile } from "openai";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { textOfTone } from "../../src/simulator/relay/tone.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { type Sdk, startSdk } from "./sdk.ts";

const ALL =
  "capabilities: {relay: [completions, moderations, images, audio, files, batches, rerank]}";
const MODEL = "sim-echo";

function start(more = ""): Sdk {
  return startSdk("compat", `${ALL}${more}`);
}

/** Returns the failure of a call of the SDK. */
async function failureOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error("the call succeeded");
}

Deno.test("the SDK gets a text completion, whole and as a stream", async () => {
  await using sdk = start();
  const body = { model: `sim/${MODEL}`, prompt: "good day to you" };
  const whole = await sdk.client.completions.create(body);
  assertEquals(whole.choices[0]?.text, "good day to you");
  let text = "";
  const stream = await sdk.client.completions.create({ ...body, stream: true });
  for await (const chunk of stream) text += chunk.choices[0]?.text;
  assertEquals(text, "good day to you");
  const report = await sdk.gateway.reported(2);
  assertEquals([report.model, report.usage?.input, report.endpoint.api], [MODEL, 4, "completions"]);
});

Deno.test("a stream of completions that breaks off ends with one error for the SDK", async () => {
  await using sdk = start();
  const stream = await sdk.client.completions.create({
    model: "sim-broken-stream",
    prompt: "good day",
    stream: true,
  });
  const failure = await failureOf((async () => {
    for await (const chunk of stream) assertEquals(chunk.object, "text_completion");
  })());
  assert(failure instanceof APIError);
  assertEquals(failure.code, "upstream_stream_error");
});

Deno.test("the SDK gets moderations without a model, which the upstream chooses", async () => {
  await using sdk = start();
  const { results, model } = await sdk.client.moderations.create({ input: ["peace", "violence"] });
  assertEquals([results.map(({ flagged }) => flagged), model], [[false, true], MODEL]);
  const categories = results.map((result) => Object.entries(result.categories));
  assertEquals(categories.map((all) => all.length), [13, 13]);
  const found = categories.flat().filter(([, isFound]) => isFound);
  assertEquals(found, [["violence", true]]);
});

Deno.test("the SDK gets generated images, whole and as a stream of two", async () => {
  await using sdk = start();
  const body = { model: MODEL, prompt: "a dot", n: 2 };
  const { data = [] } = await sdk.client.images.generate(body);
  assertEquals(data.length, 2);
  const types: string[] = [];
  const stream = await sdk.client.images.generate({ ...body, stream: true, partial_images: 1 });
  for await (const { type } of stream) types.push(type);
  const kinds = ["image_generation.partial_image", "image_generation.completed"];
  assertEquals(types, [...kinds, ...kinds]);
  assertEquals([(await sdk.gateway.reported(2)).units], [{ images: 2 }]);
});

Deno.test("the SDK edits an image and gets a variation", async () => {
  await using sdk = start();
  const image = await toFile(new Uint8Array([1, 2, 3]), "ä dot.png", { type: "image/png" });
  const edited = await sdk.client.images.edit({ image, prompt: "a line", model: MODEL });
  assertEquals(edited.data?.length, 1);
  const types: string[] = [];
  const stream = await sdk.client.images.edit({ image, prompt: "x", model: MODEL, stream: true });
  for await (const { type } of stream) types.push(type);
  assertEquals(types, ["image_edit.partial_image", "image_edit.completed"]);
  const varied = await sdk.client.images.createVariation({ image, n: 3 });
  assertEquals(varied.data?.length, 3);
});

Deno.test("what the SDK lets speak is transcribed to the same text", async () => {
  await using sdk = start();
  const spoken = "Guten Tag, 世界";
  const speech = await sdk.client.audio.speech.create({
    model: `sim/${MODEL}`,
    voice: "alloy",
    input: spoken,
  });
  assertEquals(speech.headers.get("content-type"), "audio/wav");
  const wav = new Uint8Array(await speech.arrayBuffer());
  assertEquals(textOfTone(wav)?.text, spoken);
  const file = () => toFile(wav, "said.wav");
  const { audio } = sdk.client;
  const heard = await audio.transcriptions.create({ file: await file(), model: `sim/${MODEL}` });
  assertEquals(heard.text, spoken);
  const text = await audio.transcriptions.create({
    file: await file(),
    model: MODEL,
    response_format: "text",
  });
  assertEquals(String(text), `${spoken}\n`);
  const translated = await audio.translations.create({ file: await file(), model: MODEL });
  assertEquals(translated.text, spoken);
  let streamed = "";
  const stream = await audio.transcriptions.create({
    file: await file(),
    model: MODEL,
    stream: true,
  });
  for await (const event of stream) {
    if (event.type === "transcript.text.done") streamed = event.text;
  }
  assertEquals(streamed, spoken);
  assertEquals((await sdk.gateway.reported(1)).units, { characters: 13 });
  assertEquals(
    (await sdk.gateway.reported(2)).units?.seconds,
    wav.length > 44 ? (wav.length - 44) / 8_000 : 0,
  );
});

Deno.test("the SDK gets subtitles, whose end is the length of the audio", async () => {
  await using sdk = start();
  const { audio } = sdk.client;
  const speech = await audio.speech.create({ model: MODEL, voice: "alloy", input: "good day" });
  const wav = new Uint8Array(await speech.arrayBuffer());
  for (const [format, times] of [["srt", ",000 --> 00:00:00,160"], ["vtt", "WEBVTT"]] as const) {
    const file = await toFile(wav, "said.wav");
    const text = await audio.transcriptions.create({ file, model: MODEL, response_format: format });
    assertStringIncludes(String(text), times);
    assertStringIncludes(String(text), "good day");
  }
  assertEquals((await sdk.gateway.reported(2)).units, { seconds: 0.16 });
  assertEquals((await sdk.gateway.reported(3)).units, { seconds: 0.16 });
});

Deno.test("the SDK gets speech as events", async () => {
  await using sdk = start();
  const response = await sdk.client.audio.speech.create({
    model: MODEL,
    voice: "alloy",
    input: "hello",
    stream_format: "sse",
  });
  const text = await response.text();
  assertStringIncludes(text, "event: speech.audio.delta\n");
  assertStringIncludes(text, "event: speech.audio.done\n");
});

Deno.test("speech that breaks off never looks complete to the SDK", async () => {
  await using sdk = start();
  const speech = await sdk.client.audio.speech.create({
    model: "sim-broken-reset",
    voice: "alloy",
    input: "a long text of which half arrives",
  });
  const failure = await failureOf(speech.arrayBuffer());
  assert(failure instanceof TypeError);
  const report = await sdk.gateway.reported(1);
  assertEquals([report.failure?.kind, report.brokeOff], ["upstream_unreachable", true]);
});

Deno.test("speech that breaks off ends its connection without the last chunk, and whole speech has its length", async () => {
  await using sdk = start();
  for (const [model, isWhole] of [[MODEL, true], ["sim-broken-reset", false]] as const) {
    const { hostname, port } = new URL(sdk.gateway.url);
    using connection = await Deno.connect({ hostname, port: Number(port) });
    const body = JSON.stringify({ model, voice: "alloy", input: "good day" });
    const request = `POST /v1/audio/speech HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n` +
      `content-length: ${body.length}\r\n\r\n`;
    await connection.write(new TextEncoder().encode(request + body));
    let text = "";
    const decoder = new TextDecoder("latin1");
    for await (const piece of connection.readable) text += decoder.decode(piece);
    assertStringIncludes(text, "RIFF");
    const [head = "", sent = ""] = text.split(/\r\n\r\n(.*)/s);
    if (isWhole) assertStringIncludes(head, `content-length: ${sent.length}`);
    else {
      assertStringIncludes(head.toLowerCase(), "transfer-encoding: chunked");
      assert(!text.endsWith("0\r\n\r\n"));
    }
  }
});

Deno.test("the SDK stores, lists, reads and deletes a file", async () => {
  await using sdk = start();
  const { files } = sdk.client;
  const content = new Uint8Array(1_000).map((_, at) => at % 256);
  const file = await files.create({ file: await toFile(content, "ä.bin"), purpose: "batch" });
  assertEquals([file.filename, file.bytes], ["ä.bin", 1_000]);
  assertEquals((await files.retrieve(file.id)).id, file.id);
  assertEquals((await files.list()).data.map(({ id }) => id), [file.id]);
  assertEquals(new Uint8Array(await (await files.content(file.id)).arrayBuffer()), content);
  assertEquals((await files.delete(file.id)).deleted, true);
  const failure = await failureOf(files.retrieve(file.id));
  // An ID without a known owner is for the only provider, which says that it has no such file.
  assert(failure instanceof NotFoundError);
  assertEquals(failure.code, null);
});

Deno.test("the SDK runs a batch and reads its results", async () => {
  await using sdk = start();
  const { files, batches } = sdk.client;
  const file = await files.create({
    file: await toFile(new Uint8Array([1]), "in"),
    purpose: "batch",
  });
  const batch = await batches.create({
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  const { output_file_id } = await batches.retrieve(batch.id);
  assertEquals((await batches.list()).data.map(({ id }) => id), [batch.id]);
  const results = await files.content(output_file_id ?? "");
  assertEquals(new Uint8Array(await results.arrayBuffer()), new Uint8Array([1]));
  assertEquals((await batches.cancel(batch.id)).status, "cancelled");
});

Deno.test("the SDK uploads a file in parts", async () => {
  await using sdk = start();
  const { uploads, files } = sdk.client;
  const about = { filename: "big", purpose: "batch", bytes: 4, mime_type: "text/plain" } as const;
  const upload = await uploads.create(about);
  assertEquals([upload.bytes, upload.expires_at > upload.created_at], [4, true]);
  const parts = [];
  for (const text of ["ab", "cd"]) {
    parts.push(await uploads.parts.create(upload.id, { data: await toFile(new Blob([text])) }));
  }
  const { file } = await uploads.complete(upload.id, { part_ids: parts.map(({ id }) => id) });
  assertEquals(await (await files.content(file?.id ?? "")).text(), "abcd");
  const other = await uploads.create(about);
  assertEquals((await uploads.cancel(other.id)).status, "cancelled");
});

Deno.test("images are edited in a JSON body too, whole and as a stream", async () => {
  await using sdk = start();
  for (const stream of [false, true]) {
    const response = await fetch(`${sdk.gateway.url}/v1/images/edits`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: `sim/${MODEL}`,
        images: [{ file_id: "f" }],
        prompt: "x",
        stream,
      }),
    });
    assertEquals(response.status, 200);
    assertStringIncludes(await response.text(), stream ? "image_edit.completed" : "b64_json");
  }
});

Deno.test("rerank orders documents and counts their tokens", async () => {
  await using sdk = start();
  for (const [at, path] of ["/v1/rerank", "/v2/rerank", "/rerank"].entries()) {
    const response = await fetch(`${sdk.gateway.url}${path}`, {
      method: "POST",
      body: JSON.stringify({ model: `sim/${MODEL}`, query: "q", documents: ["one", "two three"] }),
    });
    const { results, model } = await response.json();
    assertEquals([results.length, model], [2, MODEL]);
    assertEquals((await sdk.gateway.reported(at + 1)).usage?.input, 3);
  }
});

Deno.test("an endpoint that no target has is refused by the name of its capability", async () => {
  for (const wire of ["compat", "messages", "local"] as const) {
    await using sdk = startSdk(wire);
    const { client } = sdk;
    const file = await toFile(new Uint8Array(1), "x");
    const calls = [
      ["completions", client.completions.create({ model: MODEL, prompt: "x" })],
      ["moderations", client.moderations.create({ input: "x" })],
      ["images", client.images.generate({ prompt: "x" })],
      ["images", client.images.edit({ prompt: "x", image: file })],
      ["audio", client.audio.speech.create({ model: MODEL, voice: "alloy", input: "x" })],
      ["files", client.files.create({ file, purpose: "batch" })],
      ["files", client.files.list()],
      ["batches", client.batches.list()],
    ] as const;
    for (const [family, call] of calls) {
      const failure = await failureOf(call);
      assert(failure instanceof BadRequestError, String(failure));
      assertEquals(failure.code, "unsupported_feature");
      assertStringIncludes(failure.message, `capabilities.relay: [${family}]`);
    }
  }
});

Deno.test("the same call with the same simulator gives the same bytes", async () => {
  const world = newRealWorld();
  const answer = newSimulator(world);
  const speak = async () => {
    const body = JSON.stringify({ model: MODEL, voice: "v", input: "same" });
    const request = new Request("http://sim/v1/audio/speech", { method: "POST", body });
    return await (await answer(request)).bytes();
  };
  assertEquals(await speak(), await speak());
  world.close();
});
