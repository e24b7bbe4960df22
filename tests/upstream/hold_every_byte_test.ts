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

/**
 * Client APIs with the providers whose streams are cut. What a provider sends is decoded in the
 * same way for each API, so only one has all of them; each has the one whose streams it relays.
 */
const PAIRS = {
  chat: ["compat", "messages", "responses"],
  messages: ["compat", "messages"],
  responses: ["compat", "responses"],
  socket: ["compat", "responses"],
} as const;

type Api = keyof typeof PAIRS;
const WHOLE: LateTarget = { type: "compat", answers: [streaming(STREAMS.compat ?? [], 1_000)] };

/** Calls that wait together, so that one step of the clock serves them all. */
const CALLS_AT_A_TIME_COUNT = 50;

/** The bytes that a client received as text, and the report of its call. */
interface Received {
  readonly text: string;
  readonly report: Readonly<CallReport>;
}

/** Makes this number of calls over one gateway, in the order of the answers of its upstreams. */
async function receive(
  api: Api,
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

/**
 * Places in each record of a stream: its begin, within the name of its field, and in its text at
 * both ends and in the middle, as far as the line end that is still missing.
 */
function placesIn(text: string): readonly number[] {
  const data = text.lastIndexOf("data: ") + 6;
  const places = [0, 3, data, data + 1, data + Math.floor((text.length - data) / 2)];
  return [...places, text.length - 3, text.length - 2, text.length - 1];
}

/** The stream of a provider, cut in every part of each of its records. */
function cuts(type: LateTarget["type"]) {
  const text = (STREAMS[type] ?? []).join("");
  const records = text.split(/(?<=\n\n)/);
  const begins = records.map((_, at) => records.slice(0, at).join("").length);
  const places = begins.flatMap((begin, at) =>
    placesIn(records[at] ?? "").map((place) => begin + place)
  );
  const answers = places.map((chars) =>
    streaming(chars === 0 ? [] : [text.slice(0, chars)], 1_000, 0, true)
  );
  return { target: { type, answers }, places, length: text.length };
}

// What is framed as a record, wherever its bytes are cut, is the promise of `sse_test`.
for (const [api, types] of Object.entries(PAIRS) as [Api, readonly LateTarget["type"][]][]) {
  Deno.test(`a held stream over ${api} that is cut in any part of a record is answered by the fallback as a whole, without a byte of the first`, async () => {
    const [healthy] = await receive(api, [WHOLE], 1);
    const expected = comparable(healthy?.text ?? "");
    assert(expected.includes("beta"));
    for (const type of types) {
      const { target, places, length } = cuts(type);
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
