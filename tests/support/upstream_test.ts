import { assert, assertEquals, assertMatch } from "./assert.ts";
import { startUpstream, type UpstreamScript } from "./upstream.ts";

async function outcomeOf(script: UpstreamScript): Promise<string> {
  await using upstream = startUpstream(script);
  try {
    const response = await fetch(upstream.url);
    return `${response.status} ${await response.text()}`;
  } catch (error) {
    return String(error instanceof Error ? error.cause ?? error : error);
  }
}

Deno.test("the scripted upstream records what it was sent", async () => {
  await using upstream = startUpstream((exchange) => exchange.json(201, { ok: true }));
  const response = await fetch(`${upstream.url}/v1/x?a=1`, {
    method: "POST",
    headers: { "X-Name": "value" },
    body: "é".repeat(100_000),
  });
  assertEquals(response.status, 201);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(await response.json(), { ok: true });
  const [request] = upstream.requests;
  assertEquals(request?.method, "POST");
  assertEquals(request?.path, "/v1/x?a=1");
  assertEquals(request?.headers["x-name"], "value");
  assertEquals(request?.body, "é".repeat(100_000));
});

Deno.test("the scripted upstream understands a chunked request", async () => {
  await using upstream = startUpstream((exchange) => exchange.answer(200, {}, "read"));
  const body = ReadableStream.from(["one ", "two €"]).pipeThrough(new TextEncoderStream());
  assertEquals(await (await fetch(upstream.url, { method: "POST", body })).text(), "read");
  assertEquals(upstream.requests[0]?.body, "one two €");
});

Deno.test("the scripted upstream sends its stream chunk by chunk", async () => {
  const outcome = await outcomeOf((exchange) => exchange.sse(["data: 1\n\n", "data: 2\n\n"]));
  assertEquals(outcome, "200 data: 1\n\ndata: 2\n\n");
});

Deno.test("the scripted upstream pauses where the test wants it", async () => {
  const pause = Promise.withResolvers<void>();
  await using upstream = startUpstream(async (exchange) => {
    await exchange.head(200);
    await exchange.chunk("first");
    await pause.promise;
    await exchange.chunk("second");
    await exchange.finish();
  });
  const response = await fetch(upstream.url);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader?.read())?.value, "first");
  pause.resolve();
  assertEquals((await reader?.read())?.value, "second");
  assertEquals((await reader?.read())?.done, true);
});

Deno.test("the scripted upstream sends any bytes it is given", async () => {
  assertEquals(
    await outcomeOf((e) => e.write("HTTP/1.1 200 OK\r\n\r\nto the end")),
    "200 to the end",
  );
  assertMatch(await outcomeOf((e) => e.write("no http\r\n\r\n")), /invalid HTTP/);
});

Deno.test("the scripted upstream resets connections before and inside a response", async () => {
  const wording = Deno.build.os === "linux" ? /reset by peer/ : /connection closed/;
  assertMatch(await outcomeOf((exchange) => Promise.resolve(exchange.reset())), wording);
  await using upstream = startUpstream((exchange) => exchange.sse(["data: 1\n\n"], "reset"));
  const response = await fetch(upstream.url);
  assertEquals(await response.text().then(() => "whole", () => "broken"), "broken");
});

Deno.test("a half closed stream is cut off inside its chunked body", async () => {
  await using upstream = startUpstream(async (exchange) => {
    await exchange.head(200);
    await exchange.chunk("part");
    await exchange.halfClose();
    await exchange.closedByPeer;
  });
  const response = await fetch(upstream.url);
  assertEquals(await response.text().then(() => "whole", () => "broken"), "broken");
});

Deno.test("a client that disconnects is noticed before and inside a response", async () => {
  await using upstream = startUpstream((exchange) =>
    exchange.request.path === "/stream"
      ? exchange.sse(["data: 1\n\n"], "hang")
      : exchange.closedByPeer
  );
  const early = new AbortController();
  const unanswered = fetch(upstream.url, { signal: early.signal }).catch(() => "aborted");
  const first = await upstream.next();
  early.abort();
  await first.closedByPeer;
  assertEquals(await unanswered, "aborted");

  const response = await fetch(`${upstream.url}/stream`);
  const second = await upstream.next();
  await response.body?.cancel();
  await second.closedByPeer;
});

Deno.test("closing the upstream leaves nothing open while a script hangs", async () => {
  const upstream = startUpstream((exchange) => exchange.sse(["data: 1\n\n"], "hang"));
  const response = await fetch(upstream.url);
  await upstream.next();
  const ended = response.text().then(() => "whole", () => "broken");
  await upstream.close();
  assertEquals(await ended, "broken");
});

Deno.test("what a script throws comes out when the upstream closes", async () => {
  const upstream = startUpstream(() => Promise.reject(new Error("not this request")));
  await fetch(upstream.url).then((response) => response.body?.cancel(), () => {});
  const problem = await upstream.close().then(() => null, (error: unknown) => error);
  assert(problem instanceof Error);
  assertEquals(problem.message, "not this request");
});
