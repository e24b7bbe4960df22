import { type Binding, type Owner, SEVERAL_CALLERS } from "../../../src/state/bindings.ts";
import { type MemoryBindings, newMemoryBindings } from "../../../src/state/memory/owners.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const MINUTE_MS = 60_000;

/** A caller that sees the objects of all others. */
const SHARING = { name: null, isIsolated: false };

const CONFLICT: Binding = { kind: "conflict", creator: null };

interface Fixture {
  time: number;
  readonly bindings: MemoryBindings;
  readonly lost: string[];
}

function fixture(): Fixture {
  const lost: string[] = [];
  const it: Fixture = {
    time: 0,
    lost,
    bindings: newMemoryBindings(() => it.time, (id) => void lost.push(id)),
  };
  return it;
}

function owner(account: string): Owner {
  return { provider: `provider-${account}`, account, origin: null, creator: null };
}

function bound(account: string): Binding {
  return { kind: "bound", owner: owner(account) };
}

Deno.test("the first account that returns an id owns it", () => {
  const { bindings } = fixture();
  assertEquals(bindings.get("x"), null);
  assertEquals(bindings.bind("x", owner("a")), bound("a"));
  assertEquals(bindings.get("x"), bound("a"));
});

Deno.test("an id that two accounts return is a conflict, and the object stored under it is lost", () => {
  const { bindings, lost } = fixture();
  bindings.bind("x", owner("a"));
  assertEquals(bindings.bind("x", owner("b")), CONFLICT);
  assertEquals(lost, ["x"]);
  assertEquals(bindings.bind("x", owner("a")), CONFLICT);
});

Deno.test("a delete removes the binding of its account and never a conflict", () => {
  const { bindings } = fixture();
  bindings.bind("x", owner("a"));
  assertEquals(bindings.unbind("x", "b", SHARING), false);
  assertEquals(bindings.get("x"), bound("a"));
  assertEquals(bindings.unbind("x", "a", SHARING), true);
  assertEquals(bindings.get("x"), null);
  bindings.bind("x", owner("a"));
  bindings.bind("x", owner("b"));
  assertEquals(bindings.unbind("x", "a", SHARING), false);
  assertEquals(bindings.get("x"), CONFLICT);
});

Deno.test("a binding lasts 30 minutes from its creation, however often the id is seen", () => {
  const it = fixture();
  it.bindings.bind("x", owner("a"));
  it.time = 20 * MINUTE_MS;
  it.bindings.bind("x", owner("a"));
  it.time = 30 * MINUTE_MS - 1;
  assertEquals(it.bindings.get("x"), bound("a"));
  it.time = 30 * MINUTE_MS;
  assertEquals(it.bindings.get("x"), null);
  assertEquals(it.lost, ["x"]);
});

Deno.test("a conflict lasts 30 minutes from its discovery; then the id is free", () => {
  const it = fixture();
  it.bindings.bind("x", owner("a"));
  it.time = 20 * MINUTE_MS;
  it.bindings.bind("x", owner("b"));
  it.time = 50 * MINUTE_MS - 1;
  assertEquals(it.bindings.get("x"), CONFLICT);
  it.time = 50 * MINUTE_MS;
  assertEquals(it.bindings.get("x"), null);
  assertEquals(it.bindings.bind("x", owner("b")), bound("b"));
});

Deno.test("there are at most 1000 bindings; the oldest makes room and is lost", () => {
  const { bindings, lost } = fixture();
  for (let index = 0; index <= 1000; index++) bindings.bind(`id-${index}`, owner("a"));
  assertEquals(bindings.stats().entries, 1000);
  assertEquals(lost, ["id-0"]);
  assertEquals(bindings.get("id-1"), bound("a"));
});

Deno.test("the bindings of one type take at most 1 MiB", () => {
  const { bindings, lost } = fixture();
  const long = "x".repeat(100_000);
  for (let index = 0; index < 20; index++) bindings.bind(`${long}${index}`, owner("a"));
  assert(bindings.stats().bytes <= 1024 * 1024);
  assertEquals([bindings.stats().entries, lost.length], [10, 10]);
  bindings.bind("y".repeat(2 * 1024 * 1024), owner("a"));
  assertEquals([bindings.stats().entries, lost.length], [10, 11]);
});

function boundTo(creator: Owner["creator"], account = "a"): Owner {
  return { ...owner(account), creator };
}

Deno.test("an id belongs to the caller that has got it, and to none when several have", () => {
  const { bindings, lost } = fixture();
  bindings.bind("x", boundTo("key ada"));
  assertEquals(bindings.bind("x", boundTo("key ada")), {
    kind: "bound",
    owner: boundTo("key ada"),
  });
  const shared: Binding = { kind: "bound", owner: boundTo(SEVERAL_CALLERS) };
  assertEquals(bindings.bind("x", boundTo("key bob")), shared);
  assertEquals(bindings.bind("x", boundTo("key ada")), shared);
  assertEquals(bindings.bind("x", boundTo(null)), shared);
  assertEquals(lost, []);
});

Deno.test("a conflict belongs to a caller while no other has got the id", () => {
  const { bindings } = fixture();
  bindings.bind("x", boundTo("key ada"));
  const own: Binding = { kind: "conflict", creator: "key ada" };
  assertEquals(bindings.bind("x", boundTo("key ada", "b")), own);
  assertEquals(bindings.bind("x", boundTo("key ada")), own);
  const shared: Binding = { kind: "conflict", creator: SEVERAL_CALLERS };
  assertEquals(bindings.bind("x", boundTo("key bob")), shared);
  assertEquals(bindings.bind("x", boundTo("key ada")), shared);
  bindings.bind("y", boundTo("key ada"));
  assertEquals(bindings.bind("y", boundTo("key bob", "b")), shared);
});

Deno.test("an isolated caller unbinds only what it has created itself", () => {
  const { bindings } = fixture();
  bindings.bind("x", boundTo("key ada"));
  assertEquals(bindings.unbind("x", "a", { name: "key bob", isIsolated: true }), false);
  assertEquals(bindings.unbind("x", "a", { name: "key ada", isIsolated: true }), true);
  bindings.bind("x", boundTo("key ada"));
  assertEquals(bindings.unbind("x", "a", { name: "key bob", isIsolated: false }), true);
});
