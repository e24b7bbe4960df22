import { success } from "../../src/core/failure/result.ts";
import type { PrivacyValues } from "../../src/store/privacy_values.ts";
import { storeUnavailable } from "../../src/store/store_failure.ts";
import { newObjectValues, newValueMemory, NO_VALUES } from "../../src/store/value_memory.ts";
import { assertEquals } from "../support/assert.ts";

const MINUTE_MS = 60_000;

const one = (core: string, value = "v") => ({ core, label: "email", value });

Deno.test("an object has its values until a time after their last use", () => {
  let now = 0;
  const memory = newValueMemory(() => now);
  memory.add("a", [one("x")], MINUTE_MS);
  now = MINUTE_MS - 1;
  assertEquals([...memory.find("a", MINUTE_MS)], [one("x")]);
  now = 2 * MINUTE_MS - 2;
  assertEquals([...memory.find("a", MINUTE_MS)], [one("x")]);
  now += MINUTE_MS;
  assertEquals([...memory.find("a", MINUTE_MS)], []);
  assertEquals([...memory.find("b", MINUTE_MS)], []);
});

Deno.test("values are added to those that an object has", () => {
  const memory = newValueMemory(() => 0);
  memory.add("a", [one("x")], MINUTE_MS);
  memory.add("a", [one("x"), one("y")], MINUTE_MS);
  assertEquals([...memory.find("a", MINUTE_MS)], [one("x"), one("y")]);
});

Deno.test("an object has at most 64 KiB of values, and all have at most 8 MiB: the oldest are dropped", () => {
  const memory = newValueMemory(() => 0);
  const large = "v".repeat(20_000);
  memory.add("a", [one("x", large), one("y", large), one("z")], MINUTE_MS);
  assertEquals([...memory.find("a", MINUTE_MS)].map(({ core }) => core), ["x", "z"]);
  for (let at = 0; at < 250; at++) {
    memory.add(String(at), [one("x", large)], MINUTE_MS);
    memory.find("a", MINUTE_MS);
  }
  const found = (key: string) => [...memory.find(key, MINUTE_MS)].length;
  assertEquals([found("a"), found("0"), found("249")], [2, 0, 1]);
});

Deno.test("values of the process and of the store are found together, and those of the process during an outage", async () => {
  let isAway = false;
  const added: string[] = [];
  const stored: PrivacyValues = {
    find: () => Promise.resolve(isAway ? storeUnavailable() : success([one("s")])),
    add(_object, values) {
      added.push(...values.map(({ core }) => core));
      return Promise.resolve(isAway ? storeUnavailable() : success(undefined));
    },
  };
  const values = newObjectValues(newValueMemory(() => 0), stored);
  const object = { creator: "ada", id: "r" };
  await values.add(object, [one("x")], MINUTE_MS);
  assertEquals(await values.find([object], MINUTE_MS), [one("x"), one("s")]);
  isAway = true;
  await values.add(object, [one("y")], MINUTE_MS);
  assertEquals(await values.find([object], MINUTE_MS), [one("x"), one("y")]);
  assertEquals(await values.find([{ ...object, creator: "bob" }], MINUTE_MS), []);
  assertEquals(added, ["x", "y"]);
});

Deno.test("a gateway that stores nothing has no values of objects", async () => {
  const object = { creator: "ada", id: "r" };
  await NO_VALUES.add(object, [one("x")], MINUTE_MS);
  assertEquals(await NO_VALUES.find([object], MINUTE_MS), []);
});
