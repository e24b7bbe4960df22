import { type Attempt, endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { NOTICES_EARLY_LEAVE } from "../support/runtime.ts";
import { startUpstream, type UpstreamExchange } from "../support/upstream.ts";
import { BODY_SIZES, COMPLETION, leavingConfig, RETRY_DELAY_MS, sized } from "./leaving.ts";
import { type ObservedGateway, observedGateway } from "./observed_gateway.ts";
import { COMPAT_RECORDS } from "./recordings.ts";

/** Lets a call whose client has disconnected end at once. */
const ONCE = { "x-gateway-no-retry": "true", "x-gateway-no-fallback": "true" };

interface Phase {
  readonly name: string;
  readonly stream: boolean;
  /** The upstream's part, up to where the client leaves. */
  play(exchange: UpstreamExchange): Promise<unknown>;
  /** Resolves when the gateway is in this phase. */
  reached(gateway: ObservedGateway): Promise<unknown>;
  /** Whether an upstream call is running that has to be broken off. */
  readonly isRunning: boolean;
  readonly tries: readonly Attempt["outcome"][];
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
    reached: ({ waits }) => waits(RETRY_DELAY_MS),
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
        if (!phase.isRunning) return;
        await Promise.race([exchange.closedByPeer, goOn.promise]);
        exchange.reset();
      });
      await using gateway = observedGateway(leavingConfig(upstream.url, spare.url));
      const client = new AbortController();
      const once = !NOTICES_EARLY_LEAVE && phase.isRunning ? ONCE : {};
      const init = sized(size, { stream: phase.stream }, once);
      const outcome = fetch(gateway.chat, { ...init, signal: client.signal })
        .then(() => "answered", () => "left");
      const first = await upstream.next();
      await phase.reached(gateway);
      client.abort();
      assertEquals(await outcome, "left");

      if (NOTICES_EARLY_LEAVE) {
        if (phase.isRunning) await first.closedByPeer;
        const report = await gateway.reported(1);
        assertEquals(endOf(report), "client_gone");
        assertEquals(report.status, 499);
        assertEquals(report.attempts.map(({ outcome }) => outcome), phase.tries);
        assertEquals(upstream.requests.length, 1);
        assertEquals(spare.requests.length, 0);

        const next = await fetch(gateway.chat, sized(size, {}));
        assertEquals(next.headers.get("x-gateway-provider"), "up", "the breaker has not moved");
        assertEquals(await next.json(), COMPLETION);
      } else {
        goOn.resolve();
        const pending = phase.isRunning ? null : await gateway.waits(RETRY_DELAY_MS);
        pending?.run();
        assert((await gateway.reported(1)).attempts.length > 0);
      }
    });
  }
}
