// Prints the bytes that metrics hold of 60 calls whose errors have a megabyte each.

import { fault } from "../../src/core/failure/result.ts";
import { newMetrics } from "../../src/observe/metrics.ts";
import { configOf } from "../config/parse.ts";
import { metricSources } from "./exposition.ts";
import { reportOf } from "./reports.ts";

declare const gc: () => void;

const CALL_COUNT = 60, ERROR_BYTES = 1_000_000;

const config = configOf(`
providers: {up: {type: compat, base_url: "http://up"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`);
const metrics = newMetrics(metricSources({ config: () => config }));

/** The memory of arrays is freed in a later turn than they are. */
async function heldBytes(): Promise<number> {
  gc();
  await new Promise((resolve) => setTimeout(resolve, 0));
  gc();
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

const before = await heldBytes();
for (let at = 0; at < CALL_COUNT; at++) {
  const raw = { format: "openai", body: new Uint8Array(ERROR_BYTES) } as const;
  const upstream = { status: 500, headers: {}, error: {}, raw };
  const { failure } = fault("upstream_error", "It failed.", { upstream });
  metrics.sink(reportOf({ status: 500, failure }));
}
console.log(await heldBytes() - before);
