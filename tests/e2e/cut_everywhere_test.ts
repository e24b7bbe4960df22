import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { serveGateway, type TestGateway, testGateway } from "../support/gateway.ts";
import { pieces } from "../support/pieces.ts";
import { startUpstream } from "../support/upstream.ts";
import { scriptedWorld } from "../support/world.ts";
import { callChat, chatInit, plainConfig } from "./chat_call.ts";
import { bodyOf, ENDINGS } from "./cut_body.ts";
import { assertRefused, delivered } from "./delivered.ts";
import { RECORDINGS } from "./recordings.ts";

const ASKED = { stream: true, stream_options: { include_usage: true } };

/** The records before the end, as far as calls can be compared: ids and times differ. */
function contents(text: string): readonly string[] {
  return delivered(text).chunks.map(({ choices, usage = null }) =>
    JSON.stringify({ choices, usage })
  );
}

interface Seen {
  readonly isComplete: boolean;
  /** Records before the end; none when the answer is a JSON error. */
  readonly records: readonly string[];
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
    return { isComplete: false, records: [] };
  }
  const { ending } = delivered(text);
  assertEquals(end, ending === "complete" ? "complete" : "stream_broken", text);
  return { isComplete: ending === "complete", records: contents(text) };
}

for (const recording of RECORDINGS) {
  const { wire, bytes, contentType } = recording;
  for (const ending of ENDINGS) {
    const [usableFrom, completeFrom] = recording[ending];

    Deno.test(`a ${wire} stream may end at any byte (${ending})`, async () => {
      let body = bodyOf([bytes], "clean");
      const headers = { "content-type": contentType };
      const fetch = () => Promise.resolve(new Response(body, { headers }));
      const gateway = testGateway(
        plainConfig(wire, "http://upstream.test"),
        scriptedWorld({ fetch }),
      );
      const whole = contents(await (await callChat(gateway, ASKED)).text());
      let most = 0;
      for (let at = 0; at <= bytes.length; at++) {
        body = bodyOf(pieces(bytes.subarray(0, at), 48).map((piece) => piece.slice()), ending);
        const { isComplete, records } = await outcomeOf(gateway, callChat(gateway, ASKED));
        const where = `${at} bytes`;
        assertEquals(isComplete, at >= completeFrom, where);
        assertEquals(records.length > 0, at >= usableFrom, where);
        assertEquals(records, whole.slice(0, records.length), where);
        assert(records.length >= most, `${records.length} records with ${where}, before ${most}`);
        most = records.length;
      }
      assertEquals(most, whole.length);
    });

    Deno.test(`a ${wire} connection may end at any byte (${ending})`, async () => {
      let cut = bytes.length;
      await using upstream = startUpstream(async (exchange) => {
        await exchange.head(200, { "content-type": contentType });
        if (cut > 0) await exchange.chunk(bytes.subarray(0, cut));
        if (ending === "clean" || cut === bytes.length) await exchange.finish();
        else exchange.reset();
      });
      await using gateway = serveGateway(plainConfig(wire, upstream.url));
      const ask = () => fetch(`${gateway.url}/v1/chat/completions`, chatInit(ASKED));
      const whole = contents(await (await ask()).text());
      await gateway.reported(1);
      for (let at = 0; at < bytes.length; at += 10) {
        cut = at;
        const { isComplete, records } = await outcomeOf(gateway, ask());
        const where = `${at} bytes`;
        assertEquals(records, whole.slice(0, records.length), where);
        // A reset may overtake what was sent before it.
        if (ending === "clean" || isComplete) assertEquals(isComplete, at >= completeFrom, where);
        if (ending === "clean" || records.length > 0) {
          assertEquals(records.length > 0, at >= usableFrom, where);
        }
      }
    });
  }
}
