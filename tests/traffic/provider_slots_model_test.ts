import fc from "fast-check";
import {
  newProviderSlots,
  type ProviderSlots,
  type Slot,
  type SlotEntry,
  type SlotLimits,
} from "../../src/traffic/provider_slots.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const OWNER = { id: "up", upstream: "a" };

/** One call from its entry on. */
interface ModelCall {
  state: "running" | "waiting" | "over";
  /** When a waiting call gives up. */
  readonly until: number;
}

interface Model {
  time: number;
  limits: SlotLimits | null;
  readonly calls: ModelCall[];
}

/** Resources that the gateway would hold for a call. */
interface RealCall {
  readonly entry: SlotEntry;
  slot: Slot | null;
  isOver: boolean;
}

interface Real {
  readonly world: ScriptedWorld;
  readonly slots: ProviderSlots;
  readonly calls: RealCall[];
}

function inState(model: Readonly<Model>, state: ModelCall["state"]): readonly ModelCall[] {
  return model.calls.filter((one) => one.state === state);
}

function isFree({ limits, ...model }: Readonly<Model>): boolean {
  return limits === null || inState({ limits, ...model }, "running").length < limits.maxConcurrent;
}

/** Calls are in the order of their entry, so that the first that waits is the oldest. */
function admit(model: Model): void {
  for (const call of inState(model, "waiting")) {
    if (!isFree(model)) return;
    call.state = "running";
  }
}

async function check(model: Readonly<Model>, real: Real): Promise<void> {
  // Enough for the promise of a granted slot to be followed.
  for (let turn = 0; turn < 3; turn++) await Promise.resolve();
  const running = inState(model, "running").length;
  const waiting = inState(model, "waiting").length;
  assertEquals(real.slots.counts(OWNER), { running, queued: waiting });
  assertEquals(real.slots.isFree(OWNER), isFree(model));
  assertEquals(
    real.slots.hasRoom(OWNER),
    isFree(model) || waiting < (model.limits?.maxQueued ?? Infinity),
  );
  assert(waiting === 0 || !isFree(model), "no call waits while a slot is free");
  assertEquals(real.world.waiting, waiting, "one timer for each call that waits");
  for (const [at, { slot, isOver }] of real.calls.entries()) {
    const { state } = model.calls[at] ?? { state: "over" };
    assertEquals(slot !== null && !isOver, state === "running", `call ${at} is ${state}`);
  }
}

class Enter implements fc.AsyncCommand<Model, Real> {
  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    const entry = real.slots.enter(OWNER);
    const { limits } = model;
    const waiting = inState(model, "waiting").length;
    const kind = isFree(model) ? "granted" : waiting < (limits?.maxQueued ?? 0) ? "queued" : "full";
    assertEquals(entry.kind, kind);
    const call: RealCall = { entry, slot: null, isOver: false };
    if (entry.kind === "granted") call.slot = entry.slot;
    if (entry.kind === "queued") void entry.slot.then((slot) => call.slot = slot);
    if (kind !== "full") {
      real.calls.push(call);
      const state = kind === "granted" ? "running" : "waiting";
      model.calls.push({ state, until: model.time + (limits?.queueTimeoutMs ?? 0) });
    }
    await check(model, real);
  }

  toString = () => "enter";
}

class Release implements fc.AsyncCommand<Model, Real> {
  constructor(readonly index: number) {}

  check = (model: Readonly<Model>) => this.index < model.calls.length;

  async run(model: Model, real: Real): Promise<void> {
    const call = real.calls[this.index];
    // Also when it was released before.
    call?.slot?.release();
    const known = model.calls[this.index];
    if (known?.state === "running" && call !== undefined) {
      known.state = "over";
      call.isOver = true;
      admit(model);
    }
    await check(model, real);
  }

  toString = () => `release ${this.index}`;
}

class Leave implements fc.AsyncCommand<Model, Real> {
  constructor(readonly index: number) {}

  check = (model: Readonly<Model>) => this.index < model.calls.length;

  async run(model: Model, real: Real): Promise<void> {
    const entry = real.calls[this.index]?.entry;
    // Also when it has its slot, or left before.
    if (entry?.kind === "queued") entry.leave();
    const known = model.calls[this.index];
    if (known?.state === "waiting") known.state = "over";
    await check(model, real);
  }

  toString = () => `leave ${this.index}`;
}

class Pass implements fc.AsyncCommand<Model, Real> {
  constructor(readonly ms: number) {}

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    await real.world.advance(this.ms);
    model.time += this.ms;
    for (const call of inState(model, "waiting")) {
      if (call.until <= model.time) call.state = "over";
    }
    await check(model, real);
  }

  toString = () => `pass ${this.ms}`;
}

class Configure implements fc.AsyncCommand<Model, Real> {
  constructor(readonly limits: SlotLimits | null) {}

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    real.slots.configure([[OWNER, this.limits]]);
    model.limits = this.limits;
    admit(model);
    await check(model, real);
  }

  toString = () => `configure ${JSON.stringify(this.limits)}`;
}

const limits = fc.record({
  maxConcurrent: fc.integer({ min: 1, max: 3 }),
  maxQueued: fc.integer({ min: 0, max: 4 }),
  queueTimeoutMs: fc.integer({ min: 1, max: 40 }),
});
const index = fc.nat(15);

const steps = [
  fc.constant(new Enter()),
  fc.constant(new Enter()),
  fc.constant(new Enter()),
  index.map((at) => new Release(at)),
  index.map((at) => new Release(at)),
  index.map((at) => new Leave(at)),
  fc.integer({ min: 1, max: 30 }).map((ms) => new Pass(ms)),
  limits.map((one) => new Configure(one)),
];

Deno.test("slots are never exceeded, lost or granted out of order, whatever the order of operations", async () => {
  const commands = fc.commands(steps, { size: "max", maxCommands: 80 });
  await fc.assert(
    fc.asyncProperty(limits, commands, async (first, run) => {
      await fc.asyncModelRun(() => {
        const world = scriptedWorld();
        const slots = newProviderSlots((ms, task) => world.after(ms, task));
        slots.configure([[OWNER, first]]);
        const real: Real = { world, slots, calls: [] };
        const model: Model = { time: 0, limits: first, calls: [] };
        return { model, real };
      }, run);
    }),
    { numRuns: 100 },
  );
});
