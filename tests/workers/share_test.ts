import fc from "fast-check";
import type { Config } from "../../src/config/schema.ts";
import { compile } from "../../src/gateway/compile.ts";
import type { Generation } from "../../src/call/generation.ts";
import { type Place, shareOf } from "../../src/workers/share.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";

const LIMITS = `
server: {max_concurrent_requests: 1001, max_body_memory: 268435457, max_response_memory: 1000003, workers: 2}
rate_limiting: {enabled: true, requests_per_minute: 61, burst_size: 1}
caching: {enabled: true, max_size: 0, max_bytes: 1000001}
security:
  enabled: true
  api_key:
    keys:
      - name: a
        value: key-of-client-a
        requests_per_minute: 7
        tokens_per_minute: 101
        max_concurrent: 3
        budgets: [{per: day, usd: 10, tokens: 5}]
      - {name: b, value: key-of-client-b}
  groups: [{name: g, keys: [a], tokens_per_minute: 9, budgets: [{per: month, usd: 3}]}]
providers:
  sim: {type: compat, base_url: "http://127.0.0.1:1", max_concurrent: 5, max_queued: 0}
  free: {type: compat, base_url: "http://127.0.0.1:1"}
routing: {routes: [{name: all, targets: [{provider: sim}, {provider: free}]}]}
update_check: {enabled: true}
`;

function config(store: string): Config {
  return configOf(`${LIMITS}\nstate: {store: ${store}}\n`);
}

/** All numbers that a share may change, in order. */
function limitsOf({ server, caching, providers, rate_limiting, security }: Config) {
  const [a] = security.api_key.keys;
  const [group] = security.groups;
  return {
    process: [
      server.max_concurrent_requests,
      server.max_body_memory,
      server.max_response_memory,
      caching.max_bytes,
      caching.max_size,
      providers.sim?.max_concurrent,
      providers.sim?.max_queued,
    ],
    clients: [
      rate_limiting.requests_per_minute,
      rate_limiting.burst_size,
      a?.requests_per_minute,
      a?.tokens_per_minute,
      a?.max_concurrent,
      a?.budgets[0]?.usd,
      a?.budgets[0]?.tokens,
      group?.tokens_per_minute,
      group?.budgets[0]?.usd,
    ],
  };
}

function sharesOf(whole: Config): readonly [Config, Config] {
  return [shareOf(whole, { number: 1, workers: 2 }), shareOf(whole, { number: 2, workers: 2 })];
}

Deno.test("without a store the limits of the process and of clients are divided, at least 1 for each worker", () => {
  const [first, second] = sharesOf(config("none")).map(limitsOf);
  assertEquals(first, {
    process: [501, 134_217_729, 500_002, 500_001, 0, 3, 0],
    clients: [31, 1, 4, 51, 2, 5, 3, 5, 1.5],
  });
  assertEquals(second, {
    process: [500, 134_217_728, 500_001, 500_000, 0, 2, 0],
    clients: [30, 1, 3, 50, 1, 5, 2, 4, 1.5],
  });
});

Deno.test("with valkey only the limits of the process are divided, because the store counts for all workers", () => {
  const whole = config("valkey");
  const [first, second] = sharesOf(whole).map(limitsOf);
  assertEquals([first?.clients, second?.clients], [
    limitsOf(whole).clients,
    limitsOf(whole).clients,
  ]);
  assertEquals(second?.process, [500, 134_217_728, 500_001, 500_000, 0, 2, 0]);
});

Deno.test("the shares of a limit add up to it, unless it is less than the number of workers", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: 2, max: 64 }),
      (limit, workers) => {
        const whole = config("none");
        const limited = { ...whole, server: { ...whole.server, max_concurrent_requests: limit } };
        const shares = Array.from(
          { length: workers },
          (_, at) => shareOf(limited, { number: at + 1, workers }).server.max_concurrent_requests,
        );
        assertEquals(shares.reduce((sum, share) => sum + share, 0), Math.max(limit, workers));
        assert(Math.max(...shares) - Math.min(...shares) <= 1);
      },
    ),
  );
});

Deno.test("each worker has room for the largest upload, or the share of body memory would refuse it each time", () => {
  const whole = config("none");
  const share = shareOf(whole, { number: 64, workers: 64 });
  assertEquals(share.server.max_body_memory, whole.server.max_upload);
});

Deno.test("the shares of body memory are together the limit, or room for one upload in each worker", () => {
  const whole = config("none");
  const MIB = 1024 * 1024;
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 512 }),
      fc.integer({ min: 1, max: 512 }),
      fc.integer({ min: 2, max: 64 }),
      (memory, upload, workers) => {
        const [max_body_memory, max_upload] = [memory * MIB, upload * MIB];
        const limited = { ...whole, server: { ...whole.server, max_body_memory, max_upload } };
        const sum = Array.from(
          { length: workers },
          (_, at) => shareOf(limited, { number: at + 1, workers }).server.max_body_memory,
        ).reduce((sum, share) => sum + share, 0);
        const uploads = workers * Math.min(max_upload, max_body_memory);
        // Workers with the remainder have one byte more.
        assert(sum >= max_body_memory && sum - Math.max(max_body_memory, uploads) < workers);
      },
    ),
  );
});

Deno.test("the sockets of a client are divided among the workers", () => {
  const shares = sharesOf(
    configOf(
      `${
        LIMITS.replace("{max_con", "{max_sockets_per_client: 257, max_con")
      }\nstate: {store: none}\n`,
    ),
  );
  assertEquals(shares.map(({ server }) => server.max_sockets_per_client), [129, 128]);
});

Deno.test("an entry of the cache is at most the share of its worker, unless the cache is shared", () => {
  const whole = config("none");
  const [, second] = sharesOf(whole);
  assertEquals(second.caching.max_entry_bytes, 500_000);
  const [, other] = sharesOf({ ...whole, caching: { ...whole.caching, shared: true } });
  assertEquals(other.caching.max_entry_bytes, whole.caching.max_entry_bytes);
});

Deno.test("the first worker alone looks for releases and has the connection for remote control", () => {
  const whole = config("none");
  const remote = { ...whole, data_sharing: { ...whole.data_sharing, remote_control: true } };
  const [first, second] = sharesOf(remote);
  assertEquals([first.update_check.enabled, first.data_sharing.remote_control], [true, true]);
  assertEquals([second.update_check.enabled, second.data_sharing.remote_control], [false, false]);
});

Deno.test("workers with different shares use the same entries of a shared cache", () => {
  const whole = config("valkey");
  const [first, second] = PLACES.map((place) => compile(whole, 1, null, divided(place)));
  assert(first !== undefined && second !== undefined);
  assertEquals(new Set([compile(whole, 1), first, second].map(cacheNames)).size, 1);
  // Of the limit 6 the second of two workers still has 3, of 5 it had 2.
  for (const max_concurrent of [5, 6, 7]) {
    const sim = { ...whole.providers.sim!, max_concurrent };
    const next = { ...whole, providers: { ...whole.providers, sim } };
    const [one, two] = [first, second].map((earlier, at) =>
      compile(next, 2, earlier, divided(PLACES[at]!))
    );
    assertEquals(cacheNames(one!), cacheNames(two!));
    assertEquals(cacheNames(one!) === cacheNames(first), max_concurrent === 5);
  }
});

const PLACES = [{ number: 1, workers: 2 }, { number: 2, workers: 2 }] as const;

function divided(place: Place): (whole: Config) => Config {
  return (whole) => shareOf(whole, place);
}

/** Returns the names under which a generation shares cached responses. */
function cacheNames({ providers, sharedCachePrefix }: Generation): string {
  return [sharedCachePrefix, ...[...providers.values()].map((one) => one.sharedNamespace)].join();
}

Deno.test("a configuration survives its way to a worker as JSON", () => {
  for (const store of ["none", "valkey"]) {
    for (const share of sharesOf(config(store))) {
      assertEquals(JSON.parse(JSON.stringify(share)), structuredClone(share));
    }
  }
});
