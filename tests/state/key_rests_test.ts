import { newKeyRests, type RestingKey } from "../../src/state/key_rests.ts";
import { assertEquals } from "../support/assert.ts";

const A: RestingKey = { provider: "up", name: "a", account: "account-a" };
const THROTTLED = { kind: "throttled", status: 429 } as const;
const REJECTED = { kind: "rejected", status: 401 } as const;

function newRests() {
  const told: unknown[] = [];
  let now = 0;
  const rests = newKeyRests(
    () => now,
    ({ name }, status, ms) => void told.push([name, status, ms]),
  );
  return { rests, told, pass: (ms: number) => void (now += ms) };
}

Deno.test("a key rests until its time has passed", () => {
  const { rests, pass } = newRests();
  assertEquals(rests.find(A.account), null);
  rests.begin(A, THROTTLED, 1_000);
  pass(999);
  assertEquals(rests.find(A.account), { kind: "throttled", leftMs: 1 });
  assertEquals(rests.find("account-b"), null);
  pass(1);
  assertEquals(rests.find(A.account), null);
});

Deno.test("a rest of less than half a millisecond is over, also one of no time", () => {
  const { rests, pass } = newRests();
  rests.begin(A, THROTTLED, 0);
  assertEquals(rests.find(A.account), null);
  rests.begin(A, THROTTLED, 10);
  pass(9.6);
  assertEquals(rests.find(A.account), null);
});

Deno.test("the longer of two rests remains, and a rejection is remembered for it", () => {
  const { rests } = newRests();
  rests.begin(A, THROTTLED, 5_000);
  rests.begin(A, THROTTLED, 1_000);
  assertEquals(rests.find(A.account), { kind: "throttled", leftMs: 5_000 });
  rests.begin(A, REJECTED, 1_000);
  assertEquals(rests.find(A.account), { kind: "rejected", leftMs: 5_000 });
  rests.begin(A, THROTTLED, 9_000);
  assertEquals(rests.find(A.account), { kind: "rejected", leftMs: 9_000 });
});

Deno.test("a rejected key is reported once for each rest, a throttled key never", () => {
  const { rests, told, pass } = newRests();
  rests.begin(A, THROTTLED, 1_000);
  for (let n = 0; n < 3; n++) rests.begin(A, REJECTED, 60_000);
  assertEquals(told, [["a", 401, 60_000]]);
  pass(60_000);
  rests.begin(A, { kind: "rejected", status: 403 }, 60_000);
  assertEquals(told.slice(1), [["a", 403, 60_000]]);
});

Deno.test("a rest lasts a day at most", () => {
  const { rests } = newRests();
  rests.begin(A, THROTTLED, Infinity);
  assertEquals(rests.find(A.account)?.leftMs, 24 * 60 * 60 * 1_000);
});

Deno.test("at most 10,000 accounts rest, the latest ones", () => {
  const { rests } = newRests();
  for (let n = 0; n < 10_001; n++) rests.begin({ ...A, account: `${n}` }, THROTTLED, 1_000);
  assertEquals([rests.find("0"), rests.find("1")?.kind, rests.find("10000")?.kind], [
    null,
    "throttled",
    "throttled",
  ]);
});
