import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { startUpstream } from "../support/upstream.ts";
import { BODY_SIZES, COMPLETION, leavingConfig, sized } from "./leaving.ts";
import { observedGateway } from "./observed_gateway.ts";
import { COMPAT_RECORDS } from "./recordings.ts";

for (const size of BODY_SIZES) {
  Deno.test(`a client may leave in the middle of a stream (${size} bytes)`, async () => {
    await using spare = startUpstream(({ json }) => json(200, COMPLETION));
    await using upstream = startUpstream((exchange) =>
      upstream.requests.length > 1
        ? exchange.json(200, COMPLETION)
        : exchange.sse([`${COMPAT_RECORDS[0]}\n\n${COMPAT_RECORDS[1]}\n\n`], "hang")
    );
    await using gateway = observedGateway(leavingConfig(upstream.url, spare.url));
    const client = new AbortController();
    const init = sized(size, { stream: true });
    const response = await fetch(gateway.chat, { ...init, signal: client.signal });
    const first = await upstream.next();
    const reader = response.body?.getReader();
    assertEquals((await reader?.read())?.done, false);
    client.abort();
    assertEquals(await reader?.read().then(() => "more", () => "left"), "left");

    await first.closedByPeer;
    const report = await gateway.reported(1);
    assertEquals(endOf(report), "client_gone");
    assertEquals(report.status, 200);
    assertEquals(report.attempts.map(({ outcome }) => outcome), ["success"]);
    assertEquals([upstream.requests.length, spare.requests.length], [1, 0]);
    const next = await fetch(gateway.chat, sized(size, {}));
    assertEquals(next.headers.get("x-gateway-provider"), "up", "the breaker has not moved");
    assertEquals(await next.json(), COMPLETION);
  });
}

for (const size of BODY_SIZES) {
  Deno.test(`after a successful answer nothing is broken off (${size} bytes)`, async () => {
    await using upstream = startUpstream((exchange) =>
      exchange.request.body.includes('"stream":true')
        ? exchange.sse(COMPAT_RECORDS.map((record) => `${record}\n\n`))
        : exchange.json(200, COMPLETION)
    );
    const gateway = observedGateway(leavingConfig(upstream.url, upstream.url));
    for (const stream of [false, true, false, true]) {
      const client = new AbortController();
      const init = { ...sized(size, { stream }), signal: client.signal };
      const response = await fetch(gateway.chat, init);
      const text = await response.text();
      if (stream) assert(text.endsWith("data: [DONE]\n\n"), text);
      else assertEquals(text, JSON.stringify(COMPLETION));
      client.abort();
    }
    await gateway.reported(4);
    await gateway.close();
    assertEquals(gateway.reports.map(endOf), ["complete", "complete", "complete", "complete"]);
    assertEquals(gateway.signals.map((signal) => signal.aborted), [false, false, false, false]);
    assertEquals(upstream.requests.length, 4);
  });
}

Deno.test("a client that disconnects at [DONE] counts as served", async () => {
  const text = COMPAT_RECORDS.map((record) => `${record}\n\n`).join("");
  await using upstream = startUpstream((exchange) => exchange.sse([text], "hang"));
  await using gateway = observedGateway(leavingConfig(upstream.url, upstream.url));
  const client = new AbortController();
  const init = { ...sized(100, { stream: true }), signal: client.signal };
  const response = await fetch(gateway.chat, init);
  let received = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (!received.endsWith("data: [DONE]\n\n")) received += (await reader?.read())?.value ?? "";
  client.abort();
  assertEquals(await reader?.closed.then(() => "closed", () => "left"), "left");
  assertEquals(endOf(await gateway.reported(1)), "complete");
});

Deno.test("a client that disconnects before its request is complete causes no upstream request", async () => {
  await using upstream = startUpstream(({ json }) => json(200, COMPLETION));
  await using gateway = observedGateway(leavingConfig(upstream.url, upstream.url));
  const { hostname, port } = new URL(gateway.chat);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const head =
    "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 900\r\n\r\n";
  await connection.write(new TextEncoder().encode(`${head}{"model":"m","mess`));
  connection.close();
  assertEquals(endOf(await gateway.reported(1)), "client_gone");
  assertEquals(upstream.requests.length, 0);
});
