import { newUnfinishedRules } from "../../../src/server/websocket/unfinished_rules.ts";
import { newAdmission } from "../../../src/traffic/admission.ts";
import { assertEquals } from "../../support/assert.ts";

const KIB = 1024;
const MIB = 1024 * 1024;

/** Rules of a socket with 30 s for a message, over this body memory. */
function rules(maxBodyMemory = 20 * MIB) {
  const clock = { time: 0 };
  const given: string[] = [];
  const admission = newAdmission({
    max_concurrent_requests: 9,
    max_body_memory: maxBodyMemory,
    max_response_memory: 1,
  });
  const world = { now: () => clock.time };
  const of = (id: string, client = "one") =>
    newUnfinishedRules(
      id,
      client,
      admission,
      world,
      30_000,
      (reason) => void given.push(`${id} ${reason}`),
    );
  return { clock, given, admission, of };
}

Deno.test("an unfinished message counts as body memory from its first byte until it is whole", () => {
  const { given, admission, of } = rules();
  const socket = of("a");
  socket.check({ bytes: 1, isMessage: false });
  assertEquals(admission.bodyBytes(), 1);
  socket.check({ bytes: 12 * MIB, isMessage: true });
  assertEquals([admission.bodyBytes(), given], [12 * MIB, []]);
  socket.end();
  assertEquals(admission.bodyBytes(), 0);
});

Deno.test("an unfinished message of more than 12 MiB is given up", () => {
  const { given, of } = rules();
  of("a").check({ bytes: 12 * MIB + 1, isMessage: true });
  assertEquals(given, ["a too_large"]);
});

Deno.test("a socket that is not known is given up", () => {
  const { given, of } = rules();
  of("a").check({ bytes: 0, isMessage: false, isUnknown: true });
  assertEquals(given, ["a unknown"]);
});

Deno.test("when body memory is full the largest unfinished message is given up first", () => {
  const { given, admission, of } = rules();
  const sockets = ["a", "b", "c"].map((id) => of(id));
  const sizes = [6, 8, 7];
  for (const [at, socket] of sockets.entries()) {
    socket.check({ bytes: (sizes[at] ?? 0) * MIB, isMessage: true });
  }
  assertEquals([given, admission.bodyBytes()], [["b no_memory"], 13 * MIB]);
});

Deno.test("above 64 MiB of all unfinished messages the largest is given up, however much body memory is free", () => {
  const { given, admission, of } = rules(1_000 * MIB);
  admission.holdDroppable("dialogue", 100 * MIB, () => given.push("dialogue"));
  const sizes = Array.from({ length: 40 }, (_, at) => at === 20 ? 12 : 8);
  for (const [at, size] of sizes.entries()) {
    of(`${at}`).check({ bytes: size * MIB, isMessage: true });
  }
  assertEquals([given.length, given.filter((one) => one.startsWith("20 "))], [32, [
    "20 no_memory",
  ]]);
  assertEquals(admission.bodyBytes(), (100 + 8 * 8) * MIB);
});

Deno.test("above 64 MiB of all unfinished messages another client's is not given up for those of one", () => {
  const { given, of } = rules(1_000 * MIB);
  of("other", "two").check({ bytes: 10 * MIB, isMessage: true });
  for (let at = 0; at < 20; at++) of(`${at}`).check({ bytes: 4 * MIB, isMessage: true });
  assertEquals([given.length, given.includes("other no_memory")], [7, false]);
});

Deno.test("an unfinished message that brings less than 32 KiB within server.body_timeout is given up, whatever pings come", () => {
  const { clock, given, of } = rules();
  const socket = of("a");
  let bytes = 10 * MIB;
  for (clock.time = 0; clock.time < 30_000; clock.time += 1_000) {
    socket.check({ bytes: bytes += 10, isMessage: true });
  }
  assertEquals(given, []);
  socket.check({ bytes, isMessage: true });
  assertEquals(given, ["a too_slow"]);
});

Deno.test("a slow message that keeps bringing 32 KiB is taken, and pings after it start no time", () => {
  const { clock, given, of } = rules();
  const socket = of("a");
  for (let count = 1; count < 100; count++, clock.time += 29_000) {
    socket.check({ bytes: count * 32 * KIB, isMessage: true });
  }
  socket.end();
  for (let count = 1; count < 100; count++, clock.time += 29_000) {
    socket.check({ bytes: count, isMessage: false });
  }
  assertEquals(given, []);
});
