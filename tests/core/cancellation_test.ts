import { Cancellation } from "../../src/core/cancellation.ts";
import { fault, refuse } from "../../src/core/failure/result.ts";
import { assert, assertEquals } from "../support/assert.ts";

const DRAINING = refuse("draining", "The gateway is shutting down.").failure;
const TIMEOUT = fault("upstream_timeout", "Too late.").failure;

Deno.test("cancel runs every task once, in order, with the first reason", () => {
  const cancellation = new Cancellation();
  const ran: unknown[] = [];
  cancellation.onCancel((reason) => ran.push(["first", reason]));
  cancellation.onCancel((reason) => ran.push(["second", reason]));
  assertEquals([cancellation.isCancelled, ran.length], [false, 0]);
  cancellation.cancel(DRAINING);
  cancellation.cancel(TIMEOUT);
  assertEquals(ran, [["first", DRAINING], ["second", DRAINING]]);
  assert(cancellation.isCancelled);
  assertEquals(cancellation.reason, DRAINING);
});

Deno.test("a task registered after the cancellation runs before onCancel returns", () => {
  const cancellation = new Cancellation();
  cancellation.cancel(TIMEOUT);
  const ran: unknown[] = [];
  const unsubscribe = cancellation.onCancel((reason) => ran.push(reason));
  assertEquals(ran, [TIMEOUT]);
  unsubscribe();
});

Deno.test("an unsubscribed task never runs, not even when another task unsubscribes it", () => {
  const cancellation = new Cancellation();
  const ran: string[] = [];
  const early = cancellation.onCancel(() => ran.push("early"));
  cancellation.onCancel(() => {
    ran.push("kept");
    late();
  });
  const late = cancellation.onCancel(() => ran.push("late"));
  early();
  early();
  cancellation.cancel(null);
  assertEquals(ran, ["kept"]);
});

Deno.test("a client that disconnects cancels with client_cancelled", () => {
  const cancellation = new Cancellation();
  assertEquals(cancellation.isClientGone, false);
  cancellation.clientDisconnected();
  assertEquals(cancellation.isClientGone, true);
  assertEquals(cancellation.reason?.kind, "client_cancelled");
});

Deno.test("a client that disconnects from a cancelled call does not change its reason", () => {
  const cancellation = new Cancellation();
  let runs = 0;
  cancellation.onCancel(() => runs++);
  cancellation.cancel(DRAINING);
  assertEquals(cancellation.isClientGone, false);
  cancellation.clientDisconnected();
  assertEquals(cancellation.isClientGone, true);
  assertEquals(cancellation.reason, DRAINING);
  assertEquals(runs, 1);
});

Deno.test("cancel(null) reports no failure", () => {
  const cancellation = new Cancellation();
  cancellation.cancel(null);
  assertEquals(cancellation.isCancelled, true);
  assertEquals(cancellation.reason, null);
});

Deno.test("signal() is one AbortSignal, aborted on cancellation and if made later", () => {
  const cancellation = new Cancellation();
  const signal = cancellation.signal();
  assert(signal === cancellation.signal());
  assertEquals(signal.aborted, false);
  cancellation.cancel(TIMEOUT);
  assertEquals(signal.aborted, true);
  const cancelled = new Cancellation();
  cancelled.cancel(null);
  assertEquals(cancelled.signal().aborted, true);
});
