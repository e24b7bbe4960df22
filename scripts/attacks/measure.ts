import { freePort } from "../bench/processes.ts";
import { readGauges } from "../soak/metrics.ts";
import { openSoakStore } from "../soak/store.ts";
import { startGateway, startRole } from "./processes.ts";
import type { Seen } from "./probe.ts";
import { type Attack, MAX_CALL_MS, MAX_GROWTH_MIB, MAX_HEALTH_MS, pause } from "./support.ts";

/** Result of an attack at one size. */
export interface Measured {
  readonly seen: Seen;
  /** Longest gap of the gateway's event loop, and longest time of the processor in one. */
  readonly gaps: readonly [gapMs: number, processorMs: number];
  readonly idleMib: number;
  readonly peakMib: number;
  readonly afterMib: number;
  /**
   * Bytes of bodies and responses that are counted when the load is over for a while; null if it is
   * not over.
   */
  readonly heldAfter: number | null;
  /** Report of the load. */
  readonly outcome: string;
  /** Broken promises; empty if the attack has failed. */
  readonly problems: readonly string[];
}

const WARM_UP_MS = 2_000, AFTER_MS = 5_000;

/** Time in which a load of the usual size is over; a multiple of it has a multiple of this. */
const LOAD_TIMEOUT_MS = 150_000;

const MIB = 1024 * 1024;

/** Runs an attack at this multiple of its usual size, over a new gateway. */
export async function measureAttack(
  attack: Attack,
  times: number,
  profileFolder: string | null,
  started: AsyncDisposableStack,
): Promise<Measured> {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-attack-" });
  started.defer(() => Deno.remove(folder, { recursive: true }));
  const port = await startRole(started, ["upstream", attack.row]).next();
  const upstream = `http://127.0.0.1:${port}`;
  const probePort = freePort();
  const configPath = `${folder}/attack.yaml`;
  const { settings } = await openSoakStore(
    attack.isOverValkey === true ? "valkey" : "memory",
    folder,
    started,
  );
  const { state, ...config } = withProbe(attack, upstream, folder, probePort);
  // JSON is valid YAML.
  await Deno.writeTextFile(
    configPath,
    JSON.stringify({ ...config, state: { ...settings, ...state as object } }),
  );
  const gateway = await startGateway(started, configPath, profileFolder);
  const prober = startRole(started, ["probe", gateway.url, String(probePort)], false);
  await prober.next();
  await pause(WARM_UP_MS);
  const idle = gateway.residentBytes();
  gateway.takeGaps();
  const target = { url: gateway.url, pid: gateway.pid, configPath };
  const load = startRole(started, ["load", attack.row, String(times), JSON.stringify(target)]);
  const late = new Error("The load was not over in time.");
  const outcome = await Promise.race([
    load.next().then(String, (error: Error) => error),
    pause(LOAD_TIMEOUT_MS * times).then(() => late),
  ]);
  await load.finish();
  await pause(AFTER_MS);
  await prober.finish();
  const seen = await prober.next() as Seen;
  const heldAfter = outcome === late ? null : await readHeld(gateway.url);
  const measured = {
    seen,
    gaps: gateway.takeGaps(),
    idleMib: idle / MIB,
    peakMib: gateway.peakBytes() / MIB,
    afterMib: gateway.residentBytes() / MIB,
    heldAfter,
    outcome: outcome instanceof Error ? "failed" : outcome,
  };
  await gateway.stop();
  const failure = outcome instanceof Error ? [outcome.message] : [];
  const problems = [...failure, ...gateway.complaints, ...findProblems(attack, times, measured)];
  return { ...measured, problems };
}

function findProblems(
  attack: Attack,
  times: number,
  measured: Omit<Measured, "problems">,
): readonly string[] {
  const { seen, idleMib, peakMib, heldAfter, gaps: [, processorMs] } = measured;
  const { maxGapProcessorMs = Infinity } = attack;
  const maxGrowthMib = attack.maxGrowthMib?.(times) ?? MAX_GROWTH_MIB;
  const growth = peakMib - idleMib;
  return [
    ...seen.healthMs <= MAX_HEALTH_MS ? [] : [`/health took more than ${MAX_HEALTH_MS} ms`],
    ...seen.callMs <= MAX_CALL_MS ? [] : [`another call took more than ${MAX_CALL_MS} ms`],
    ...processorMs <= maxGapProcessorMs
      ? []
      : [`one gap had ${processorMs} ms of work, not ${maxGapProcessorMs}`],
    ...growth <= maxGrowthMib ? [] : [`grew by ${growth.toFixed(0)} MiB, not ${maxGrowthMib}`],
    ...heldAfter === 0 || heldAfter === null ? [] : ["bytes are counted afterwards"],
    ...seen.problem === null ? [] : [`the other client saw: ${seen.problem}`],
  ];
}

/** Returns the configuration of an attack with the provider of the prober. */
function withProbe(
  attack: Attack,
  upstream: string,
  folder: string,
  port: number,
): Readonly<Record<string, unknown>> {
  const { providers, routing, server, ...rest } = attack.config(upstream, folder);
  const probe = { type: "compat", base_url: `http://127.0.0.1:${port}`, api_key: "any" };
  const { routes, ...strategies } = routing as { readonly routes: readonly object[] };
  const route = { name: "probe", match: { models: ["probe/*"] }, targets: [{ provider: "probe" }] };
  return {
    server: { port: 0, ...server as object },
    providers: { ...providers as object, probe },
    routing: { ...strategies, routes: [route, ...routes] },
    update_check: { enabled: false },
    ...rest,
  };
}

async function readHeld(url: string): Promise<number> {
  const gauges = await readGauges(url).catch(() => null);
  const bytes = (name: string) => gauges?.inFlight.get(name) ?? NaN;
  return bytes("gateway_request_body_bytes") + bytes("gateway_response_body_bytes");
}
