import { success } from "../../src/core/failure/result.ts";
import type { PrivacyValues } from "../../src/store/privacy_values.ts";
import { storeUnavailable } from "../../src/store/store_failure.ts";
import { newMemoryValues } from "../../src/store/memory/privacy_values.ts";
import { newObjectValues, NO_VALUES } from "../../src/store/object_values.ts";
import { DEFAULT_RETENTION } from "../../src/store/retention.ts";
import { testPrivacyValues } from "./conformance/privacy_values.ts";
import { assertEquals } from "../support/assert.ts";

const one = (core: string, value = "v") => ({ core, label: "email", value });

const values = (...cores: readonly string[]) => ({
  values: cores.map((core) => one(core)),
  isJsonText: false,
});

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
    find: () =>
      Promise.resolve(
        isAway ? storeUnavailable() : success([{ ...values("s"), isJsonText: true }]),
      ),
    add(_object, { values }) {
      added.push(...values.map(({ core }) => core));
      return Promise.resolve(isAway ? storeUnavailable() : success(undefined));
    },
  };
  const known = newObjectValues(newMemoryValues(() => 0, DEFAULT_RETENTION), stored);
  const object = { creator: "ada", id: "r" };
  await known.add(object, values("x"));
  assertEquals(await known.find([object]), [{ ...values("x", "s"), isJsonText: true }]);
  isAway = true;
  await known.add(object, values("y"));
  assertEquals(await known.find([object]), [values("x", "y")]);
  assertEquals(await known.find([{ ...object, creator: "bob" }]), [values()]);
  assertEquals(added, ["x", "y"]);
});

Deno.test("a gateway that stores nothing has no values of objects", async () => {
  const object = { creator: "ada", id: "r" };
  await NO_VALUES.add(object, values("x"));
  assertEquals(await NO_VALUES.find([object]), []);
});
