/** A processor profile as the runtime writes it with `--cpu-prof`. */
export interface CpuProfile {
  /** Microseconds of the monotonic clock. */
  readonly startTime: number;
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** Microseconds between a sample and the one before it. */
  readonly timeDeltas: readonly number[];
}

/** Parts of the time in which the main thread was busy, by name, in descending order. */
export type Shares = readonly (readonly [part: string, share: number])[];

/** Functions of a profile that are no part of the program. */
const IDLE = "(idle)", COLLECTOR = "(garbage collector)", OUTSIDE = "outside of functions";

/** Garbage collections above this are counted. */
const MIN_LONG_COLLECTION_US = 10_000;

const ROOT = new URL("../../", import.meta.url).href;

/**
 * Returns the shares of the folders of the sources in the second half of a profile, behind the
 * start: what the runtime does for a function of the gateway, such as a system call, belongs to the
 * folder of that function.
 */
export function sharesOf({ nodes, samples, timeDeltas }: CpuProfile): Shares {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map<number, string>();
  const open = nodes.slice(0, 1).map(({ id }) => ({ id, part: OUTSIDE }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const node = byId.get(next.id);
    if (node === undefined) continue;
    const { functionName, url } = node.callFrame;
    const part = functionName === IDLE || functionName === COLLECTOR
      ? functionName.slice(1, -1)
      : url.startsWith(ROOT)
      ? url.slice(ROOT.length).split("/", 2).join("/")
      : next.part;
    parts.set(node.id, part);
    open.push(...(node.children ?? []).map((id) => ({ id, part })));
  }
  const middle = timeDeltas.reduce((sum, each) => sum + each, 0) / 2;
  const times = new Map<string, number>();
  let elapsed = 0;
  for (const [at, id] of samples.entries()) {
    const time = timeDeltas[at] ?? 0;
    elapsed += time;
    if (elapsed <= middle) continue;
    const part = parts.get(id) ?? OUTSIDE;
    times.set(part, (times.get(part) ?? 0) + time);
  }
  times.delete(IDLE.slice(1, -1));
  const busy = [...times.values()].reduce((sum, each) => sum + each, 0);
  return [...times].map(([part, time]) => [part, time / busy] as const)
    .toSorted(([, one], [, other]) => other - one);
}

/**
 * Returns the garbage collections in the second half of a profile, in microseconds: samples of one
 * that follow each other. In a stretch no turn of the event loop runs.
 */
export function collectionsOf({ nodes, samples, timeDeltas }: CpuProfile): readonly number[] {
  const collector = nodes.find(({ callFrame }) => callFrame.functionName === COLLECTOR)?.id;
  const middle = timeDeltas.reduce((sum, each) => sum + each, 0) / 2;
  const found: number[] = [];
  let [elapsed, current] = [0, 0];
  for (const [at, id] of samples.entries()) {
    const time = timeDeltas[at] ?? 0;
    elapsed += time;
    if (id === collector && elapsed > middle) {
      current += time;
    } else if (current > 0) {
      found.push(current);
      current = 0;
    }
  }
  return current > 0 ? [...found, current] : found;
}

/** Parts below this share are not printed. */
const MIN_PRINTED_SHARE = 0.02;

/** Returns the report line of a profile. */
export function sharesLine(name: string, shares: Shares): string {
  const printed = shares.filter(([, share]) => share >= MIN_PRINTED_SHARE);
  return `profile ${name}: ` +
    printed.map(([part, share]) => `${part} ${(share * 100).toFixed(0)} %`).join(", ");
}

/** Returns the report line of the garbage collections in a profile. */
export function collectionsLine(name: string, us: readonly number[]): string {
  const ms = (time: number) => `${(time / 1000).toFixed(1)} ms`;
  const [all, most] = [us.reduce((sum, each) => sum + each, 0), Math.max(0, ...us)];
  const long = us.filter((each) => each > MIN_LONG_COLLECTION_US).length;
  return `profile ${name}: ${us.length} garbage collections, ${ms(all)} in all, at most ${
    ms(most)
  }, ` +
    `${long} above ${ms(MIN_LONG_COLLECTION_US)}`;
}

/**
 * Prints the shares of the profiles in a folder that are younger than a moment, each with its
 * further line.
 */
export async function printProfiles(
  folder: string,
  sinceMs: number,
  further: (name: string, profile: CpuProfile) => string | null,
): Promise<void> {
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith(".cpuprofile")) continue;
    const { mtime } = await Deno.stat(`${folder}/${name}`);
    if ((mtime?.getTime() ?? 0) < sinceMs) continue;
    const profile: CpuProfile = JSON.parse(await Deno.readTextFile(`${folder}/${name}`));
    console.log(sharesLine(name, sharesOf(profile)));
    console.log(collectionsLine(name, collectionsOf(profile)));
    const line = further(name, profile);
    if (line !== null) console.log(line);
  }
}
