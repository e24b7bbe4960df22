import { Cancellation } from "../../src/core/cancellation.ts";
import { newAdmission } from "../../src/traffic/admission.ts";
import { newResponseMemory } from "../../src/traffic/call_memory.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

const MIB = 1024 * 1024;

/** Returns the memory of one attempt of a call, which holds what `holds` says. */
function heldBy(admission: ReturnType<typeof newAdmission>, id: string) {
  const cancellation = new Cancellation();
  const seen = { stops: 0 };
  const call = {
    id,
    cancellation,
    world: scriptedWorld(),
    state: { admission },
    report: { attempts: [] },
    metrics: { overloaded() {} },
    responseHeaders: {},
  };
  const memory = newResponseMemory(call, () => void seen.stops++);
  let bytes = 0;
  memory.measureBy(() => bytes);
  const hold = (now: number) => {
    bytes = now;
    memory.arrived(MIB);
  };
  return { cancellation, memory, hold, seen };
}

function admissionOf(max_response_memory: number) {
  return newAdmission({
    max_concurrent_requests: 100,
    max_body_memory: 64 * MIB,
    max_response_memory,
  });
}

Deno.test("what an attempt reads for its token counts after its client has left is counted, and nothing is after it", () => {
  const admission = admissionOf(16 * MIB);
  const { cancellation, memory, hold, seen } = heldBy(admission, "left");
  hold(MIB);
  cancellation.clientDisconnected();
  admission.release("left");
  hold(8 * MIB);
  assertEquals([admission.responseBytes(), seen.stops], [8 * MIB, 0]);
  memory.end(MIB);
  assertEquals(admission.responseBytes(), 0);
});

Deno.test("when response memory is full the attempt of a call whose client has left is ended, if it holds most", () => {
  const admission = admissionOf(16 * MIB);
  const left = heldBy(admission, "left"), other = heldBy(admission, "other");
  left.cancellation.clientDisconnected();
  left.hold(12 * MIB);
  other.hold(10 * MIB);
  assertEquals([left.seen.stops, other.seen.stops], [1, 0]);
  assertEquals([admission.responseBytes(), other.cancellation.isCancelled], [10 * MIB, false]);
});
