import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { serveGateway, type TestGateway, testGateway } from "../support/gateway.ts";
import { pieces } from "../support/pieces.ts";
import { startUpstream } from "../support/upstream.ts";
import { scriptedWorld } from "../support/world.ts";
import { plainConfig } from "./chat_call.ts";
import { assertRefused } from "./delivered.ts";
import { RECORDINGS } from "./recordings.ts";

/** How a body that was cut off ends: like a whole one, or with an error. */
export type Ending = "clean" | "reset";

/** Both of them. */
export const ENDINGS: readonly Ending[] = ["clean", "reset"];

/** Bytes in pieces, then an orderly end or an error, one step a read. */
export function bodyOf(
  parts: readonly Uint8Array<ArrayBuffer>[],
  ending: Ending,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const waiting = [...parts];
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const part = waiting.shift();
      if (part !== undefined) return controller.enqueue(part.slice());
      if (ending === "reset") return controller.error(new TypeError("connection reset"));
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

/** Events that a client has received of a stream whose upstream was cut off. */
export interface Cut {
  readonly text: string;
  readonly isComplete: boolean;
  /** Records before the end; none if the response is a JSON error. */
  readonly records: readonly string[];
}

/** A client API whose streams are cut off. */
export interface CutApi {
  readonly path: string;
  readonly init: RequestInit;
  /** Names of the test of a stream, and of that of a connection. */
  names(wire: string, ending: Ending): readonly [stream: string, connection: string];
  /**
   * Bytes between two cuts of a stream in the process, by its ending, and of a connection. A cut
   * where a stream becomes usable or complete is always made, with its neighbours.
   */
  readonly steps: Readonly<Record<Ending, number>> & { readonly connection: number };
  /** Reads a stream that has begun, and fails unless it ends as it may. */
  read(text: string): Cut;
  /** Returns the check of each response in the process, after the whole one. */
  check?(gateway: TestGateway, whole: Cut): (cut: Cut, where: string) => Promise<void>;
}

/** Returns the places of the cuts in order, from 0 to the last one. */
function cuts(last: number, step: number, turning: readonly number[]): readonly number[] {
  const regular = Array.from({ length: Math.ceil(last / step) }, (_, at) => at * step);
  const places = [...regular, last, ...turning.flatMap((at) => [at - 1, at, at + 1])];
  return [...new Set(places)].filter((at) => at >= 0 && at <= last).toSorted((a, b) => a - b);
}

/** Registers tests in which each recording is cut off in a stream and in a connection. */
export function testCuts({ path, init, names, steps, read, check }: CutApi): void {
  /** Fails unless the call ends in one of the three ways that may be. */
  async function outcomeOf(gateway: TestGateway, call: Promise<Response>): Promise<Cut> {
    const count = gateway.reports.length + 1;
    const response = await call;
    const text = await response.text();
    const end = endOf(await gateway.reported(count));
    if (response.status !== 200) {
      const codes = /^(invalid_upstream_response|upstream_unreachable)$/;
      assertRefused(response.status, text, 502, codes);
      assertEquals(response.headers.get("content-type"), "application/json");
      assertMatch(end, /^upstream_(invalid|unreachable)$/);
      return { text, isComplete: false, records: [] };
    }
    const cut = read(text);
    assertEquals(end, cut.isComplete ? "complete" : "stream_broken", text);
    return cut;
  }

  for (const recording of RECORDINGS) {
    const { wire, bytes, contentType } = recording;
    const headers = { "content-type": contentType };
    for (const ending of ENDINGS) {
      const [usableFrom, completeFrom] = recording[ending];
      const [stream, connection] = names(wire, ending);

      Deno.test(stream, async () => {
        let body = bodyOf([bytes], "clean");
        const fetch = () => Promise.resolve(new Response(body, { headers }));
        const config = plainConfig(wire, "http://upstream.test");
        const gateway = testGateway(config, scriptedWorld({ fetch }));
        const ask = () =>
          outcomeOf(gateway, gateway.app(new Request(`http://gateway${path}`, init)));
        const whole = await ask();
        assert(whole.isComplete);
        const checkCut = check?.(gateway, whole);
        let most = 0;
        for (const at of cuts(bytes.length, steps[ending], [usableFrom, completeFrom])) {
          body = bodyOf(pieces(bytes.subarray(0, at), 256).map((piece) => piece.slice()), ending);
          const cut = await ask();
          const { isComplete, records } = cut;
          const where = `${at} bytes`;
          assertEquals(isComplete, at >= completeFrom, where);
          assertEquals(records.length > 0, at >= usableFrom, where);
          assertEquals(records, whole.records.slice(0, records.length), where);
          assert(records.length >= most, `${records.length} records with ${where}, before ${most}`);
          await checkCut?.(cut, where);
          most = records.length;
        }
        assertEquals(most, whole.records.length);
      });

      Deno.test(connection, async () => {
        let cut = bytes.length;
        await using upstream = startUpstream(async (exchange) => {
          await exchange.head(200, headers);
          if (cut > 0) await exchange.chunk(bytes.subarray(0, cut));
          if (ending === "clean" || cut === bytes.length) await exchange.finish();
          else exchange.reset();
        });
        await using gateway = serveGateway(plainConfig(wire, upstream.url));
        const ask = () => outcomeOf(gateway, fetch(`${gateway.url}${path}`, init));
        const whole = await ask();
        assert(whole.isComplete);
        for (const at of cuts(bytes.length - 1, steps.connection, [usableFrom, completeFrom])) {
          cut = at;
          const { isComplete, records } = await ask();
          const where = `${at} bytes`;
          assertEquals(records, whole.records.slice(0, records.length), where);
          // A reset may overtake what was sent before it.
          if (ending === "clean" || isComplete) assertEquals(isComplete, at >= completeFrom, where);
          if (ending === "clean" || records.length > 0) {
            assertEquals(records.length > 0, at >= usableFrom, where);
          }
        }
      });
    }
  }
}
