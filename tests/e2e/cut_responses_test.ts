import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { serveGateway, type TestGateway, testGateway } from "../support/gateway.ts";
import { pieces } from "../support/pieces.ts";
import { startUpstream } from "../support/upstream.ts";
import { scriptedWorld } from "../support/world.ts";
import { plainConfig } from "./chat_call.ts";
import { bodyOf, ENDINGS } from "./cut_body.ts";
import { assertRefused } from "./delivered.ts";
import { RECORDINGS } from "./recordings.ts";
import { assertShapes, toldEvents } from "../support/dashboard_events.ts";

const PATH = "/v1/responses";
const ASK = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "m", input: "Hi", stream: true }),
};

interface Seen {
  readonly text: string;
  readonly isComplete: boolean;
  /** Events before the terminal; none when the answer is a JSON error. */
  readonly events: readonly string[];
  /** Of the response; null when there is none. */
  readonly id: string | null;
}

/**
 * What came of a call whose upstream was cut off: fails unless it is one of the three that may be.
 */
async function outcomeOf(gateway: TestGateway, call: Promise<Response>): Promise<Seen> {
  const count = gateway.reports.length + 1;
  const response = await call;
  const text = await response.text();
  const end = endOf(await gateway.reported(count));
  if (response.status !== 200) {
    assertRefused(response.status, text, 502, /^(invalid_upstream_response|upstream_unreachable)$/);
    assertEquals(response.headers.get("content-type"), "application/json");
    assertMatch(end, /^upstream_(invalid|unreachable)$/);
    return { text, isComplete: false, events: [], id: null };
  }
  const { ending, events, resource } = toldEvents(text);
  assertEquals(end, ending === "complete" ? "complete" : "stream_broken", text);
  const { id } = resource;
  assert(typeof id === "string");
  return { text, isComplete: ending === "complete", events, id };
}

for (const recording of RECORDINGS) {
  const { wire, bytes, contentType } = recording;
  for (const ending of ENDINGS) {
    const [usableFrom, completeFrom] = recording[ending];

    Deno.test(`a response over ${wire} may be cut off at any byte (${ending})`, async () => {
      let body = bodyOf([bytes], "clean");
      const headers = { "content-type": contentType };
      const fetch = () => Promise.resolve(new Response(body, { headers }));
      const gateway = testGateway(
        plainConfig(wire, "http://upstream.test"),
        scriptedWorld({ fetch }),
      );
      const ask = () => outcomeOf(gateway, gateway.app(new Request(`http://gateway${PATH}`, ASK)));
      const isKept = async (id: string) => {
        const count = gateway.reports.length + 1;
        const answer = await gateway.app(new Request(`http://gateway${PATH}/${id}`));
        await answer.body?.cancel();
        await gateway.reported(count);
        return answer.status === 200;
      };
      const whole = await ask();
      assert(whole.isComplete);
      assertShapes(whole.text);
      let most = 0;
      for (let at = 0; at <= bytes.length; at++) {
        body = bodyOf(pieces(bytes.subarray(0, at), 48).map((piece) => piece.slice()), ending);
        const { isComplete, events, id } = await ask();
        const where = `${at} bytes`;
        assertEquals(isComplete, at >= completeFrom, where);
        assertEquals(events.length > 0, at >= usableFrom, where);
        assertEquals(events, whole.events.slice(0, events.length), where);
        assert(events.length >= most, `${events.length} events with ${where}, before ${most}`);
        if (id !== null) assertEquals(await isKept(id), isComplete, where);
        most = events.length;
      }
      assertEquals(most, whole.events.length);
    });

    Deno.test(`a connection under a response over ${wire} may end anywhere (${ending})`, async () => {
      let cut = bytes.length;
      await using upstream = startUpstream(async (exchange) => {
        await exchange.head(200, { "content-type": contentType });
        if (cut > 0) await exchange.chunk(bytes.subarray(0, cut));
        if (ending === "clean" || cut === bytes.length) await exchange.finish();
        else exchange.reset();
      });
      await using gateway = serveGateway(plainConfig(wire, upstream.url));
      const ask = () => outcomeOf(gateway, fetch(`${gateway.url}${PATH}`, ASK));
      const whole = await ask();
      assert(whole.isComplete);
      for (let at = 0; at < bytes.length; at += 23) {
        cut = at;
        const { isComplete, events } = await ask();
        const where = `${at} bytes`;
        assertEquals(events, whole.events.slice(0, events.length), where);
        // A reset may overtake what was sent before it.
        if (ending === "clean" || isComplete) assertEquals(isComplete, at >= completeFrom, where);
        if (ending === "clean" || events.length > 0) {
          assertEquals(events.length > 0, at >= usableFrom, where);
        }
      }
    });
  }
}
