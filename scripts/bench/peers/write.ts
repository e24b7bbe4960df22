import { VERSION } from "../../../src/core/build.ts";
import type { BenchOptions } from "../options.ts";
import type { ScenarioResult } from "../report.ts";
import { peerTable, type RunFacts, writeTable } from "./table.ts";
import { writeTargets } from "./targets.ts";

const PAGE = new URL("../../../docs/operate/performance.md", import.meta.url);

/**
 * Writes the table of the peers into the documentation, and the measured figures of its rows next
 * to their targets.
 */
export async function writePeerTable(
  results: readonly ScenarioResult[],
  facts: RunFacts,
): Promise<void> {
  const page = writeTable(await Deno.readTextFile(PAGE), peerTable(results, facts));
  if (page === null) throw new Error(`${PAGE.pathname} has no marks for the table.`);
  await Deno.writeTextFile(PAGE, writeTargets(page, results));
}

/** Reads the machine, its load and the versions before a run. */
export async function readRunFacts({ peers, rounds, seconds }: BenchOptions): Promise<RunFacts> {
  const versions = peers.map(async (peer) => [peer.name, await peer.version()] as const);
  const named = (await Promise.all(versions))
    .map(([name, version]) => version === null ? name : `${name} ${version}`);
  return {
    rounds,
    seconds,
    date: new Date(),
    machine: await readMachine(),
    loadAverages: Deno.build.os === "windows" ? null : Deno.loadavg(),
    versions: [`Deno ${Deno.version.deno}`, `Switchyard ${VERSION}`, ...named],
  };
}

/** Returns the processor, the number of its cores and the system of this machine. */
export async function readMachine(): Promise<string> {
  const text = await Deno.readTextFile("/proc/cpuinfo").catch(() => "");
  const processor = /^model name\s*: (.+)$/m.exec(text)?.[1]?.replaceAll(/\s+/g, " ") ??
    Deno.build.arch;
  return `${processor}, ${navigator.hardwareConcurrency} cores, ${Deno.build.os}`;
}
