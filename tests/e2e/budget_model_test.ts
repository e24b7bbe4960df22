import fc from "fast-check";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { clockWorld, keys, limitedGateway } from "../support/limited_gateway.ts";
import { newMemoryQuotas } from "../../src/store/memory/quotas.ts";
import { newSwitchedStore } from "../support/switched_store.ts";

const HOUR_MS = 60 * 60 * 1000;
const MAX_CONCURRENT = 3, MAX_TOKENS_COUNT = 100, MAX_GROUP_TOKENS_COUNT = 150;

/** A provider that has as much time as passes in a test, so that no call ends by itself. */
const PATIENT = `
providers:
  up: {type: compat, base_url: "http://up", api_key: sk-upstream-secret, timeout: 1000h}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`;

/** One step of clients: a call at a gateway, the end of the oldest running call, or time. */
type Step =
  | { readonly kind: "call"; readonly at: number; readonly name: string; readonly tokens: number }
  | { readonly kind: "end" }
  | { readonly kind: "leave" }
  | { readonly kind: "pass"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      at: fc.nat(1),
      name: fc.constantFrom("ada", "bob"),
      tokens: fc.integer({ min: 1, max: 60 }),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ kind: "end" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "leave" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.constantFrom(60_000, HOUR_MS),
    }),
  },
);

interface Running {
  readonly name: string;
  readonly tokens: number;
  readonly client: AbortController;
  readonly response: Promise<Response>;
  respond(): void;
}

/** Model of the limits, without a gateway. */
function newModel() {
  const spent = new Map<string, number>();
  let window = 0;
  return {
    get: (name: string) => spent.get(name) ?? 0,
    at(hour: number) {
      if (hour !== window) spent.clear();
      window = hour;
    },
    add(name: string, tokens: number) {
      for (const one of [name, "group"]) spent.set(one, (spent.get(one) ?? 0) + tokens);
    },
  };
}

Deno.test("over two gateways with one store a key is never more than max_concurrent calls over its budget", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const begun: { resolve(tokens: number): void; reject(error: Error): void }[] = [];
      let sent = Promise.withResolvers<void>();
      const reached = async (calls: number) => {
        while (begun.length < calls) await sent.promise;
      };
      const world = clockWorld((_url, { signal }) => {
        const { promise, resolve, reject } = Promise.withResolvers<number>();
        begun.push({ resolve, reject });
        sent.resolve();
        sent = Promise.withResolvers<void>();
        signal?.addEventListener("abort", () => reject(new TypeError("aborted")));
        return promise.then((total) => {
          const usage = { prompt_tokens: total, completion_tokens: 0, total_tokens: total };
          return answers(200, { ...COMPLETION, usage });
        });
      });
      const quotas = newMemoryQuotas(world.now);
      const store = { ...newSwitchedStore(world.now), quotas };
      const limits = {
        max_concurrent: MAX_CONCURRENT,
        budgets: [{ per: "hour", tokens: MAX_TOKENS_COUNT }],
      };
      const security = keys({ ada: limits, bob: limits }, {
        groups: [{
          name: "all",
          keys: ["ada", "bob"],
          budgets: [{ per: "hour", tokens: MAX_GROUP_TOKENS_COUNT }],
        }],
      });
      const available = {
        isUp: () => true,
        pendingWrites: () => 0,
        awayForMs: () => null,
        pingMs: () => null,
      };
      const gatewayStore = { ...store, availability: available, outcomes: undefined as never };
      const gateways = [0, 1].map(() =>
        limitedGateway(security, { world, store: gatewayStore, providers: PATIENT })
      );
      const running: Running[] = [];
      const model = newModel();
      const count = (name: string) => running.filter((one) => one.name === name).length;

      for (const one of steps) {
        model.at(Math.floor(world.wall() / HOUR_MS));
        if (one.kind === "call") {
          const { name, tokens } = one;
          const isPermitted = model.get(name) < MAX_TOKENS_COUNT &&
            model.get("group") < MAX_GROUP_TOKENS_COUNT && count(name) < MAX_CONCURRENT;
          const client = new AbortController();
          const before = begun.length;
          const app = gateways[one.at]?.app;
          assert(app !== undefined);
          const response = app(chatRequest({ headers: keyOf(name), signal: client.signal }));
          await Promise.race([response, reached(before + 1)]);
          const call = begun[before];
          assertEquals(call !== undefined, isPermitted);
          if (call === undefined) assertEquals((await response).status, 429);
          else {running.push({
              name,
              tokens,
              client,
              response,
              respond: () => call.resolve(tokens),
            });}
        } else if (one.kind === "pass") {
          await world.advance(one.ms);
        } else {
          const call = running.shift();
          if (call === undefined) continue;
          if (one.kind === "end") {
            call.respond();
            await (await call.response).text();
            model.add(call.name, call.tokens);
          } else {
            call.client.abort();
            await call.response;
            const report = gateways.flatMap(({ reports }) => reports)
              .findLast(({ charge, estimated }) => estimated && charge !== null);
            model.add(call.name, report?.charge?.tokens ?? 0);
          }
          await world.advance(0);
        }
        for (const name of ["ada", "bob"]) {
          assert(model.get(name) < MAX_TOKENS_COUNT + MAX_CONCURRENT * 60, "the overshoot");
        }
      }
      for (const { client, response } of running) {
        client.abort();
        await response;
      }
      await world.advance(0);
      for (const { gateway } of gateways) assertEquals(gateway.state.leases.size, 0);
      assertEquals(quotas.ledger.leases.size, 0);
    }),
    { numRuns: 40 },
  );
});
