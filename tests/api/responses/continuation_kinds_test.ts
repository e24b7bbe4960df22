import {
  type Continuation,
  isHistoryComplete,
  localConversation,
  NO_CONTINUATION,
  requiredTarget,
  storedHistory,
} from "../../../src/api/responses/state/continuation.ts";
import type { RequiredTarget } from "../../../src/call/inference.ts";
import { compile } from "../../../src/gateway/compile.ts";
import { configOf } from "../../config/parse.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { nativeConfig } from "../../support/native_gateway.ts";

const provider = compile(configOf(nativeConfig({ up: {} })), 1).providers.get("up");
assert(provider !== undefined);
const owner: RequiredTarget = {
  account: null,
  provider,
  protocol: "responses",
  origin: null,
  param: "conversation",
};
const item = { id: "i1", type: "opaque" };

/** Facts of a continuation: target, history, local conversation, and whether the history is all. */
function factsOf(continuation: Continuation): readonly unknown[] {
  return [
    requiredTarget(continuation),
    storedHistory(continuation),
    localConversation(continuation),
    isHistoryComplete(continuation),
  ];
}

Deno.test("each kind of continuation has its target, history and conversation", () => {
  assertEquals(factsOf(NO_CONTINUATION), [null, [], null, true]);
  const local = { kind: "local", history: [item], conversation: "c", owner: null } as const;
  assertEquals(factsOf(local), [null, [item], "c", true]);
  assertEquals(factsOf({ ...local, conversation: null, owner }), [owner, [item], null, true]);
  const response = { kind: "upstream_response", previousResponseId: "r", tail: [item], owner };
  assertEquals(factsOf({ ...response, kind: "upstream_response" }), [owner, [item], null, false]);
  assertEquals(factsOf({ kind: "upstream_conversation", owner }), [owner, [], null, false]);
});
