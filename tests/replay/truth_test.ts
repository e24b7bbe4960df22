import fc from "fast-check";
import { isRefusal, statusOf } from "../../src/core/failure/failure.ts";
import { parseJson } from "../../src/core/json/json.ts";
import type { CallRecord } from "../../src/record/record.ts";
import { newDryGateway, type Replayed } from "../../src/replay/plan_record.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { configText, DRAWN_CALL, DRAWN_CONFIG } from "../support/drawn_calls.ts";
import { testGateway } from "../support/gateway.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { simulated } from "../support/simulated.ts";
import { scriptedWorld } from "../support/world.ts";

/** Number of calls; with `REPLAY_TRUTH_CALLS=500` the test takes a minute. */
const CALLS = Number(Deno.env.get("REPLAY_TRUTH_CALLS") ?? "60");

/** Returns what a gateway that is started with the file does with the request of a record. */
async function served(file: string, { head, request }: CallRecord) {
  const upstream = simulated();
  const { app, reports } = testGateway(file, scriptedWorld({ fetch: upstream.fetch }));
  const response = await app(
    new Request(`http://gateway.test${head.path}`, {
      method: "POST",
      headers: request?.headers ?? {},
      body: request?.body ?? null,
    }),
  );
  await response.text();
  const [report] = reports;
  assert(report !== undefined);
  return { report, sent: upstream.sent };
}

/** Compares what replay says with what the gateway did. */
function assertTrue(
  replayed: Replayed["call"],
  { report, sent }: Awaited<ReturnType<typeof served>>,
): void {
  const { failure } = report;
  if (replayed.kind === "refused") {
    assert(failure !== null);
    assertEquals(
      [replayed.status, replayed.code, replayed.param],
      [statusOf(failure), failure.kind, isRefusal(failure) ? failure.at : null],
    );
    assertEquals(sent, []);
    return;
  }
  assert(replayed.kind === "planned" && sent.length > 0);
  assertEquals(replayed.route, report.route);
  // Which of the targets is picked is left to the strategy.
  const planned = [...replayed.targets, ...replayed.fallbacks];
  const target = planned.find((one) =>
    one.provider === report.provider && one.model === report.model && one.url === sent.at(-1)?.url
  );
  assert(target !== undefined);
  assertEquals(target.lossy, report.lossy);
  assertEquals(target.verified, report.verified);
  assertEquals(parseJson(target.body()), sent.at(-1)?.body);
}

Deno.test("what replay says of a file is what a gateway does that is started with it", async () => {
  const cases = fc.sample(fc.tuple(DRAWN_CONFIG, DRAWN_CALL), { numRuns: CALLS, seed: 38 });
  let refused = 0;
  for (const [config, record] of cases) {
    const file = configText(config);
    const request = record.request;
    assert(request !== undefined);
    const planned = await newDryGateway(parsedConfig(file), 1).replay(record, request);
    assert(planned !== null);
    if (planned.call.kind === "refused") refused++;
    assertTrue(planned.call, await served(file, record));
  }
  assert(refused > CALLS / 10 && refused < CALLS * 0.9);
});
