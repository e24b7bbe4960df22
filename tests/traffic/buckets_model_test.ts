import fc from "fast-check";
import { type Buckets, type BucketSettings, newBuckets } from "../../src/traffic/buckets.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** Plain model of a bucket: tokens are added at its rate up to the burst size. */
interface Model {
  time: number;
  readonly settings: BucketSettings;
  readonly tokens: Map<string, number>;
}

interface Real {
  time: number;
  readonly all: Buckets;
}

/** Tokens of the model may be off by this much from a count without rounding. */
const MAX_ROUNDING = 1e-6;

class Take implements fc.Command<Model, Real> {
  constructor(readonly caller: string) {}

  check = () => true;

  run(model: Model, real: Real): void {
    const { burst_size, requests_per_minute } = model.settings;
    const tokens = model.tokens.get(this.caller) ?? burst_size;
    const { isTaken, remaining, waitMs } = real.all.take(this.caller, model.settings);
    assertEquals(isTaken, tokens >= 1 - MAX_ROUNDING);
    const left = isTaken ? tokens - 1 : tokens;
    model.tokens.set(this.caller, left);
    assertEquals(remaining, Math.max(0, Math.floor(left + MAX_ROUNDING)));
    const expected = isTaken ? 0 : (1 - tokens) * 60_000 / requests_per_minute;
    assert(Math.abs(waitMs - expected) < 1e-3, `${waitMs} is not ${expected}`);
  }

  toString = () => `take ${this.caller}`;
}

class Pass implements fc.Command<Model, Real> {
  constructor(readonly ms: number) {}

  check = () => true;

  run(model: Model, real: Real): void {
    const { burst_size, requests_per_minute } = model.settings;
    model.time += this.ms;
    real.time = model.time;
    for (const [caller, tokens] of model.tokens) {
      const more = this.ms * requests_per_minute / 60_000;
      model.tokens.set(caller, Math.min(burst_size, tokens + more));
    }
  }

  toString = () => `pass ${this.ms}`;
}

const callers = fc.constantFrom("a", "b", "c");

Deno.test("buckets grant their rate and no more, in whatever order requests come", () => {
  const settings = fc.record({
    requests_per_minute: fc.integer({ min: 1, max: 6_000 }),
    burst_size: fc.integer({ min: 1, max: 6 }),
  });
  const commands = fc.commands([
    callers.map((caller) => new Take(caller)),
    callers.map((caller) => new Take(caller)),
    fc.integer({ min: 0, max: 40_000 }).map((ms) => new Pass(ms)),
  ], { size: "max", maxCommands: 120 });
  fc.assert(
    fc.property(settings, commands, (chosen, run) => {
      fc.modelRun(() => {
        const real: Real = { time: 0, all: newBuckets(() => real.time) };
        return { model: { time: 0, settings: chosen, tokens: new Map() }, real };
      }, run);
    }),
    { numRuns: 300 },
  );
});
