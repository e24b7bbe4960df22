import { assert, assertEquals } from "../support/assert.ts";
import { type Breakers, newBreakers, type Permit } from "../../src/traffic/breakers.ts";

const SETTINGS = {
  enabled: true,
  failure_threshold: 3,
  window: 1_000,
  open_duration: 500,
  half_open_max_requests: 2,
};

/** Breakers with a clock that is moved by hand. */
function scripted(): { readonly all: Breakers; pass(ms: number): void } {
  let time = 0;
  return {
    all: newBreakers(() => time),
    pass(ms) {
      time += ms;
    },
  };
}

function permitOf(all: Breakers, settings = SETTINGS): Permit {
  const permit = all.admit("a", settings);
  assert("end" in permit, "refused");
  return permit;
}

function fail(all: Breakers, times: number): void {
  for (let count = 0; count < times; count++) permitOf(all).end("failure");
}

Deno.test("failures of a model between connection failures of other models neither count for the account nor reset its sum", () => {
  const { all } = scripted();
  const end = (model: string, verdict: "failure" | "unreachable") => {
    const permit = all.admit("a", SETTINGS, model);
    assert("end" in permit, "refused");
    permit.end(verdict);
  };
  for (const model of ["one", "two"]) {
    end(model, "unreachable");
    end("broken", "failure");
  }
  assertEquals(all.openFor("a", SETTINGS, "untried"), 0);
  end("three", "unreachable");
  assertEquals(all.openFor("a", SETTINGS, "untried"), 500);
});

Deno.test("a breaker opens for its duration after as many consecutive failures as its threshold", () => {
  const { all, pass } = scripted();
  fail(all, 2);
  assertEquals(all.state("a"), "closed");
  fail(all, 1);
  assertEquals(all.state("a"), "open");
  assertEquals<unknown>(all.admit("a", SETTINGS), { openFor: 500 });
  pass(499);
  assertEquals<unknown>(all.admit("a", SETTINGS), { openFor: 1 });
  assert(all.openFor("a", SETTINGS) > 0);
  pass(1);
  assertEquals(all.openFor("a", SETTINGS), 0);
  assertEquals(all.state("a"), "half-open");
});

Deno.test("a success resets the count of failures, a neutral end does not", () => {
  const { all } = scripted();
  fail(all, 2);
  permitOf(all).end("success");
  fail(all, 2);
  assertEquals(all.state("a"), "closed");
  permitOf(all).end("neutral");
  fail(all, 1);
  assertEquals(all.state("a"), "open");
});

Deno.test("failures further apart than the window do not add up", () => {
  const { all, pass } = scripted();
  fail(all, 1);
  pass(1);
  fail(all, 1);
  pass(1_000);
  fail(all, 1);
  assertEquals(all.state("a"), "closed");
  fail(all, 1);
  assertEquals(all.state("a"), "open");
});

Deno.test("a half-open breaker lets only its trials run at once, and their success closes it", () => {
  const { all, pass } = scripted();
  fail(all, 3);
  pass(500);
  const [first, second] = [permitOf(all), permitOf(all)];
  assertEquals<unknown>(all.admit("a", SETTINGS), { openFor: 1_000 });
  assert(all.openFor("a", SETTINGS) > 0);
  first.end("neutral");
  assertEquals(all.openFor("a", SETTINGS), 0);
  permitOf(all).end("success");
  assertEquals(all.state("a"), "half-open");
  second.end("success");
  assertEquals(all.state("a"), "closed");
});

Deno.test("one failed trial opens the breaker again, for its whole time", () => {
  const { all, pass } = scripted();
  fail(all, 3);
  pass(700);
  permitOf(all).end("success");
  permitOf(all).end("failure");
  assertEquals<unknown>(all.admit("a", SETTINGS), { openFor: 500 });
});

Deno.test("a stream that has begun is a success of its trial, once", () => {
  const { all, pass } = scripted();
  fail(all, 3);
  pass(500);
  const stream = permitOf(all);
  stream.committed();
  stream.committed();
  stream.end("success");
  assertEquals(all.state("a"), "half-open");
  const other = permitOf(all);
  const another = permitOf(all);
  other.committed();
  assertEquals(all.state("a"), "closed");
  another.end("neutral");
});

Deno.test("streams that begin and then break are found out", () => {
  const { all, pass } = scripted();
  fail(all, 3);
  pass(500);
  const early = permitOf(all);
  early.committed();
  early.end("failure");
  assertEquals(all.state("a"), "open");
  pass(500);
  const streams = [permitOf(all), permitOf(all)];
  for (const stream of streams) stream.committed();
  assertEquals(all.state("a"), "closed");
  for (const stream of streams) stream.end("failure");
  assertEquals(all.state("a"), "closed");
  fail(all, 1);
  assertEquals(all.state("a"), "open");
});

Deno.test("an attempt that began before the breaker opened does not count afterwards", () => {
  const { all, pass } = scripted();
  const old = [permitOf(all), permitOf(all), permitOf(all)];
  fail(all, 3);
  old[0]?.end("failure");
  pass(500);
  const trial = permitOf(all);
  old[1]?.committed();
  old[1]?.end("success");
  old[2]?.end("failure");
  assertEquals(all.state("a"), "half-open");
  trial.end("success");
  permitOf(all).end("success");
  assertEquals(all.state("a"), "closed");
});

Deno.test("a permit ends once", () => {
  const { all } = scripted();
  const permit = permitOf(all);
  for (let count = 0; count < 5; count++) permit.end("failure");
  permit.committed();
  assertEquals(all.state("a"), "closed");
});

Deno.test("breakers that are off admit everything and learn nothing", () => {
  const { all } = scripted();
  const off = { ...SETTINGS, enabled: false };
  for (let count = 0; count < 5; count++) permitOf(all, off).end("failure");
  assertEquals(all.state("a"), "closed");
  fail(all, 3);
  assertEquals(all.openFor("a", off), 0);
  permitOf(all, off).committed();
  assertEquals(all.state("a"), "open");
});

Deno.test("accounts do not touch each other", () => {
  const { all } = scripted();
  fail(all, 3);
  assertEquals(all.state("b"), "closed");
  assert("end" in all.admit("b", SETTINGS));
});

Deno.test("above ten thousand accounts the least recently used is removed", () => {
  const { all } = scripted();
  const open = { ...SETTINGS, failure_threshold: 1 };
  for (const account of ["x", "y"]) {
    const permit = all.admit(account, open);
    assert("end" in permit);
    permit.end("failure");
  }
  for (let count = 0; count < 9_998; count++) all.admit(`n${count}`, open);
  all.admit("x", open);
  all.admit("one more", open);
  assertEquals([all.state("x"), all.state("y")], ["open", "closed"]);
});
