import type { CallReport } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { turnOn } from "../support/late_turn.ts";
import {
  callLate,
  lateGateway,
  type LateTarget,
  streaming,
  STREAMS,
} from "../support/late_upstreams.ts";

const APIS = ["chat", "messages", "responses", "socket"] as const;
const TYPES = ["compat", "messages", "responses"] as const;
const WHOLE: LateTarget = { type: "compat", answers: [streaming(STREAMS.compat ?? [], 1_000)] };

/** Calls that wait together, so that one step of the clock serves them all. */
const CALLS_AT_A_TIME_COUNT = 50;

/** What a client received, and the report of its call. */
interface Received {
  readonly text: string;
  readonly report: Readonly<CallReport>;
}

/** Makes this number of calls over one gateway, in the order of the answers of its upstreams. */
async function receive(
  api: typeof APIS[number],
  targets: readonly LateTarget[],
  count: number,
): Promise<readonly Received[]> {
  const alone = "retry: {max_attempts: 1}\ncircuit_breaker: {enabled: false}";
  const gateway = lateGateway(targets, "hold: 30s", alone);

  async function call(): Promise<Received> {
    if (api === "socket") {
      const { sent, report } = await turnOn(gateway);
      return { text: sent.map(({ event }) => JSON.stringify(event)).join("\n"), report };
    }
    const { headers, text } = await callLate(gateway, api);
    assertEquals(headers.get("x-gateway-held"), "complete");
    const report = gateway.reports.find(({ id }) => id === headers.get("x-gateway-request-id"));
    assert(report !== undefined);
    return { text, report };
  }

  const received: Received[] = [];
  while (received.length < count) {
    const length = Math.min(CALLS_AT_A_TIME_COUNT, count - received.length);
    received.push(...await Promise.all(Array.from({ length }, call)));
  }
  assertEquals(gateway.world.waiting, 0);
  return received;
}

/** Returns a stream without IDs and times, which differ from call to call. */
function comparable(text: string): string {
  return text.replaceAll(/[a-z]+_?-?[0-9a-f-]{32,36}|"created(_at)?":\d+|"completed_at":\d+/g, "");
}

/** The stream of a provider, cut at every fourth of its bytes in turn. */
function cuts(type: LateTarget["type"], from: number) {
  const text = (STREAMS[type] ?? []).join("");
  const places = Array.from(text, (_, chars) => chars).filter((chars) => chars % 4 === from);
  const answers = places.map((chars) =>
    streaming(chars === 0 ? [] : [text.slice(0, chars)], 1_000, 0, true)
  );
  return { target: { type, answers }, places, length: text.length };
}

// Each byte is cut over one of the four APIs: all of them would take four times as long, and the
// records that a cut leaves whole are the same for each.
for (const [from, api] of APIS.entries()) {
  Deno.test(`a held stream over ${api} that is cut anywhere is answered by the fallback as a whole, without a byte of the first`, async () => {
    const [healthy] = await receive(api, [WHOLE], 1);
    const expected = comparable(healthy?.text ?? "");
    assert(expected.includes("beta"));
    for (const type of TYPES) {
      const { target, places, length } = cuts(type, from);
      const received = await receive(api, [target, WHOLE], places.length);
      for (const [number, { text, report }] of received.entries()) {
        const place = `${type} ${places[number]}`;
        assertEquals([report.held, report.failure], ["complete", null], place);
        // The marker of the end may come after all that matters.
        const isServed = report.attempts[0]?.outcome === "success";
        if (isServed) assert((places[number] ?? 0) > length - 60, place);
        else assertEquals(comparable(text), expected, place);
      }
    }
  });
}
