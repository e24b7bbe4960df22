import fc from "fast-check";
import type { Owner } from "../../../src/state/bindings.ts";
import {
  heldBytes,
  MAX_OBJECTS,
  MAX_STATE_BYTES,
  STATE_TTL_MS,
} from "../../../src/state/retention.ts";
import { newMemoryObjectStore } from "../../../src/state/memory/object_store.ts";
import type { ObjectStore } from "../../../src/state/object_store.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";

const MIB = 1024 * 1024;
/** Maximum bytes of all bindings of one type. */
const BINDING_BYTES = MIB;

interface Kept {
  readonly id: string;
  readonly bytes: number;
  readonly at: number;
}

/** Snapshots and bindings, oldest first each. */
interface Model {
  time: number;
  made: number;
  kept: readonly Kept[];
  bound: readonly (Kept & { readonly account: string })[];
}

interface Real {
  readonly clock: { time: number };
  readonly objects: ObjectStore;
}

const CALLER = { name: null, isIsolated: false };

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

function sum(kept: readonly Kept[]): number {
  return kept.reduce((all, { bytes }) => all + bytes, 0);
}

function ownerOf(account: string): Owner {
  return { provider: "p", account, origin: null, creator: null };
}

/** What is left of entries when the youngest must fit. */
function fitting<T extends Kept>(entries: readonly T[], bytes: number): readonly T[] {
  let first = 0;
  let total = sum(entries);
  while (entries.length - first > MAX_OBJECTS || total > bytes) {
    total -= entries[first]?.bytes ?? 0;
    first += 1;
  }
  return entries.slice(first);
}

/** Binds an unknown ID; a snapshot whose binding was removed to make room is removed with it. */
function bind(model: Model, id: string, account: string): void {
  const bytes = bytesOf(id) + bytesOf({ kind: "bound", owner: ownerOf(account) });
  const all = [...model.bound, { id, account, bytes, at: model.time }];
  model.bound = fitting(all, BINDING_BYTES);
  const lost = new Set(all.slice(0, all.length - model.bound.length).map((one) => one.id));
  model.kept = model.kept.filter((one) => !lost.has(one.id));
}

async function check({ kept, bound }: Readonly<Model>, { objects }: Real): Promise<void> {
  // Each response has an item with its ID, so that the items identify the stored responses.
  const items = await stored(objects.responses.findItems(new Set(kept.map(({ id }) => id))));
  assertEquals(items.map(({ id }) => id), kept.map(({ id }) => id));
  const { responses } = objects.stats();
  assertEquals(responses, { entries: kept.length, bytes: sum(kept) });
  assert(kept.length <= MAX_OBJECTS && sum(kept) <= MAX_STATE_BYTES);
  for (const { id } of kept) assert(bound.some((one) => one.id === id), "an owner for each");
  for (const { id, account } of bound.slice(-3)) {
    const found = await stored(objects.responses.find(id));
    assertEquals(found?.binding.kind, account === "" ? "conflict" : "bound");
    assertEquals(
      (found?.snapshot ?? null) !== null,
      kept.some((one) => one.id === id),
      "found by its id as long as it is kept",
    );
  }
}

/** Responses that are stored and bound by creates; each text has this number of characters. */
class Create implements fc.AsyncCommand<Model, Real> {
  constructor(readonly count: number, readonly text: string) {}

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    const { responses } = real.objects;
    for (let at = 0; at < this.count; at++) {
      const id = `resp_${++model.made}`;
      const snapshot = { resource: { id }, input: [{ id, text: this.text }] };
      const bytes = heldBytes(id) + heldBytes({ id }) + heldBytes({ id, text: "" }) +
        this.text.length;
      const fits = bytes <= MAX_STATE_BYTES;
      const response = { owner: ownerOf("one"), snapshot, isNative: false };
      const binding = await stored(responses.store(id, response, CALLER));
      assertEquals(binding?.kind, fits ? "bound" : undefined);
      if (!fits) continue;
      model.kept = fitting([...model.kept, { id, bytes, at: model.time }], MAX_STATE_BYTES);
      bind(model, id, "one");
    }
    await check(model, real);
  }

  toString = () => `create ${this.count} of ${this.text.length}`;
}

/** Responses that an upstream keeps: they have owners and nothing else. */
class BindOthers implements fc.AsyncCommand<Model, Real> {
  constructor(readonly count: number, readonly padding: string) {}

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    for (let at = 0; at < this.count; at++) {
      const id = `native_${++model.made}${this.padding}`;
      await stored(real.objects.responses.bind(id, ownerOf("one")));
      bind(model, id, "one");
    }
    await check(model, real);
  }

  toString = () => `bind ${this.count} others`;
}

/** Another account returns the id of one of the last responses. */
class Conflict implements fc.AsyncCommand<Model, Real> {
  constructor(readonly back: number) {}

  check = ({ bound }: Readonly<Model>) => bound.at(-1 - this.back)?.account === "one";

  async run(model: Model, real: Real): Promise<void> {
    const id = model.bound.at(-1 - this.back)?.id ?? "";
    await stored(real.objects.responses.bind(id, ownerOf("two")));
    const bytes = bytesOf(id) + bytesOf({ kind: "conflict", creator: null });
    const others = model.bound.filter((one) => one.id !== id);
    model.bound = [...others, { id, account: "", bytes, at: model.time }];
    model.kept = model.kept.filter((one) => one.id !== id);
    await check(model, real);
  }

  toString = () => `conflict ${this.back}`;
}

/** The client deletes one of the last responses. */
class Delete implements fc.AsyncCommand<Model, Real> {
  constructor(readonly back: number) {}

  check = ({ kept }: Readonly<Model>) => kept.length > this.back;

  async run(model: Model, real: Real): Promise<void> {
    const id = model.kept.at(-1 - this.back)?.id ?? "";
    const { responses } = real.objects;
    assertEquals(await stored(responses.unbind(id, "one", CALLER)), true);
    assertEquals(await stored(responses.unbind(id, "one", CALLER)), false);
    model.kept = model.kept.filter((one) => one.id !== id);
    model.bound = model.bound.filter((one) => one.id !== id);
    await check(model, real);
  }

  toString = () => `delete ${this.back}`;
}

class Pass implements fc.AsyncCommand<Model, Real> {
  constructor(readonly ms: number) {}

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    model.time += this.ms;
    real.clock.time += this.ms;
    model.kept = model.kept.filter(({ at }) => model.time - at < STATE_TTL_MS);
    model.bound = model.bound.filter(({ at }) => model.time - at < STATE_TTL_MS);
    await check(model, real);
  }

  toString = () => `pass ${this.ms}`;
}

function newReal(): Real {
  const clock = { time: 0 };
  return { clock, objects: newMemoryObjectStore(() => clock.time) };
}

/** Returns the text of a response with a size in MiB. */
const TEXTS = [1, 20, 63, 65].map((mib) => "x".repeat(mib * MIB));

Deno.test("stored responses are limited in age, number and bytes, and are removed with their owners", async () => {
  const small = fc.integer({ min: 1, max: 40 }).map((count) => new Create(count, "text"));
  const steps = [
    small,
    fc.integer({ min: 900, max: 1_001 }).map((count) => new Create(count, "")),
    fc.constantFrom(...TEXTS).map((text) => new Create(1, text)),
    fc.tuple(fc.integer({ min: 1, max: 999 }), fc.constantFrom("", "p".repeat(2_000)))
      .map(([count, padding]) => new BindOthers(count, padding)),
    fc.nat(3).map((back) => new Conflict(back)),
    fc.nat(3).map((back) => new Delete(back)),
    fc.integer({ min: 1, max: STATE_TTL_MS }).map((ms) => new Pass(ms)),
    fc.constantFrom(1, STATE_TTL_MS - 1, STATE_TTL_MS).map((ms) => new Pass(ms)),
  ];
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { size: "max", maxCommands: 25 }), async (run) => {
      await fc.asyncModelRun(
        () => ({ model: { time: 0, made: 0, kept: [], bound: [] }, real: newReal() }),
        run,
      );
    }),
    { numRuns: 20 },
  );
});
