import { success } from "../../src/core/failure/result.ts";
import type { PrivacyValues } from "../../src/store/privacy_values.ts";
import { storeUnavailable } from "../../src/store/store_failure.ts";
import { newMemoryValues } from "../../src/store/memory/privacy_values.ts";
import { newObjectValues, NO_VALUES } from "../../src/store/object_values.ts";
import { DEFAULT_RETENTION } from "../../src/store/retention.ts";
import { testPrivacyValues } from "./conformance/privacy_values.ts";
import { assertEquals } from "../support/assert.ts";

const one = (core: string, value = "v") => ({ core, label: "email", value });

testPrivacyValues({
  name: "memory",
  clock: "scripted",
  numRuns: 5,
  open(retention) {
    let now = 0;
    return Promise.resolve({
      store: { privacyValues: newMemoryValues(() => now, retention) },
      advance: (ms) => Promise.resolve(void (now += ms)),
      close: () => Promise.resolve(),
    });
  },
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
  const values = newObjectValues(newMemoryValues(() => 0, DEFAULT_RETENTION), stored);
  const object = { creator: "ada", id: "r" };
  await values.add(object, [one("x")]);
  assertEquals(await values.find([object]), [one("x"), one("s")]);
  isAway = true;
  await values.add(object, [one("y")]);
  assertEquals(await values.find([object]), [one("x"), one("y")]);
  assertEquals(await values.find([{ ...object, creator: "bob" }]), []);
  assertEquals(added, ["x", "y"]);
});

Deno.test("a gateway that stores nothing has no values of objects", async () => {
  const object = { creator: "ada", id: "r" };
  await NO_VALUES.add(object, [one("x")]);
  assertEquals(await NO_VALUES.find([object]), []);
});
