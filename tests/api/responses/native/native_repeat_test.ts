import { ConnectionError } from "../../../../src/core/failure/connection_error.ts";
import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assertEquals } from "../../../support/assert.ts";
import {
  nativeConfig,
  nativeGateway,
  responseOf,
  type ScriptedResponse,
  streamOf,
} from "../../../support/native_gateway.ts";

const SENT = { mayHaveRun: true, isAnswered: false };

const BOTH = nativeConfig({
  first: { can: ["background_responses"] },
  second: { can: ["background_responses"] },
});

/**
 * Response of the first upstream to every request, and whether the work was certainly not begun.
 */
const FAILURES:
  readonly (readonly [what: string, says: ScriptedResponse | Error, untaken: boolean])[] = [
    ["429", { status: 429, body: "" }, true],
    ["503", { status: 503, body: "" }, true],
    ["529", { status: 529, body: "" }, true],
    ["a refused connection", new ConnectionError("refused", "nothing listens"), true],
    ["an unknown host", new ConnectionError("dns", "no such host"), true],
    ["500", { status: 500, body: "" }, false],
    ["502", { status: 502, body: "" }, false],
    ["504", { status: 504, body: "" }, false],
    ["a reset", new ConnectionError("reset", "reset", SENT), false],
    ["202", { status: 202, body: "{}" }, false],
    ["no Response", { body: "{}" }, false],
    ["a broken stream", { body: "data: {\n\n" }, false],
  ];

/** How often each upstream was called for one response. */
async function requests(
  says: ScriptedResponse | Error,
  body: JsonObject,
): Promise<readonly string[]> {
  const calls = nativeGateway(BOTH, ({ host, json }) => {
    if (host === "first") return says;
    return { body: json.stream === true ? streamOf("resp_1") : responseOf("resp_1") };
  });
  const sent = calls.post("/responses", { model: "m", input: "x", ...body });
  await calls.world.advance(1000);
  await sent;
  return calls.requests.map(({ host }) => host);
}

const LEAVES_STATE: readonly JsonObject[] = [
  {},
  { store: true },
  { store: null },
  { store: false, background: true },
  { stream: true },
];

for (const [what, says, untaken] of FAILURES) {
  Deno.test(`a create with side effects is ${untaken ? "" : "not "}retried after ${what}`, async () => {
    for (const body of LEAVES_STATE) {
      const wanted = untaken ? ["first", "first", "second"] : ["first"];
      assertEquals(await requests(says, body), wanted, JSON.stringify(body));
    }
  });

  Deno.test(`a create without side effects is retried or falls back after ${what}`, async () => {
    for (const stream of [false, true]) {
      const hosts = await requests(says, { store: false, stream });
      assertEquals(hosts, ["first", "first", "second"]);
    }
  });
}
