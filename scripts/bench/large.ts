import { configText } from "./configs.ts";
import type { ServerProcesses } from "./processes.ts";
import { LOAD_CORE_INDEX, MEASURED_CORE_INDEX, startStateServer, urlOf } from "./systems.ts";

/** Longest waits of others while responses of very many items are stored, in milliseconds. */
export interface LargeResult {
  readonly store: string;
  /** Longest time of `/health`, and of a small create of another client. */
  readonly healthMs: number;
  readonly createMs: number;
  /** The same without large responses. */
  readonly idleHealthMs: number;
  readonly idleCreateMs: number;
  /** Median time of a large create. */
  readonly largeMs: number;
}

/** Maximum of `healthMs`, and of `createMs`. */
export const MAX_HEALTH_MS = 100, MAX_CREATE_MS = 500;

/** Items of a large response: the default of `state.max_items` with one of output. */
const ITEM_COUNT = 9_999;

/** Large creates in a row, and those before them, which the runtime compiles. */
const CREATE_COUNT = 12, WARM_UP_COUNT = 4;

const IDLE_MS = 2_000;

/** Stores large responses over each store while others are served. */
export async function measureLarge(servers: ServerProcesses, folder: string) {
  const upstream = await servers.start("upstream.ts", "", LOAD_CORE_INDEX);
  const valkey = await startStateServer(servers);
  const results: LargeResult[] = [];
  for (const store of ["memory", "sqlite", "valkey"]) {
    if (store === "valkey" && valkey.kind === "missing") continue;
    const config = configText("one", `http://127.0.0.1:${upstream.port}`, {
      store,
      sqlite: { path: `${folder}/large.db` },
      valkey: valkey.kind === "started" ? { url: urlOf(valkey) } : {},
    });
    const { port } = await servers.start("gateway.ts", config, MEASURED_CORE_INDEX);
    results.push(await measureStore(store, `http://127.0.0.1:${port}`));
  }
  return results;
}

async function measureStore(store: string, url: string): Promise<LargeResult> {
  const creates = async (count: number, from: number) => {
    const times: number[] = [];
    for (let at = 0; at < count; at++) times.push(await create(url, ITEM_COUNT, from + at));
    return times;
  };
  await creates(WARM_UP_COUNT, 0);
  const idle = await longestOf(url, new Promise((over) => setTimeout(over, IDLE_MS)));
  const large = creates(CREATE_COUNT, WARM_UP_COUNT);
  const busy = await longestOf(url, large);
  const sorted = (await large).toSorted((one, other) => one - other);
  return {
    store,
    healthMs: busy.healthMs,
    createMs: busy.createMs,
    idleHealthMs: idle.healthMs,
    idleCreateMs: idle.createMs,
    largeMs: sorted[CREATE_COUNT / 2] ?? 0,
  };
}

/** Returns the longest times of others until the work is over. */
async function longestOf(url: string, work: Promise<unknown>) {
  let isOver = false;
  const over = work.finally(() => isOver = true);
  const longest = async (exchange: () => Promise<number>) => {
    let most = 0;
    while (!isOver) most = Math.max(most, await exchange());
    return most;
  };
  const [healthMs, createMs] = await Promise.all([
    longest(() => timed(new Request(`${url}/health`))),
    longest(() => create(url, 1, 0)),
    over,
  ]);
  return { healthMs, createMs };
}

/** Creates a response of this many different items, and returns its time in milliseconds. */
function create(url: string, items: number, seed: number): Promise<number> {
  const input = Array.from({ length: items }, (_, at) => ({
    role: "user",
    content: `item ${at} of ${seed}`,
  }));
  const body = JSON.stringify({ model: "json", input });
  return timed(new Request(`${url}/v1/responses`, { method: "POST", body }));
}

async function timed(request: Request): Promise<number> {
  const began = performance.now();
  const response = await fetch(request);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A request failed: ${text}`);
  return performance.now() - began;
}
