import fc from "fast-check";
import { assertEquals } from "../support/assert.ts";
import {
  type Breakers,
  type BreakerSettings,
  type BreakerState,
  type BreakerVerdict,
  newBreakers,
  type Permit,
} from "../../src/traffic/breakers.ts";

/** Every attempt from its admission on, and all that has happened, newest last. */
interface Model {
  time: number;
  readonly settings: BreakerSettings;
  readonly attempts: Attempt[];
  /** How often the breaker has opened, and when it did last. */
  openings: number;
  openedAt: number;
  isClosed: boolean;
  /** Times of the failures since the last success or opening. */
  failures: number[];
}

interface Attempt {
  /** How often the breaker had opened when this was admitted. */
  readonly openings: number;
  readonly isTrial: boolean;
  hasSucceeded: boolean;
  isOver: boolean;
}

interface Real {
  time: number;
  readonly all: Breakers;
  readonly permits: Permit[];
}

function stateOf(model: Readonly<Model>): BreakerState {
  if (model.isClosed) return "closed";
  return model.time - model.openedAt < model.settings.open_duration ? "open" : "half-open";
}

/** Attempts of the present half-open time. */
function trials(model: Readonly<Model>): readonly Attempt[] {
  return model.attempts.filter((one) => one.isTrial && one.openings === model.openings);
}

function running(model: Readonly<Model>): number {
  return trials(model).filter((one) => !one.isOver && !one.hasSucceeded).length;
}

function open(model: Model): void {
  model.openings++;
  model.openedAt = model.time;
  model.isClosed = false;
  model.failures = [];
}

function succeed(model: Model, attempt: Attempt): void {
  const wasCounted = attempt.hasSucceeded;
  attempt.hasSucceeded = true;
  if (model.isClosed) model.failures = [];
  if (model.isClosed || wasCounted) return;
  const successes = trials(model).filter((one) => one.hasSucceeded).length;
  model.isClosed = successes >= model.settings.half_open_max_requests;
}

function check(model: Readonly<Model>, real: Real): void {
  assertEquals(real.all.state("a"), stateOf(model));
  const isFull = stateOf(model) === "half-open" &&
    running(model) >= model.settings.half_open_max_requests;
  assertEquals(real.all.openFor("a", model.settings) > 0, stateOf(model) === "open" || isFull);
}

class Admit implements fc.Command<Model, Real> {
  check = () => true;

  run(model: Model, real: Real): void {
    const state = stateOf(model);
    const isRefused = real.all.openFor("a", model.settings) > 0;
    const permit = real.all.admit("a", model.settings);
    assertEquals("openFor" in permit, isRefused);
    if ("end" in permit) {
      real.permits.push(permit);
      model.attempts.push({
        openings: model.openings,
        isTrial: state === "half-open",
        hasSucceeded: false,
        isOver: false,
      });
    } else if (state === "open") {
      assertEquals(permit.openFor, model.openedAt + model.settings.open_duration - model.time);
    }
    check(model, real);
  }

  toString = () => "admit";
}

class Commit implements fc.Command<Model, Real> {
  constructor(readonly index: number) {}

  check = (model: Readonly<Model>) => this.index < model.attempts.length;

  run(model: Model, real: Real): void {
    real.permits[this.index]?.committed();
    const attempt = model.attempts[this.index];
    const isLive = attempt?.isOver === false && attempt.openings === model.openings;
    if (isLive && attempt.isTrial && !model.isClosed) succeed(model, attempt);
    check(model, real);
  }

  toString = () => `commit ${this.index}`;
}

class End implements fc.Command<Model, Real> {
  constructor(readonly index: number, readonly verdict: BreakerVerdict) {}

  check = (model: Readonly<Model>) => this.index < model.attempts.length;

  run(model: Model, real: Real): void {
    real.permits[this.index]?.end(this.verdict);
    const attempt = model.attempts[this.index];
    if (attempt !== undefined && !attempt.isOver) this.#judge(model, attempt);
    check(model, real);
  }

  #judge(model: Model, attempt: Attempt): void {
    attempt.isOver = true;
    if (attempt.openings !== model.openings) return;
    if (this.verdict === "success") succeed(model, attempt);
    if (this.verdict !== "failure") return;
    if (!model.isClosed) return open(model);
    model.failures.push(model.time);
    const recent = model.failures.filter((at) => model.time - at <= model.settings.window);
    if (recent.length >= model.settings.failure_threshold) open(model);
  }

  toString = () => `end ${this.index} ${this.verdict}`;
}

class Pass implements fc.Command<Model, Real> {
  constructor(readonly ms: number) {}

  check = () => true;

  run(model: Model, real: Real): void {
    model.time += this.ms;
    real.time += this.ms;
    check(model, real);
  }

  toString = () => `pass ${this.ms}`;
}

const verdict = fc.constantFrom<BreakerVerdict>("success", "failure", "failure", "neutral");
const index = fc.nat(12);

const steps = [
  fc.constant(new Admit()),
  fc.constant(new Admit()),
  index.map((at) => new Commit(at)),
  fc.record({ at: index, verdict }).map(({ at, verdict: outcome }) => new End(at, outcome)),
  fc.record({ at: index, verdict }).map(({ at, verdict: outcome }) => new End(at, outcome)),
  fc.integer({ min: 1, max: 60 }).map((ms) => new Pass(ms)),
];

Deno.test("a breaker follows its rules, whatever the order of operations", () => {
  const settings = fc.record({
    enabled: fc.constant(true),
    failure_threshold: fc.integer({ min: 1, max: 3 }),
    window: fc.integer({ min: 1, max: 100 }),
    open_duration: fc.integer({ min: 1, max: 50 }),
    half_open_max_requests: fc.integer({ min: 1, max: 3 }),
  });
  const commands = fc.commands(steps, { size: "max", maxCommands: 120 });
  fc.assert(
    fc.property(settings, commands, (chosen, run) => {
      fc.modelRun(() => {
        const real: Real = { time: 0, permits: [], all: newBreakers(() => real.time) };
        const model: Model = {
          time: 0,
          settings: chosen,
          attempts: [],
          openings: 0,
          openedAt: 0,
          isClosed: true,
          failures: [],
        };
        return { model, real };
      }, run);
    }),
    { numRuns: 300 },
  );
});
