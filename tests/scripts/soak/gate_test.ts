import { newGate } from "../../../scripts/soak/gate.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("a gate that is open lets every use begin at once", async () => {
  const gate = newGate();
  await gate.enter();
  await gate.enter();
  gate.leave();
  gate.leave();
});

Deno.test("a task runs once the last running use has ended, and no use begins before its end", async () => {
  const gate = newGate();
  const order: string[] = [];
  await gate.enter();
  await gate.enter();
  const task = Promise.withResolvers<void>();
  const looked = gate.whileEmpty(() => {
    order.push("look");
    return task.promise;
  });
  const late = gate.enter().then(() => void order.push("late"));
  gate.leave();
  await Promise.resolve();
  assertEquals(order, []);
  gate.leave();
  await Promise.resolve();
  await Promise.resolve();
  assertEquals(order, ["look"]);
  task.resolve();
  await looked;
  await late;
  assertEquals(order, ["look", "late"]);
});

Deno.test("uses begin again after a task that failed, and the next task waits for them", async () => {
  const gate = newGate();
  const failed = gate.whileEmpty(() => Promise.reject(new Error("the gateway has ended")));
  assertEquals(await failed.then(() => "done", () => "failed"), "failed");
  await gate.enter();
  let isLooked = false;
  const looked = gate.whileEmpty(() => Promise.resolve(void (isLooked = true)));
  await Promise.resolve();
  assertEquals(isLooked, false);
  gate.leave();
  await looked;
  assertEquals(isLooked, true);
});
