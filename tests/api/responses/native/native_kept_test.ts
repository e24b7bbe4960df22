import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { CLOCKED_STORES, testOverStores } from "../../../support/over_stores.ts";
import { bindingOf } from "../../../support/object_store.ts";
import {
  naming,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  responseOf,
  streamOf,
} from "../../../support/native_gateway.ts";
import { objectsAt, refusalOf } from "../../../support/state_call.ts";

/**
 * A gateway whose upstream gives the responses `resp_1`, `resp_2` and so on, each with this in it.
 */
function gateway(can: readonly string[] = [], more: JsonObject = {}): NativeGateway {
  let count = 0;
  return nativeGateway(nativeConfig({ up: { can } }), ({ json }) => {
    const id = `resp_${++count}`;
    return { body: json.stream === true ? streamOf(id, more) : responseOf(id, more) };
  });
}

function create(calls: NativeGateway, body: JsonObject = {}) {
  return calls.post("/responses", { model: "m", input: "one", ...body });
}

const GONE = [404, "response_not_found", "response_id"];

testOverStores(
  "a native response of an upstream with lifecycle has only its owner stored",
  async () => {
    for (const stream of [false, true]) {
      const calls = gateway(["responses_lifecycle"]);
      assertEquals((await create(calls, { stream })).status, 200);
      assertEquals(calls.state.objects.stats().responses.entries, 0);
      const binding = await bindingOf(calls, "response", "resp_1");
      assert(binding?.kind === "bound");
      const { provider, origin } = binding.owner;
      assertEquals(provider, "up");
      assertEquals(origin, {
        route: "main",
        model: "m",
        requestedModel: "m",
        protocol: "responses",
        hasSnapshot: false,
      });
    }
  },
);

testOverStores("an unstored native response has neither owner nor snapshot", async () => {
  for (const can of [[], ["responses_lifecycle"]]) {
    for (const stream of [false, true]) {
      const calls = gateway(can);
      const { status } = await create(calls, { stream, store: false });
      assertEquals(status, 200);
      assertEquals(calls.requests[0]?.json.store, false);
      assertEquals([
        calls.state.objects.stats().responses.entries,
        calls.state.objects.stats().response_bindings.entries,
      ], [0, 0]);
      assertEquals(refusalOf(await calls.get("/responses/resp_1")), GONE);
    }
  }
});

testOverStores(
  "without a lifecycle upstream a completed response is stored in the gateway, streamed or not",
  async () => {
    for (const stream of [false, true]) {
      const calls = gateway();
      await create(calls, { stream });
      const kept = await calls.get("/responses/resp_1");
      assertEquals([kept.status, kept.json], [200, responseOf("resp_1")]);
      const items = await calls.get("/responses/resp_1/input_items");
      assertEquals(objectsAt(items.json, "data").map(({ role }) => role), ["user"]);
      const cancelled = await calls.post("/responses/resp_1/cancel");
      assertEquals(refusalOf(cancelled), [400, "unsupported_feature", null]);
      assertEquals((await calls.delete("/responses/resp_1")).status, 204);
      assertEquals(refusalOf(await calls.get("/responses/resp_1")), GONE);
      assertEquals(calls.requests.length, 1);
    }
  },
);

testOverStores(
  "an ID that its provider reuses after 30 minutes refers to the new response",
  async () => {
    let time = 1;
    const calls = nativeGateway(nativeConfig({ up: {} }), () => ({
      body: responseOf("resp_1", { created_at: time }),
    }));
    await create(calls);
    await calls.world.advance(30 * 60_000);
    time = 2;
    await create(calls);
    assertEquals((await calls.get("/responses/resp_1")).json.created_at, 2);
  },
  CLOCKED_STORES,
);

testOverStores("nothing is stored under an ID of two accounts", async () => {
  const calls = nativeGateway(nativeConfig({ first: {}, second: {} }), () => ({
    body: responseOf("resp_1"),
  }));
  for (const provider of ["first", "second", "second"]) {
    await calls.post("/responses", { model: "m", input: "x" }, naming(provider));
  }
  assertEquals([calls.state.objects.stats().responses.entries, calls.requests.length], [0, 3]);
});

testOverStores("numbers of a stored native response keep their text", async () => {
  const calls = nativeGateway(nativeConfig({ up: {} }), () => ({
    body: JSON.stringify(responseOf("resp_1", { temperature: 77 })).replace("77", "1.0"),
  }));
  const { text } = await create(calls);
  assertEquals((await calls.get("/responses/resp_1")).text, text);
});

testOverStores(
  "a response that is not completed has its owner stored, but no snapshot",
  async () => {
    for (const status of ["incomplete", "failed", "cancelled", "in_progress", "queued"]) {
      const calls = gateway([], { status });
      assertEquals((await create(calls)).status, 200);
      assertEquals([
        calls.state.objects.stats().responses.entries,
        calls.state.objects.stats().response_bindings.entries,
      ], [0, 1]);
      const refused = await calls.get("/responses/resp_1");
      assertEquals(refusalOf(refused), [400, "unsupported_feature", "provider"]);
    }
  },
);

testOverStores(
  "a stored native response is continued by sending all items again, unchanged",
  async () => {
    const calls = gateway();
    const input = '[{"role":"user","content":"one","x":12345678901234567890}]';
    await calls.post("/responses", `{"model":"m","input":${input}}`);
    await create(calls, { input: "two", previous_response_id: "resp_1" });
    const sent = calls.requests[1]?.json ?? {};
    assertEquals([sent.previous_response_id, sent.model], [undefined, "m"]);
    const items = objectsAt(sent, "input");
    assertEquals(items.map(({ role }) => role), ["user", "assistant", "user"]);
    assert(calls.requests[1]?.body.includes('"x":12345678901234567890'));
    assertEquals(items[1], objectsAt(responseOf("resp_1"), "output")[0]);
    assertEquals((await calls.get("/responses/resp_2")).status, 200);
  },
);

testOverStores("new items after stored items keep their text", async () => {
  const calls = gateway();
  await create(calls);
  const items = [
    '{"role" : "user","content":"tw\\u006f","y":1.0}',
    '{"type":"of_tomorrow", "n":1e2}',
  ];
  const follow = `"previous_response_id":"resp_1", "input":[ ${items.join(" , ")} ]`;
  await calls.post("/responses", `{"model":"m",${follow},"z":1.0}`);
  const kept = [
    ...objectsAt((await calls.get("/responses/resp_1/input_items")).json, "data"),
    ...objectsAt(responseOf("resp_1"), "output"),
  ].map((item) => JSON.stringify(item));
  const wanted = `{"model":"m","input":[${[...kept, ...items].join(",")}],"z":1.0}`;
  assertEquals(calls.requests[1]?.body, wanted);
});

testOverStores("items without a translation are sent again to a native target", async () => {
  const output = [
    { id: "ws_1", type: "web_search_call", status: "in_progress", action: { a: [1.5] } },
    { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "theirs" },
  ];
  const calls = gateway([], { output });
  await create(calls);
  const answer = await create(calls, { input: "two", previous_response_id: "resp_1" });
  assertEquals(answer.status, 200);
  assertEquals(objectsAt(calls.requests[1]?.json ?? {}, "input").slice(1, 3), output);
});

testOverStores(
  "a native response that its upstream stores is continued by its ID alone",
  async () => {
    const calls = gateway(["responses_lifecycle"]);
    await create(calls, { stream: true });
    const text = '{"model":"m","input":"two",  "previous_response_id" : "resp_1","x":1.0}';
    assertEquals((await calls.post("/responses", text)).status, 200);
    assertEquals(calls.requests[1]?.body, text);
  },
);

testOverStores("a broken native stream is not stored", async () => {
  for (const can of [[], ["responses_lifecycle"]]) {
    const [begin = ""] = streamOf("resp_1").split(/(?<=\n\n)/);
    const calls = nativeGateway(nativeConfig({ up: { can } }), () => ({ body: begin }));
    const { text } = await create(calls, { stream: true });
    assert(text.includes("response.failed"));
    assertEquals([
      calls.state.objects.stats().responses.entries,
      calls.state.objects.stats().response_bindings.entries,
    ], [0, 0]);
  }
});
