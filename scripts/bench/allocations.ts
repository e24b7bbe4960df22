import type { Cores } from "./compared.ts";
import { type ConfigName, configText } from "./configs.ts";
import { newSystemRun, type SystemRun } from "./measure.ts";
import { freePort, type ServerProcesses } from "./processes.ts";
import { scenarios } from "./scenarios.ts";
import { request } from "./streams.ts";

/** A node of a sampled heap profile, as the engine's inspector gives it. */
export interface AllocationNode {
  readonly callFrame: { readonly functionName: string; readonly url: string };
  /** Bytes of the objects that the function has allocated. */
  readonly selfSize: number;
  readonly children: readonly AllocationNode[];
}

/** The objects that the gateway allocates for a call of a row. */
export interface Allocations {
  readonly row: string;
  readonly bytesPerCall: number;
  /** Functions with the bytes of a call, in descending order. */
  readonly sites: readonly (readonly [site: string, bytes: number])[];
}

/** The rows whose calls are sampled. */
const ROWS = ["small", "20k", "translate-whole"] as const;

/** The mean number of bytes between two samples. */
const SAMPLING_INTERVAL_BYTES = 4_096;

/**
 * Calls before the sampled ones, and the sampled ones. Their numbers, not seconds: code that the
 * runtime has not optimized yet leaves more objects.
 */
const WARM_UP_COUNT = 20_000, SAMPLED_COUNT = 5_000;

/** Functions that are printed of each row. */
const MAX_PRINTED = 15;

const ROOT = new URL("../../", import.meta.url).href;

/** Samples the allocations of the gateway under the load of each row, behind its warm-up. */
export async function measureAllocations(
  servers: ServerProcesses,
  { core, upstreamCore }: Cores,
): Promise<Allocations[]> {
  const { port } = await servers.start("upstream.ts", "", upstreamCore);
  const results: Allocations[] = [];
  for (const scenario of scenarios.filter(({ name }) => ROWS.some((row) => row === name))) {
    const config = configText(scenario.measured as ConfigName, `http://127.0.0.1:${port}`);
    const inspectorPort = freePort();
    const options = [`--inspect=127.0.0.1:${inspectorPort}`];
    const gateway = await servers.start("gateway.ts", config, core, options);
    const run = await newSystemRun(
      scenario,
      gateway,
      scenario.measuredRequest ?? scenario.request,
    );
    await runCalls(run, WARM_UP_COUNT);
    run.reset();
    const inspector = await openInspector(inspectorPort);
    await inspector.call("HeapProfiler.startSampling", {
      samplingInterval: SAMPLING_INTERVAL_BYTES,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    await runCalls(run, SAMPLED_COUNT);
    const { profile } = await inspector.call("HeapProfiler.stopSampling", {});
    inspector.close();
    results.push(allocationsOf(scenario.name, profile.head, run.result().timesUs.length));
  }
  return results;
}

/** The sampled streams, and the time after which all of them are open and have sent a record. */
const STREAM_COUNT = 1_000, OPEN_MS = 2_500;

/** Samples what open slow streams hold in the gateway, after a garbage collection. */
export async function measureHeld(
  servers: ServerProcesses,
  { core, upstreamCore }: Cores,
): Promise<Allocations> {
  const { port } = await servers.start("upstream.ts", "", upstreamCore);
  const config = configText("one", `http://127.0.0.1:${port}`);
  const inspectorPort = freePort();
  const options = [`--inspect=127.0.0.1:${inspectorPort}`];
  const gateway = await servers.start("gateway.ts", config, core, options);
  const url = `http://127.0.0.1:${gateway.port}`;
  await (await request(url)).body?.cancel();
  const inspector = await openInspector(inspectorPort);
  await inspector.call("HeapProfiler.startSampling", { samplingInterval: SAMPLING_INTERVAL_BYTES });
  const open = await Promise.all(Array.from({ length: STREAM_COUNT }, () => request(url)));
  await new Promise((resolve) => setTimeout(resolve, OPEN_MS));
  await inspector.call("HeapProfiler.collectGarbage", {});
  const { profile } = await inspector.call("HeapProfiler.stopSampling", {});
  inspector.close();
  await Promise.all(open.map((response) => response.body?.cancel()));
  return allocationsOf("streams", profile.head, STREAM_COUNT);
}

async function runCalls(run: SystemRun, count: number): Promise<void> {
  while (run.result().timesUs.length < count) await run.round(0.5);
}

interface Inspector {
  call(
    method: string,
    params: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly profile: { readonly head: AllocationNode } }>;
  close(): void;
}

async function openInspector(port: number): Promise<Inspector> {
  const [{ webSocketDebuggerUrl }] = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
  const socket = new WebSocket(webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  let count = 0;
  return {
    call(method, params) {
      const id = ++count;
      const answer = Promise.withResolvers<{ profile: { head: AllocationNode } }>();
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.error !== undefined) answer.reject(new Error(message.error.message));
        else if (message.id === id) answer.resolve(message.result);
      };
      socket.onclose = () => answer.reject(new Error("The inspector is closed."));
      socket.send(JSON.stringify({ id, method, params }));
      return answer.promise;
    },
    close() {
      socket.onclose = null;
      socket.close();
    },
  };
}

/**
 * Returns the bytes of each function of the gateway: what the runtime and libraries allocate for a
 * function belongs to it.
 */
export function allocationsOf(row: string, head: AllocationNode, calls: number): Allocations {
  const bytes = new Map<string, number>();
  const open = [{ node: head, site: "the runtime alone" }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { callFrame: { functionName, url }, selfSize, children } = next.node;
    const site = url.startsWith(ROOT)
      ? `${url.slice(ROOT.length)} ${functionName || "(anonymous)"}`
      : next.site;
    bytes.set(site, (bytes.get(site) ?? 0) + selfSize / calls);
    open.push(...children.map((node) => ({ node, site })));
  }
  const sites = [...bytes].toSorted(([, one], [, other]) => other - one);
  return { row, bytesPerCall: sites.reduce((sum, [, each]) => sum + each, 0), sites };
}

/** Returns the table of a row for the documentation: the largest of its functions. */
export function allocationLines({ row, bytesPerCall, sites }: Allocations): string {
  const lines = sites.slice(0, MAX_PRINTED).map(([site, bytes]) => {
    const [file, name] = site.split(/ (?=[^ ]+$)/);
    const text = site.startsWith("src/") ? `\`${name}\` in \`${file}\`` : site;
    return `| \`${row}\` | ${text} | ${bytes.toFixed(0)} | ${
      (bytes / bytesPerCall * 100).toFixed(0)
    } % |`;
  });
  return [
    `| \`${row}\` | all | ${bytesPerCall.toFixed(0)} | 100 % |`,
    ...lines,
  ].join("\n");
}
