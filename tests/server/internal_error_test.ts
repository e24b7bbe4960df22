import { heldGateway } from "../attempts/held_calls.ts";
import { runCandidates } from "../../src/attempts/attempt.ts";
import { success } from "../../src/core/failure/result.ts";
import { newCall } from "../../src/server/new_call.ts";
import { internalError } from "../../src/server/internal_error.ts";
import { endpointAt } from "../observe/reports.ts";
import { newPayload } from "../../src/wires/payload.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { targetAt } from "../support/translated.ts";

Deno.test("a bug behind a stream that was opened ends the upstream call and gives its slot back", async () => {
  const held = heldGateway({ a: "max_concurrent: 1" });
  const { gateway, world, counts } = held;
  const path = "/v1/chat/completions";
  const request = new Request(`http://localhost${path}`);
  const call = newCall(gateway, request, path, endpointAt(path));
  const provider = gateway.generation.providers.get("a");
  assert(provider !== undefined);
  const trying = runCandidates(call, [{
    target: targetAt(provider),
    request: { method: "POST", path: "/chat/completions", payload: newPayload(() => "{}") },
    hasSideEffects: false,
    responseHandler: () => ({
      kind: "stream",
      translation: {
        push: (record) => success([record]),
        end: () => success([]),
        done: () => false,
        fail: () => [],
        outcome: () => null,
        usage: () => null,
      },
    }),
    onComplete: () => null,
  }]);
  await world.advance(0);
  const [upstream] = held.sent;
  upstream?.answer(200, "data: 1\n\n");
  assert((await trying).ok);
  assertEquals([await counts("a"), upstream?.signal?.aborted], [[1, 0], false]);
  assertEquals(internalError(call, new Error("thrown")).failure.kind, "internal_error");
  assertEquals([await counts("a"), upstream?.signal?.aborted], [[0, 0], true]);
  assertEquals(call.cancellation.isClientGone, false, "the client is still there for its answer");
});
