import fc from "fast-check";
import {
  isUse,
  LEASE_MS,
  type QuotaLimits,
  type QuotaReason,
  type QuotaScope,
} from "../../../src/store/quota_store.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type Step, type StoreUnderTest, testModel } from "./harness.ts";

type Quotas = Pick<StateStore, "quotas">;

/** Slow enough that no token comes back in the real time of a run. */
const REQUESTS = { requests_per_minute: 4, burst_size: 3 };
const MAX_TOKENS_PER_MINUTE = 6;
const MAX_CONCURRENT = 2;

/**
 * Longest time that passes at once: 40 of them are less than the time for which calls stay settled.
 */
const MAX_PASS_MS = 14_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Tokens of the model may be off by this much from a count without rounding. */
const MAX_ROUNDING = 1e-6;

/** A level that rises with time, and the time at which it was read. */
interface Level {
  value: number;
  time: number;
}

/** Plain model of one caller. */
interface CallerModel {
  readonly requests: Level;
  readonly tokens: Level;
  readonly leases: Map<string, number>;
}

interface RatesModel {
  time: number;
  calls: number;
  readonly callers: ReadonlyMap<string, CallerModel>;
  /** Scopes of the admitted calls, and whether the call has ended. */
  readonly admitted: { readonly call: string; readonly scopes: readonly QuotaScope[] }[];
  readonly settled: Set<string>;
  /** Ends of refusals for too many requests, which a replica may repeat without the store. */
  readonly remembered: Map<string, number>;
}

type RatesStep = readonly [text: string, step: Step<RatesModel, Quotas>];

const NAMES = ["a", "b", "c"];

function levelOf(level: Level, time: number, perMinute: number, most: number): number {
  level.value = Math.min(most, level.value + (time - level.time) * perMinute / 60_000);
  level.time = time;
  return level.value;
}

function requestsOf({ requests }: CallerModel, time: number): number {
  return levelOf(requests, time, REQUESTS.requests_per_minute, REQUESTS.burst_size);
}

function tokensOf({ tokens }: CallerModel, time: number): number {
  return levelOf(tokens, time, MAX_TOKENS_PER_MINUTE, MAX_TOKENS_PER_MINUTE);
}

function refusalOf(caller: CallerModel, limits: QuotaLimits, time: number): QuotaReason | null {
  for (const [call, end] of caller.leases) if (end <= time) caller.leases.delete(call);
  if (limits.tokensPerMinute !== null && tokensOf(caller, time) < 1 - MAX_ROUNDING) return "tokens";
  if (limits.maxConcurrent !== null && caller.leases.size >= limits.maxConcurrent) {
    return "concurrency";
  }
  const isEmpty = limits.requests !== null && requestsOf(caller, time) < 1 - MAX_ROUNDING;
  return isEmpty ? "requests" : null;
}

async function admit(model: RatesModel, { quotas }: Quotas, scopes: readonly QuotaScope[]) {
  const call = `call ${++model.calls}`;
  const callers = scopes.map(({ caller }) => model.callers.get(caller));
  const reasons = scopes.map(({ limits }, at) => {
    const caller = callers[at];
    return caller === undefined ? null : refusalOf(caller, limits, model.time);
  });
  const refusing = reasons.findIndex((reason) => reason !== null);
  const decision = await quotas.admit(scopes, call);
  if (refusing >= 0) {
    assert(decision.kind === "refused", `${decision.kind} instead of ${reasons[refusing]}`);
    const { reason, scope, waitMs } = decision;
    const known = model.remembered.get(scopes[scope]?.caller ?? "") ?? 0;
    if (reason === "requests" && known > model.time) {
      assert(waitMs > 0 && waitMs <= known - model.time + 1);
      return;
    }
    assertEquals([reason, scope], [reasons[refusing], refusing]);
    if (reason === "requests") {
      model.remembered.set(scopes[scope]?.caller ?? "", model.time + waitMs);
    }
    return;
  }
  assertEquals(decision.kind, "admitted");
  assert(decision.kind === "admitted");
  for (const [at, { limits }] of scopes.entries()) {
    const caller = callers[at];
    const rest = decision.rests[at];
    if (caller === undefined || rest === undefined) continue;
    if (limits.maxConcurrent !== null) caller.leases.set(call, model.time + LEASE_MS);
    if (limits.requests !== null) caller.requests.value--;
    const { requests, tokens } = caller;
    assertEquals([rest.requests, rest.tokens], [
      limits.requests === null ? null : Math.floor(requests.value + MAX_ROUNDING),
      limits.tokensPerMinute === null ? null : Math.floor(tokens.value + MAX_ROUNDING),
    ]);
  }
  model.admitted.push({ call, scopes });
}

async function settle(model: RatesModel, { quotas }: Quotas, at: number, used: number) {
  const ended = model.admitted[at % Math.max(1, model.admitted.length)];
  if (ended === undefined) return;
  const { call, scopes } = ended;
  const uses = scopes.map(({ caller, limits }) => ({
    caller,
    tokensPerMinute: limits.tokensPerMinute,
    holdsSlot: limits.maxConcurrent !== null,
    tokens: used,
    spends: [],
  }));
  await quotas.settle(call, uses);
  if (!uses.some(isUse)) return;
  const isFirst = !model.settled.has(call);
  model.settled.add(call);
  for (const { caller, limits } of scopes) {
    const known = model.callers.get(caller);
    known?.leases.delete(call);
    if (known === undefined || !isFirst || limits.tokensPerMinute === null) continue;
    tokensOf(known, model.time);
    known.tokens.value -= used;
  }
}

async function renew(model: RatesModel, { quotas }: Quotas) {
  const running = model.admitted.flatMap(({ call, scopes }) =>
    scopes.map(({ caller }) => [caller, call] as const)
  );
  await quotas.renew(running);
  for (const [caller, call] of running) {
    const leases = model.callers.get(caller)?.leases;
    if ((leases?.get(call) ?? 0) > model.time) leases?.set(call, model.time + LEASE_MS);
  }
}

const limits: fc.Arbitrary<QuotaLimits> = fc.record({
  requests: fc.constantFrom(REQUESTS, null),
  tokensPerMinute: fc.constantFrom(MAX_TOKENS_PER_MINUTE, null),
  maxConcurrent: fc.constantFrom(MAX_CONCURRENT, null),
  budgets: fc.constant([]),
});

const scopes = fc.tuple(fc.shuffledSubarray(NAMES, { minLength: 1 }), limits, limits, limits)
  .map(([callers, ...each]) =>
    callers.flatMap((caller, at) => {
      const own = each[at];
      return own === undefined ? [] : [{ caller, limits: own }];
    })
  );

/** Registers the model tests of quotas. */
export function testQuotaModels(under: StoreUnderTest<Quotas>): void {
  const retention = { ...DEFAULT_RETENTION, ttlMs: MAX_PASS_MS };
  const admits = scopes.map((asked): RatesStep => [
    `admit ${JSON.stringify(asked)}`,
    (model, store) => admit(model, store, asked),
  ]);
  testModel<RatesModel, Quotas>(
    withoutReopen(under),
    "rates and concurrent calls are those of a plain model",
    {
      retention,
      newModel: () => ({
        time: 0,
        calls: 0,
        callers: new Map(NAMES.map((name) => [name, {
          requests: { value: REQUESTS.burst_size, time: 0 },
          tokens: { value: MAX_TOKENS_PER_MINUTE, time: 0 },
          leases: new Map(),
        }])),
        admitted: [],
        settled: new Set(),
        remembered: new Map(),
      }),
      steps: [
        admits,
        admits,
        fc.tuple(fc.nat(20), fc.nat(12)).map(([at, used]): RatesStep => [
          `settle ${at} with ${used} tokens`,
          (model, store) => settle(model, store, at, used),
        ]),
        fc.constant<RatesStep>(["renew", renew]),
      ],
      check: () => Promise.resolve(),
    },
  );

  const windows = ["usd d:1", "usd m:1", "tokens d:1"];
  const uses = fc.array(
    fc.record({
      caller: fc.constantFrom(...NAMES),
      window: fc.constantFrom(...windows),
      amount: fc.nat(9_000_000),
    }),
    { minLength: 1, maxLength: 4 },
  );
  testModel<SumsModel, Quotas>(
    under,
    "sums are those of a plain model, also after the store was opened again",
    {
      retention,
      newModel: () => ({ time: 0, sums: new Map(), settled: new Set() }),
      steps: [
        fc.tuple(fc.nat(15), uses).map(([number, used]): SumsStep => [
          `settle ${number} with ${JSON.stringify(used)}`,
          async (model, { quotas }) => {
            const call = `call ${number}`;
            await quotas.settle(
              call,
              used.map(({ caller, window, amount }) => ({
                caller,
                tokensPerMinute: null,
                holdsSlot: false,
                tokens: 0,
                spends: [{ window, amount, ttlMs: DAY_MS }],
              })),
            );
            if (model.settled.has(call)) return;
            model.settled.add(call);
            for (const { caller, window, amount } of used) {
              const name = `${caller} ${window}`;
              model.sums.set(name, (model.sums.get(name) ?? 0) + amount);
            }
          },
        ]),
        fc.tuple(
          fc.constantFrom(...NAMES),
          fc.constantFrom(...windows),
          fc.integer({ min: 1, max: 20_000_000 }),
        )
          .map(([caller, window, limit]): SumsStep => [
            `admit ${caller} below ${limit} of ${window}`,
            async (model, { quotas }) => {
              const own = { requests: null, tokensPerMinute: null, maxConcurrent: null };
              const budgets = [{ window: "other", limit: 1 }, { window, limit }];
              const decision = await quotas.admit([{ caller, limits: { ...own, budgets } }], "any");
              const sum = model.sums.get(`${caller} ${window}`) ?? 0;
              assert(decision.kind !== "unavailable");
              assertEquals(decision.rests, [{ requests: null, tokens: null, spent: [0, sum] }]);
              if (decision.kind === "admitted") return assert(sum < limit);
              assertEquals([decision.reason, decision.window, sum >= limit], [
                "budget",
                window,
                true,
              ]);
            },
          ]),
      ],
      async check({ sums }, { quotas }) {
        const found = await quotas.spent(NAMES);
        assert(found.ok);
        const names = [...found.value].flatMap(([caller, own]) =>
          [...own].map(([window, sum]) => [`${caller} ${window}`, sum] as const)
        );
        assertEquals(new Map(names.toSorted()), new Map([...sums].toSorted()));
      },
    },
  );
}

interface SumsModel {
  time: number;
  readonly sums: Map<string, number>;
  readonly settled: Set<string>;
}

type SumsStep = readonly [text: string, step: Step<SumsModel, Quotas>];

/** Returns a store that is never opened again: rates may be in the memory of its process. */
function withoutReopen(under: StoreUnderTest<Quotas>): StoreUnderTest<Quotas> {
  return {
    ...under,
    async open(retention) {
      const { store, advance, another, close } = await under.open(retention);
      return { store, advance, close, ...(another === undefined ? {} : { another }) };
    },
  };
}
