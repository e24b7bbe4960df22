import { newKeyRests, type RestingKey } from "../../src/traffic/key_rests.ts";
import { assertEquals } from "../support/assert.ts";

const A: RestingKey = { provider: "up", name: "a", account: "account-a" };
const THROTTLED = { kind: "throttled", status: 429, code: null } as const;
const REJECTED = { kind: "rejected", status: 401, code: null } as const;

function forMs(restMs: number) {
  return { restMs, retryAfterMs: null };
}

function newRests() {
  const reported: unknown[] = [];
  let now = 0;
  const rests = newKeyRests(
    () => now,
    ({ name }, status, ms) => void reported.push([name, status, ms]),
  );
  return { rests, reported, pass: (ms: number) => void (now += ms) };
}

Deno.test("a key rests until its time has passed", () => {
  const { rests, pass } = newRests();
  assertEquals(rests.find(A.account), null);
  rests.begin(A, THROTTLED, forMs(1_000));
  pass(999);
  assertEquals(rests.find(A.account), { kind: "throttled", leftMs: 1 });
  assertEquals(rests.find("account-b"), null);
  pass(1);
  assertEquals(rests.find(A.account), null);
});

Deno.test("a rest of less than half a millisecond is over, also one of no time", () => {
  const { rests, pass } = newRests();
  rests.begin(A, THROTTLED, forMs(0));
  assertEquals(rests.find(A.account), null);
  rests.begin(A, THROTTLED, forMs(10));
  pass(9.6);
  assertEquals(rests.find(A.account), null);
});

Deno.test("the longer of two rests remains, and a rejection is remembered for it", () => {
  const { rests } = newRests();
  rests.begin(A, THROTTLED, forMs(5_000));
  rests.begin(A, THROTTLED, forMs(1_000));
  assertEquals(rests.find(A.account), { kind: "throttled", leftMs: 5_000 });
  rests.begin(A, REJECTED, forMs(1_000));
  assertEquals(rests.find(A.account), { kind: "rejected", leftMs: 5_000 });
  rests.begin(A, THROTTLED, forMs(9_000));
  assertEquals(rests.find(A.account), { kind: "rejected", leftMs: 9_000 });
});

Deno.test("a rejected key is reported once for each rest, a throttled key never", () => {
  const { rests, reported, pass } = newRests();
  rests.begin(A, THROTTLED, forMs(1_000));
  for (let n = 0; n < 3; n++) rests.begin(A, REJECTED, forMs(60_000));
  assertEquals(reported, [["a", 401, 60_000]]);
  pass(60_000);
  rests.begin(A, { kind: "rejected", status: 403, code: null }, forMs(60_000));
  assertEquals(reported.slice(1), [["a", 403, 60_000]]);
});

Deno.test("a Retry-After counts in full from the second refusal in a row, a day at most", () => {
  const { rests, pass } = newRests();
  const times = { restMs: 1_000, retryAfterMs: Infinity };
  rests.begin(A, THROTTLED, times);
  rests.begin(A, THROTTLED, times);
  assertEquals(rests.find(A.account)?.leftMs, 1_000, "refusals at the same time are one");
  pass(1_000);
  rests.begin(A, THROTTLED, times);
  assertEquals(rests.find(A.account)?.leftMs, 24 * 60 * 60 * 1_000);
  rests.served(A.account, "m");
  assertEquals(rests.find(A.account)?.leftMs, 24 * 60 * 60 * 1_000, "sent before the rest");
  pass(24 * 60 * 60 * 1_000);
  rests.served(A.account, "m");
  rests.begin(A, THROTTLED, times);
  assertEquals(rests.find(A.account)?.leftMs, 1_000);
});

Deno.test("a rest for one model is none for another", () => {
  const { rests, reported } = newRests();
  rests.begin(A, { ...REJECTED, status: 403, model: "m" }, forMs(1_000));
  assertEquals([rests.find(A.account), rests.find(A.account, "n")], [null, null]);
  assertEquals(rests.find(A.account, "m"), { kind: "rejected", leftMs: 1_000 });
  rests.begin(A, THROTTLED, forMs(500));
  assertEquals(rests.find(A.account, "m")?.leftMs, 1_000);
  assertEquals(rests.find(A.account, "n")?.leftMs, 500);
  assertEquals(reported, [["a", 403, 1_000]]);
});

Deno.test("at most 10,000 accounts rest, the latest ones", () => {
  const { rests } = newRests();
  for (let n = 0; n < 10_001; n++) rests.begin({ ...A, account: `${n}` }, THROTTLED, forMs(1_000));
  assertEquals([rests.find("0"), rests.find("1")?.kind, rests.find("10000")?.kind], [
    null,
    "throttled",
    "throttled",
  ]);
});
