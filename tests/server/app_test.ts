import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { saying } from "../support/word_stream.ts";
import { scriptedWorld } from "../support/world.ts";
import { createApp } from "../../src/server/app.ts";

function gatewayOf(script: Parameters<typeof scriptedWorld>[0] = {}) {
  return testGateway(oneProvider("http://up"), scriptedWorld(script));
}

Deno.test("an unknown path is 404 unknown_url in the envelope", async () => {
  const { app } = gatewayOf();
  for (const path of ["/", "/v1", "/v1/nowhere", "/v2/chat/completions", "/%zz", "//health"]) {
    const { status, error, headers } = await got(await app(new Request(`http://localhost${path}`)));
    assertEquals(status, 404, path);
    assertEquals(headers.get("content-type"), "application/json");
    assertEquals([error.type, error.param, error.code], [
      "invalid_request_error",
      null,
      "unknown_url",
    ]);
  }
});

Deno.test("another method on a known path is refused with 405 and the allowed methods", async () => {
  const { app } = gatewayOf();
  for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
    const answer = await got(await app(new Request("http://localhost/health", { method })));
    assertEquals(answer.status, 405);
    assertEquals(answer.headers.get("allow"), "GET, HEAD");
    assertEquals(answer.error.code, "method_not_allowed");
    assertEquals(answer.error.type, "invalid_request_error");
  }
  const chat = await got(await app(new Request(chatRequest().url, { method: "PUT" })));
  assertEquals(chat.status, 405);
  assertStringIncludes(chat.headers.get("allow") ?? "", "POST");
});

Deno.test("an error is one object with message, type, param and code", async () => {
  const { app } = gatewayOf();
  const { text, error } = await got(await app(chatRequest({ body: { messages: null } })));
  assertEquals(Object.keys(error), ["message", "type", "param", "code"]);
  assertEquals(Object.keys(JSON.parse(text)), ["error"]);
});

Deno.test("a bug is 500 internal_error, and its text is neither in the response nor in the log", async () => {
  const config = oneProvider("http://up").replace(
    "name: main",
    "name: main\n      strategy: random",
  );
  const world = {
    ...scriptedWorld(),
    random(): number {
      throw new RangeError("prompt: tell nobody");
    },
  };
  const gateway = testGateway(config, world);
  const { status, error, text, headers } = await got(await gateway.app(chatRequest()));
  assertEquals([status, error.type, error.param, error.code], [
    500,
    "server_error",
    null,
    "internal_error",
  ]);
  assert(headers.has("x-gateway-request-id"));
  assert(!text.includes("tell nobody"));
  const log = gateway.log.join("");
  assertStringIncludes(log, "RangeError");
  assert(!log.includes("tell nobody"));
});

const NAMES = ["名前", "é", "a\r\nx-evil: 1", "\u0000", " padded ", "\ud800", "%", "a/b", '"'];

for (const name of NAMES) {
  Deno.test(`the model ${JSON.stringify(name)} is echoed in a header that can be sent`, async () => {
    const { app } = gatewayOf({ fetch: () => answers(200, COMPLETION) });
    const { status, headers } = await got(await app(chatRequest({ body: { model: name } })));
    assertEquals(status, 200);
    assertEquals(headers.get("x-evil"), null);
    const shown = headers.get("x-gateway-model") ?? "";
    assert(/^[\x20-\x7e]*$/.test(shown));
    const isPlain = /^[\x20-\x7e]*$/.test(name);
    assertEquals(isPlain ? shown : decodeURI(shown), isPlain ? name.trim() : name.toWellFormed());
  });
}

Deno.test("a very long model name is cut in the response headers, which clients limit", async () => {
  const { app } = gatewayOf({ fetch: () => answers(200, COMPLETION) });
  const model = "名".repeat(100_000);
  const { status, headers } = await got(await app(chatRequest({ body: { model } })));
  assertEquals(status, 200);
  assert((headers.get("x-gateway-model") ?? "").length < 4096);
});

Deno.test("names over 256 characters are cut in the response headers", async () => {
  const { app } = gatewayOf({ fetch: () => answers(200, COMPLETION) });
  for (const [length, shown] of [[256, 256], [257, 256]] as const) {
    const request = chatRequest({ body: { model: "m".repeat(length) } });
    const { headers } = await got(await app(request));
    assertEquals(headers.get("x-gateway-model"), "m".repeat(shown));
  }
});

Deno.test("a call begins in its turn of the event loop: one that has its turn overtakes it", async () => {
  const sent: string[] = [];
  const { app, gateway } = gatewayOf({
    async fetch(_url, { body }) {
      sent.push((await new Response(body).json()).model);
      return await answers(200, COMPLETION);
    },
  });
  const turn = Promise.withResolvers<void>();
  const waits = [turn.promise];
  Object.assign(gateway.state, { turns: { next: () => waits.shift() ?? null } });
  const early = app(chatRequest({ body: { model: "early" } }));
  await got(await app(chatRequest({ body: { model: "late" } })));
  assertEquals(sent, ["late"]);
  turn.resolve();
  assertEquals((await got(await early)).status, 200);
  assertEquals(sent, ["late", "early"]);
});

Deno.test("a call with a multipart body begins in its turn too", async () => {
  const { app, gateway } = gatewayOf();
  const turn = Promise.withResolvers<void>();
  const waits = Promise.withResolvers<void>();
  const next = () => {
    waits.resolve();
    return turn.promise;
  };
  Object.assign(gateway.state, { turns: { next } });
  const body = new FormData();
  body.set("model", "m");
  body.set("file", new File(["audio"], "a.wav"));
  let isOver = false;
  const url = "http://localhost/v1/audio/transcriptions";
  const reply = app(new Request(url, { method: "POST", body })).finally(() => isOver = true);
  await waits.promise;
  assert(!isOver);
  turn.resolve();
  // The provider has no such endpoint.
  assertEquals((await got(await reply)).status, 400);
});

Deno.test("only a stream has a time to its first token", async () => {
  const whole = gatewayOf({ fetch: () => answers(200, COMPLETION) });
  await got(await whole.app(chatRequest()));
  const streamed = gatewayOf({ fetch: () => saying("Hi") });
  await got(await streamed.app(chatRequest({ body: { stream: true } })));
  const times = [await whole.reported(1), await streamed.reported(1)].map(({ ms }) => ms);
  assertEquals(times.map(({ firstByte, firstToken }) => [firstByte, firstToken]), [[0, null], [
    0,
    0,
  ]]);
});

Deno.test("the client of a call that a shared store admits is watched once", async () => {
  const { gateway } = gatewayOf({ fetch: () => answers(200, COMPLETION) });
  const app = createApp(gateway, () => Promise.resolve(null));
  const requests = ["nowhere", "models"].map((path) => new Request(`http://localhost/v1/${path}`));
  for (const request of [chatRequest(), ...requests]) {
    const watched = countWatches(request);
    await (await app(request)).text();
    assertEquals([request.url, watched.count], [request.url, 1]);
  }
});

/**
 * Counts the tasks that are registered for the client of a request, as from the listener, leaving.
 */
function countWatches(request: Request): { readonly count: number } {
  const watched = { count: 0 };
  const symbol = Object.getOwnPropertySymbols(request)
    .find(({ description }) => description === "request");
  assert(symbol !== undefined);
  const inner: unknown = Reflect.get(request, symbol);
  assert(typeof inner === "object" && inner !== null);
  Object.assign(inner, { onCancel: () => void watched.count++ });
  return watched;
}
