import fc from "fast-check";
import { newAdmission } from "../../src/state/admission.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("a call gets a place while fewer than the limit have one", () => {
  const admission = newAdmission({
    max_concurrent_requests: 2,
    max_body_memory: 10,
    max_response_memory: 10,
  });
  assertEquals(["a", "b", "c"].map(admission.admit), [true, true, false]);
  admission.release("c");
  assertEquals(admission.admit("c"), false, "a call without a place frees none");
  admission.release("a");
  assertEquals([admission.admit("c"), admission.count()], [true, 2]);
});

Deno.test("body bytes are held up to the limit, and freed once with their call", () => {
  const admission = newAdmission({
    max_concurrent_requests: 9,
    max_body_memory: 10,
    max_response_memory: 10,
  });
  for (const id of ["a", "b"]) admission.admit(id);
  assertEquals([admission.hold("a", 6), admission.hold("b", 4)], [true, true]);
  assertEquals([admission.hold("a", 1), admission.bodyBytes()], [false, 10]);
  admission.release("a");
  admission.release("a");
  assertEquals(admission.bodyBytes(), 4);
  assertEquals([admission.hold("a", 1), admission.bodyBytes()], [false, 4], "a has left");
});

Deno.test("the memory of a body is freed once, when its call is released", () => {
  const admission = newAdmission({
    max_concurrent_requests: 9,
    max_body_memory: 10,
    max_response_memory: 10,
  });
  const freed: string[] = [];
  for (const id of ["a", "b"]) admission.admit(id);
  for (const id of ["a", "b", "c"]) admission.onRelease(id, () => freed.push(id));
  assertEquals(freed, []);
  for (const id of ["b", "b", "c"]) admission.release(id);
  assertEquals(freed, ["b"], "c was never admitted");
  admission.release("a");
  assertEquals(freed, ["b", "a"]);
});

Deno.test("above the limit of body memory the largest unfinished message is dropped, also for a body", () => {
  const admission = newAdmission({
    max_concurrent_requests: 9,
    max_body_memory: 10,
    max_response_memory: 10,
  });
  const dropped: string[] = [];
  const receive = (socket: string, bytes: number) =>
    admission.holdDroppable(socket, bytes, () => void dropped.push(socket));
  receive("small", 2);
  receive("large", 5);
  receive("large", 8);
  assertEquals([dropped, admission.bodyBytes()], [[], 10]);
  receive("small", 3);
  assertEquals([dropped.splice(0), admission.bodyBytes()], [["large"], 3]);
  receive("other", 4);
  admission.admit("a");
  assertEquals([admission.hold("a", 7), dropped.splice(0)], [true, ["other"]]);
  assertEquals([admission.hold("a", 4), dropped, admission.bodyBytes()], [false, [], 10]);
  receive("small", 0);
  assertEquals(admission.bodyBytes(), 7);
  receive("huge", 99);
  assertEquals([dropped, admission.bodyBytes()], [["huge"], 7], "it drops itself");
});

Deno.test("whatever calls do, the limits hold and nothing is left of calls that are over", () => {
  const id = fc.constantFrom("a", "b", "c", "d");
  const step = fc.oneof(
    fc.tuple(fc.constant("enter" as const), id),
    fc.tuple(fc.constant("leave" as const), id),
    fc.tuple(fc.constant("hold" as const), id, fc.nat({ max: 7 })),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const admission = newAdmission({
      max_concurrent_requests: 3,
      max_body_memory: 12,
      max_response_memory: 10,
    });
    const model = new Map<string, number>();
    for (const [what, id, bytes = 0] of steps) {
      const held = model.get(id);
      if (what === "leave") {
        admission.release(id);
        model.delete(id);
      } else if (what === "hold") {
        const isHeld = admission.hold(id, bytes);
        if (isHeld) model.set(id, (held ?? 0) + bytes);
        assert(!isHeld || held !== undefined);
      } else if (held === undefined && admission.admit(id)) model.set(id, 0);
      const total = model.values().reduce((sum, bytes) => sum + bytes, 0);
      assertEquals([admission.count(), admission.bodyBytes()], [model.size, total]);
      assert(model.size <= 3 && total <= 12);
    }
    for (const id of model.keys()) admission.release(id);
    assertEquals([admission.count(), admission.bodyBytes()], [0, 0]);
  }));
});
