import fc from "fast-check";
import { newAdmission } from "../../src/traffic/admission.ts";
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
  assertEquals(admission.refused(), 2);
});

Deno.test("the oldest body that arrives of a client with more than half of all places is ended for another one", () => {
  const admission = newAdmission({
    max_concurrent_requests: 4,
    max_body_memory: 1,
    max_response_memory: 1,
  });
  const ended: string[] = [];
  const arrives = (id: string, client: string) => {
    admission.admit(id);
    return admission.arrives(id, client, () => void ended.push(id));
  };
  const arrived = arrives("a1", "a");
  for (const id of ["a2", "a3"]) arrives(id, "a");
  arrives("b1", "b");
  assertEquals(admission.endArriving("a"), false, "its own client ends none");
  arrived();
  assertEquals(admission.endArriving("c"), false, "two are no more than half");
  admission.release("a1");
  arrives("a4", "a");
  assertEquals([admission.admit("c"), admission.endArriving("c")], [false, true]);
  assertEquals([ended, admission.count(), admission.admit("c")], [["a2"], 3, true]);
});

Deno.test("body bytes are held up to the limit, and freed once with their call", () => {
  const admission = newAdmission({
    max_concurrent_requests: 9,
    max_body_memory: 10,
    max_response_memory: 10,
  });
  for (const id of ["a", "b"]) admission.admit(id);
  assertEquals([admission.hold("a", 6), admission.hold("b", 4)], [null, null]);
  assertEquals([admission.hold("a", 1), admission.bodyBytes()], ["body_memory", 10]);
  assertEquals(["a", "b", "c"].map(admission.bodyBytesOf), [6, 4, 0]);
  admission.release("a");
  admission.release("a");
  assertEquals(admission.bodyBytes(), 4);
  assertEquals([admission.hold("a", 1), admission.bodyBytes()], ["body_memory", 4], "a has left");
});

Deno.test("while the heap is full no body is held that brings their sum above a 16th of the body memory", () => {
  let isFull = true;
  const limits = { max_concurrent_requests: 9, max_body_memory: 160, max_response_memory: 10 };
  const admission = newAdmission(limits, () => isFull);
  admission.admit("a");
  assertEquals(admission.hold("a", 10), null);
  assertEquals([admission.hold("a", 1), admission.bodyBytes()], ["heap", 10]);
  isFull = false;
  assertEquals([admission.hold("a", 1), admission.bodyBytes()], [null, 11]);
});

Deno.test("while the heap is full what sockets hold is dropped before a small body is refused", () => {
  let isFull = false;
  const limits = { max_concurrent_requests: 9, max_body_memory: 160, max_response_memory: 10 };
  const admission = newAdmission(limits, () => isFull);
  admission.admit("a");
  const dropped: string[] = [];
  for (const [holder, bytes] of [["s", 60], ["t", 4]] as const) {
    admission.holdDroppable(holder, bytes, () => dropped.push(holder));
  }
  isFull = true;
  assertEquals([admission.hold("a", 11), dropped], ["heap", []], "more than they may have");
  assertEquals([admission.hold("a", 6), dropped, admission.bodyBytes()], [null, ["s"], 10]);
  admission.holdDroppable("s", 60, () => dropped.push("s"));
  assertEquals([admission.isHeapFull(), dropped, admission.bodyBytes()], [false, ["s", "s"], 10]);
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

Deno.test("a call whose body is freed keeps its place", () => {
  const admission = newAdmission({
    max_concurrent_requests: 9,
    max_body_memory: 10,
    max_response_memory: 10,
  });
  let freed = 0;
  admission.admit("a");
  admission.onRelease("a", () => freed++);
  admission.hold("a", 9);
  admission.freeBody("a");
  assertEquals([freed, admission.bodyBytes(), admission.count()], [1, 0, 1]);
  admission.hold("a", 3);
  admission.release("a");
  assertEquals([freed, admission.bodyBytes(), admission.count()], [1, 0, 0]);
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
  assertEquals([admission.hold("a", 7), dropped.splice(0)], [null, ["other"]]);
  assertEquals([admission.hold("a", 4), dropped, admission.bodyBytes()], ["body_memory", [], 10]);
  receive("small", 0);
  assertEquals(admission.bodyBytes(), 7);
  receive("huge", 99);
  assertEquals([dropped, admission.bodyBytes()], [["huge"], 7], "it drops itself");
});

const MIB = 1024 * 1024;

/** Response memory of 10 MiB for 10 calls, with what has been dropped. */
function growing() {
  const admission = newAdmission({
    max_concurrent_requests: 10,
    max_body_memory: 10,
    max_response_memory: 10 * MIB,
  });
  const dropped: string[] = [];
  return {
    admission,
    dropped,
    grow: (call: string, bytes: number) =>
      admission.holdGrowing(call, bytes, () => void dropped.push(call)),
  };
}

Deno.test("above the limit of response memory the largest growing response is dropped, whichever has grown", () => {
  const { admission, dropped, grow } = growing();
  grow("large", 5 * MIB);
  grow("medium", 4 * MIB);
  grow("small", MIB);
  assertEquals([dropped, admission.responseBytes()], [[], 10 * MIB]);
  grow("small", MIB + 1);
  assertEquals([dropped.splice(0), admission.responseBytes()], [["large"], 5 * MIB + 1]);
  admission.holdResponse("arrived", 5 * MIB);
  assertEquals([dropped.splice(0), admission.responseBytes()], [["medium"], 6 * MIB + 1]);
  grow("other", 5 * MIB);
  assertEquals([dropped.splice(0), admission.responseBytes()], [["other"], 6 * MIB + 1]);
  for (const call of ["large", "medium", "small", "arrived", "other"]) admission.release(call);
  assertEquals([dropped, admission.responseBytes()], [[], 0]);
});

Deno.test("a growing response is not dropped below the equal part of a call, so that the sum is twice the limit at most", () => {
  const { admission, dropped, grow } = growing();
  admission.holdResponse("arrived", 10 * MIB);
  for (let call = 0; call < 9; call++) grow(String(call), MIB);
  assertEquals([dropped, admission.responseBytes()], [[], 19 * MIB]);
  assert(admission.isResponseMemoryFull());
  grow("3", MIB + 1);
  assertEquals([dropped, admission.responseBytes()], [["3"], 18 * MIB]);
});

Deno.test("one growing response alone may exceed the limit, up to 128 MiB", () => {
  const { admission, dropped, grow } = growing();
  admission.holdResponse("other", 5 * MIB);
  grow("large", 128 * MIB);
  assertEquals([dropped, admission.responseBytes()], [[], 133 * MIB]);
  grow("large", 128 * MIB + 1);
  assertEquals([dropped.splice(0), admission.responseBytes()], [["large"], 5 * MIB]);
  admission.holdResponse("other", 5 * MIB + 1);
  grow("large", 6 * MIB);
  assertEquals([dropped, admission.responseBytes()], [["large"], 5 * MIB + 1]);
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
        const isHeld = admission.hold(id, bytes) === null;
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
