import { endOf, type Try } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { startUpstream, type UpstreamExchange } from "../support/upstream.ts";
import { chatInit } from "./chat_call.ts";
import { type ObservedGateway, observedGateway } from "./observed_gateway.ts";
import { COMPAT_RECORDS } from "./recordings.ts";

// From Deno 2.8 on the runtime does not report a client that leaves during a request of more than
// about 512 bytes while its answer is not begun. What was asked for is then finished for nobody.
const [MAJOR = 0, MINOR = 0] = Deno.version.deno.split(".").map(Number);
const NOTICES_EARLY_LEAVE = MAJOR === 2 && MINOR < 8;

/** Lets a call that nobody waits for end at once. */
const ONCE = { "x-gateway-no-retry": "true", "x-gateway-no-fallback": "true" };

const BODY_SIZES = [1_000, 20_000, 200_000];
const RETRY_DELAY = 20_000;
const COMPLETION = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
};

/** One failure would open a breaker; one more try, or another target, would be seen. */
function config(up: string, spare: string): string {
  return `
providers:
  up: {type: compat, base_url: "${up}"}
  spare: {type: compat, base_url: "${spare}"}
routing:
  routes: [{name: main, targets: [{provider: up}], fallback: [{provider: spare}]}]
retry: {max_attempts: 3, initial_delay: 20s, jitter_factor: 0}
circuit_breaker: {failure_threshold: 1}
`;
}

function sized(
  size: number,
  fields: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const messages = [{ role: "user", content: "x".repeat(size) }];
  return chatInit({ ...fields, messages }, headers);
}

interface Phase {
  readonly name: string;
  readonly stream: boolean;
  /** The upstream's part, up to where the client leaves. */
  play(exchange: UpstreamExchange): Promise<unknown>;
  /** Resolves when the gateway is in this phase. */
  reached(gateway: ObservedGateway, first: UpstreamExchange): Promise<unknown>;
  /** Whether an upstream call is running that has to be broken off. */
  readonly isRunning: boolean;
  readonly tries: readonly Try["outcome"][];
}

const EARLY: readonly Phase[] = [
  ...[false, true].map((stream): Phase => ({
    name: `while it waits for ${stream ? "a stream" : "an answer"}`,
    stream,
    play: () => Promise.resolve(),
    reached: () => Promise.resolve(),
    isRunning: true,
    tries: ["client_cancelled"],
  })),
  {
    name: "in the middle of a JSON answer",
    stream: false,
    async play({ head, write }) {
      await head(200, { "content-type": "application/json", "content-length": "100000" });
      await write('{"id":"chatcmpl-1","choices":[');
    },
    reached: ({ answered }) => answered,
    isRunning: true,
    tries: ["client_cancelled"],
  },
  {
    name: "before anything usable of a stream",
    stream: true,
    async play({ head, chunk }) {
      await head(200, { "content-type": "text/event-stream" });
      await chunk(`: welcome\n\n${COMPAT_RECORDS[0]}\n\n`);
    },
    reached: ({ answered }) => answered,
    isRunning: true,
    tries: ["client_cancelled"],
  },
  {
    name: "in a retry delay",
    stream: false,
    play: ({ json }) => json(429, { error: { message: "later" } }),
    reached: ({ waits }) => waits(RETRY_DELAY),
    isRunning: false,
    tries: ["upstream_throttled"],
  },
];

for (const phase of EARLY) {
  for (const size of BODY_SIZES) {
    Deno.test(`a client may leave ${phase.name} (${size} bytes)`, async () => {
      const goOn = Promise.withResolvers<void>();
      await using spare = startUpstream(({ json }) => json(200, COMPLETION));
      await using upstream = startUpstream(async (exchange) => {
        if (upstream.requests.length > 1) return await exchange.json(200, COMPLETION);
        await phase.play(exchange);
        if (phase.isRunning) await Promise.race([exchange.closedByPeer, goOn.promise]);
      });
      await using gateway = observedGateway(config(upstream.url, spare.url));
      const client = new AbortController();
      const once = !NOTICES_EARLY_LEAVE && phase.isRunning ? ONCE : {};
      const init = sized(size, { stream: phase.stream }, once);
      const outcome = fetch(gateway.chat, { ...init, signal: client.signal })
        .then(() => "answered", () => "left");
      const first = await upstream.next();
      await phase.reached(gateway, first);
      client.abort();
      assertEquals(await outcome, "left");

      if (NOTICES_EARLY_LEAVE) {
        if (phase.isRunning) await first.closedByPeer;
        const report = await gateway.reported(1);
        assertEquals(endOf(report), "client_gone");
        assertEquals(report.status, 499);
        assertEquals(report.tries.map(({ outcome }) => outcome), phase.tries);
        assertEquals(upstream.requests.length, 1);
        assertEquals(spare.requests.length, 0);

        const next = await fetch(gateway.chat, sized(size, {}));
        assertEquals(next.headers.get("x-gateway-provider"), "up", "the breaker has not moved");
        assertEquals(await next.json(), COMPLETION);
      } else {
        goOn.resolve();
        const pending = phase.isRunning ? null : await gateway.waits(RETRY_DELAY);
        pending?.run();
        console.log("waiting"); const r = await gateway.reported(1); console.log(r, gateway.log);
      }
    });
  }
}

for (const size of BODY_SIZES) {
  Deno.test(`a client may leave in the middle of a stream (${size} bytes)`, async () => {
    await using spare = startUpstream(({ json }) => json(200, COMPLETION));
    await using upstream = startUpstream((exchange) =>
      upstream.requests.length > 1
        ? exchange.json(200, COMPLETION)
        : exchange.sse([`${COMPAT_RECORDS[0]}\n\n${COMPAT_RECORDS[1]}\n\n`], "hang")
    );
    await using gateway = observedGateway(config(upstream.url, spare.url));
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
    assertEquals(report.tries.map(({ outcome }) => outcome), ["success"]);
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
    const gateway = observedGateway(config(upstream.url, upstream.url));
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

Deno.test("a client that hangs up at [DONE] has had its answer", async () => {
  const text = COMPAT_RECORDS.map((record) => `${record}\n\n`).join("");
  await using upstream = startUpstream((exchange) => exchange.sse([text], "hang"));
  await using gateway = observedGateway(config(upstream.url, upstream.url));
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

Deno.test("a client that leaves before its request is complete reaches no upstream", async () => {
  await using upstream = startUpstream(({ json }) => json(200, COMPLETION));
  await using gateway = observedGateway(config(upstream.url, upstream.url));
  const { hostname, port } = new URL(gateway.chat);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const head =
    "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 900\r\n\r\n";
  await connection.write(new TextEncoder().encode(`${head}{"model":"m","mess`));
  connection.close();
  assertEquals(endOf(await gateway.reported(1)), "client_gone");
  assertEquals(upstream.requests.length, 0);
});
