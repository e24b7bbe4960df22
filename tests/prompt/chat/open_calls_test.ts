import fc from "fast-check";
import { newOpenCalls } from "../../../src/prompt/chat/open_calls.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("a result belongs to the latest open call of its function", () => {
  const step = fc.record({
    isCall: fc.boolean(),
    name: fc.constantFrom("a", "b", null, undefined),
  });
  fc.assert(fc.property(fc.array(step), (steps) => {
    const calls = newOpenCalls<string>();
    const expected: { readonly name: string | null | undefined; readonly id: string }[] = [];
    for (const [at, { isCall, name }] of steps.entries()) {
      const id = `call_${at}`;
      if (isCall) {
        calls.add(name, id);
        expected.push({ name, id });
        continue;
      }
      const latest = expected.findLastIndex((call) => call.name === name);
      const [taken = null] = latest < 0 ? [] : expected.splice(latest, 1);
      assertEquals(calls.take(name), taken?.id ?? null);
    }
  }));
});
