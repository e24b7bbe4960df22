import {
  type Attack,
  keyHeaders,
  many,
  oneProvider,
  outcomeOf,
  security,
  send,
} from "./support.ts";

const KEY = "gk-attacks-lists-0123456789abcdef";

const LIST_COUNT = 8;

/** Objects of a list that has too many, and of one of 16 MB. */
const MANY_COUNT = 200_000, LARGE_COUNT = 9_900, LARGE_CHARS = 1_560;

/**
 * Bound of the growth in MiB for the 256 MiB that count: a list is in memory as bytes, as text, as
 * values and as what is written of it.
 */
const MAX_LISTS_MIB = 6 * 256;

/** Keys of a provider, whose lists the gateway puts together. */
const TWO_KEYS = [{ name: "a", value: "any-a" }, { name: "b", value: "any-b" }];

function listOf(count: number, chars: number): string {
  const filename = "x".repeat(chars);
  const data = Array.from({ length: count }, (_, at) => ({ id: `file-${at}`, filename }));
  return JSON.stringify({ object: "list", data, has_more: false });
}

function lists(
  row: string,
  what: string,
  size: readonly [count: number, chars: number],
  settings: object = {},
): Attack {
  let list: string | undefined;
  return {
    row,
    size: (times) => `${LIST_COUNT * times} lists of ${what}`,
    config: (upstream, folder) => ({
      ...oneProvider(upstream, { capabilities: { relay: ["files"] }, ...settings }),
      security: security({ one: { value: KEY } }),
      retry: { enabled: false },
      circuit_breaker: { enabled: false },
      state: { store: "sqlite", sqlite: { path: `${folder}/attack.db` } },
    }),
    // Made in the process of the upstream only.
    upstream: () =>
      new Response(list ??= listOf(...size), { headers: { "content-type": "application/json" } }),
    maxGrowthMib: () => MAX_LISTS_MIB,
    load: async ({ url }, times) =>
      outcomeOf(
        await many(
          LIST_COUNT * times,
          () => send(`${url}/v1/files?limit=-1`, null, keyHeaders(KEY)),
        ),
      ),
  };
}

/** Batches of one client, and calls at a time that make them. */
const BATCH_COUNT = 2_500, MAKER_COUNT = 25;

/** A list of the batches of an isolated key, all with new files of results. */
const ownBatches: Attack = {
  row: "A6 batches",
  size: (times) => `lists of ${BATCH_COUNT * times} own batches with new files`,
  config: (upstream) => ({
    ...oneProvider(upstream, { capabilities: { relay: ["batches"] } }),
    security: security({ one: { value: KEY, requests_per_minute: 600_000 } }),
  }),
  upstream: (() => {
    let made = 0, listed = 0;
    return async (request: Request) => {
      if (request.method === "POST") {
        await request.text();
        return Response.json({ id: `batch_${made++}`, object: "batch" });
      }
      listed++;
      const data = Array.from({ length: made }, (_, at) => ({
        id: `batch_${at}`,
        object: "batch",
        output_file_id: `file-${listed}-${at}`,
        error_file_id: `file-${listed}-${at}-errors`,
      }));
      return Response.json({ object: "list", data, has_more: false });
    };
  })(),
  async load({ url }, times) {
    const headers = { ...keyHeaders(KEY), "content-type": "application/json" };
    const body = '{"input_file_id":null,"endpoint":"/v1/responses","completion_window":"24h"}';
    await many(MAKER_COUNT, async () => {
      for (let at = 0; at < BATCH_COUNT * times / MAKER_COUNT; at++) {
        const made = await send(`${url}/v1/batches`, body, headers);
        if (made.status !== 200) throw new Error(made.text);
      }
    });
    return outcomeOf(await many(LIST_COUNT, () => send(`${url}/v1/batches`, null, headers)));
  },
};

/** Lists of a provider that ignores `limit`, of which an isolated key sees nothing. */
export const largeLists: readonly Attack[] = [
  lists("A6 lists", "200,000 files", [MANY_COUNT, 0]),
  lists("A6 large lists", "16 MB of two accounts", [LARGE_COUNT, LARGE_CHARS], {
    api_key: undefined,
    api_keys: TWO_KEYS,
  }),
  ownBatches,
];
