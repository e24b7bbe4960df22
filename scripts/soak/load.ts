import { newSoakClient, type SoakClient } from "./client.ts";
import { type Gate, newGate } from "./gate.ts";
import type { RecordingUpstream } from "./upstream.ts";
import { BREAKING_USES } from "./uses/breaking.ts";
import { INFERENCE_USES, ROUTED_USES } from "./uses/inference.ts";
import { LEAVING_USES } from "./uses/leaving.ts";
import { OTHER_USES } from "./uses/others.ts";
import { SOCKET_USES } from "./uses/sockets.ts";
import { STATE_USES } from "./uses/state.ts";
import type { Use } from "./uses/use.ts";

/** Every use of the gateway in the soak. */
export const USES: readonly Use[] = [
  ...INFERENCE_USES,
  ...ROUTED_USES,
  ...STATE_USES,
  ...OTHER_USES,
  ...SOCKET_USES,
  ...BREAKING_USES,
  ...LEAVING_USES,
];

/** Result of a load. */
export interface LoadResult {
  /** Number of finished runs of each use, by name. */
  readonly counts: ReadonlyMap<string, number>;
  /** Each altered answer or failed use, with the name of the use; at most `MAX_PROBLEMS`. */
  readonly problems: readonly string[];
}

const MAX_PROBLEMS = 50;

/** Number of uses that run at the same time. */
const WORKER_COUNT = 8;

/** Uses and rate of a load. */
export interface LoadOptions {
  readonly url: string;
  readonly upstream: RecordingUpstream;
  readonly uses: readonly Use[];
  readonly rate: number;
  /** Number of the first use; each one has its own. */
  readonly from: number;
  /** Prints a problem when it is found. */
  readonly print?: (problem: string) => void;
  /** Each use enters it before it begins; without one, uses are never held back. */
  readonly gate?: Gate;
  /** True as long as further uses begin. */
  mayBegin(): boolean;
}

/**
 * Runs the uses in turn, `rate` of them in each second, and at most `WORKER_COUNT` at a time. The
 * connections of all clients are closed at the end.
 */
export async function runLoad(
  { url, upstream, uses, rate, from, print, gate = newGate(), mayBegin }: LoadOptions,
): Promise<
  LoadResult
> {
  const counts = new Map<string, number>();
  const problems: string[] = [];
  const began = performance.now();
  let next = 0;
  using http = Deno.createHttpClient({});

  async function work(): Promise<void> {
    while (mayBegin()) {
      const number = next++;
      const wait = began + number * 1000 / rate - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const use = uses[number % uses.length];
      if (use === undefined) return;
      const turn = Math.floor(number / uses.length) + number % uses.length;
      const client = newSoakClient({ number: from + number, turn }, url, http, upstream);
      await gate.enter();
      const problem = await problemOf(use, client);
      gate.leave();
      if (problem !== null && problems.length < MAX_PROBLEMS) {
        problems.push(problem);
        print?.(`${new Date().toISOString()} ${problem}`);
      }
      counts.set(use.name, (counts.get(use.name) ?? 0) + 1);
    }
  }

  await Promise.all(Array.from({ length: WORKER_COUNT }, work));
  return { counts, problems };
}

/** Runs a use once. Returns its problem with its name; null if it has none. */
export async function problemOf(use: Use, client: SoakClient): Promise<string | null> {
  try {
    await use.run(client);
    return null;
  } catch (error) {
    return `${use.name}: ${error}`;
  } finally {
    client.simulated();
  }
}
