import { messageOf } from "../../src/core/openai_error.ts";
import type { Failed, Result } from "../../src/core/result.ts";
import { type ObjectStore, ownerStore } from "../../src/state/object_store.ts";
import { newGatewayState } from "../../src/state/gateway_state.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

const OWNER = { provider: "up", account: "a", origin: null, creator: null };
const CALLER = { name: null, isIsolated: false };
const SNAPSHOT = { resource: { id: "resp_1" }, input: [] };
const TYPES = ["response", "chat_completion", "conversation", "relayed_object"] as const;

/** The objects of a gateway that stores nothing. */
function noObjects(): ObjectStore {
  const limits = {
    ttl: 1_000,
    max_size: 1,
    max_entry_bytes: 1,
    max_bytes: 1,
    per_key: false,
    shared: false,
  };
  const server = { max_concurrent_requests: 1, max_body_memory: 1, max_response_memory: 1 };
  const settings = { caching: { enabled: false, ...limits }, server, retention: null };
  return newGatewayState(scriptedWorld(), settings).objects;
}

function failureOf(result: Result<unknown>): Failed["failure"] {
  assert(!result.ok);
  return result.failure;
}

Deno.test("every operation on an object is refused with state_disabled, which names state.store", async () => {
  const objects = noObjects();
  const { responses, conversations } = objects;
  const conversation = { id: "conv_1", creator: null, createdAt: 1, metadata: {}, items: [] };
  const results: Result<unknown>[] = [
    await responses.find("resp_1"),
    await responses.store("resp_1", { owner: OWNER, snapshot: SNAPSHOT, isNative: false }, CALLER),
    await responses.findItems(new Set(["msg_1"])),
    await conversations.create(conversation),
    await conversations.find("conv_1"),
    await conversations.setMetadata("conv_1", {}),
    await conversations.append("conv_1", []),
    await conversations.removeItem("conv_1", "msg_1"),
    await conversations.delete("conv_1"),
    await conversations.findItems(new Set(["msg_1"])),
  ];
  for (const type of TYPES) {
    const owners = ownerStore(objects, type);
    results.push(
      await owners.findBinding("x"),
      await owners.findBindings(["x"]),
      await owners.bind("x", OWNER),
      await owners.unbind("x", "a", CALLER),
    );
  }
  for (const result of results) {
    const failure = failureOf(result);
    assertEquals(failure.kind, "state_disabled");
    assertStringIncludes(messageOf(failure), "state.store");
  }
});

Deno.test("reasoning is never stored and never found, without a failure", async () => {
  const { reasoning } = noObjects();
  const key = { creator: "ada", calls: "c", text: null };
  assertEquals(await reasoning.store(key, { account: "a", blocks: [] }), {
    ok: true,
    value: false,
  });
  assertEquals(await reasoning.find([key, key]), { ok: true, value: [null, null] });
});

Deno.test("a store that stores nothing says so, and has no entries and no bytes", () => {
  const objects = noObjects();
  assertEquals(objects.storesNothing, true);
  for (const size of Object.values(objects.stats())) {
    assertEquals(size, { entries: 0, bytes: 0 });
  }
});
