import { assert, assertEquals, assertMatch } from "../../../support/assert.ts";
import { testOverStores } from "../../../support/over_stores.ts";
import {
  type Account,
  naming,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  responseOf,
  streamOf,
} from "../../../support/native_gateway.ts";
import { objectsAt, refusalOf, textAt } from "../../../support/state_call.ts";

const ABLE: Account = { can: ["conversations", "responses_lifecycle"] };

/** A gateway whose upstreams make `conv_1` and then `resp_1`, `resp_2` and so on. */
function gateway(accounts: Readonly<Record<string, Account>>): NativeGateway {
  let count = 0;
  return nativeGateway(nativeConfig(accounts), ({ path, json }) => {
    if (path === "/conversations") return { body: { id: "conv_1", object: "conversation" } };
    const id = `resp_${++count}`;
    return { body: json.stream === true ? streamOf(id) : responseOf(id) };
  });
}

/** The id of a new local conversation with one item. */
async function local(calls: NativeGateway): Promise<string> {
  const items = '{"items":[{"role":"user","content":"zero","x":12345678901234567890}]}';
  const { status, json } = await calls.post("/conversations", items);
  assertEquals(status, 200);
  return textAt(json, "id");
}

testOverStores("a native conversation goes to its owner unchanged, stored or not", async () => {
  const calls = gateway({ first: ABLE, second: ABLE });
  await calls.post("/conversations", {}, naming("second"));
  for (const conversation of ['"conv_1"', '{ "id":"conv_1"}']) {
    for (const more of ["", ',"store":false', ',"stream":true', ',"stream":true,"store":false']) {
      const text = `{"model":"m", "input":"x","conversation":${conversation}${more}}`;
      const answer = await calls.post("/responses", text);
      assertEquals([answer.status, calls.requests.at(-1)?.body], [200, text]);
      assertEquals(calls.lastRequest(), "second POST /responses");
      assert(!answer.text.includes("conv_"), "nothing is put into the answer");
    }
  }
  assertEquals(calls.state.objects.stats().conversations.entries, 0);
  assertEquals(calls.state.objects.stats().response_bindings.entries, 4);
});

testOverStores("a conversation with two IDs is refused", async () => {
  const calls = gateway({ first: ABLE, second: { can: ["response_input_tokens"] } });
  await calls.post("/conversations", {});
  const body = '{"model":"m","input":"x","conversation":{"id":"conv_2","\\u0069d":"conv_1"}}';
  for (const path of ["/responses", "/responses/input_tokens"]) {
    assertEquals(refusalOf(await calls.post(path, body)), [400, "invalid_json", null]);
  }
  assertEquals(calls.requests.length, 1);
});

testOverStores(
  "a turn of a native conversation that may have been processed is not retried, stored or not",
  async () => {
    for (const store of [true, false]) {
      const calls = nativeGateway(
        nativeConfig({ first: ABLE }),
        ({ path }) =>
          path === "/conversations"
            ? { body: { id: "conv_1", object: "conversation" } }
            : { status: 500, body: "" },
      );
      await calls.post("/conversations", {});
      const sent = calls.post("/responses", {
        model: "m",
        input: "x",
        conversation: "conv_1",
        store,
      });
      await calls.world.advance(1000);
      assertEquals([(await sent).status, calls.requests.length], [500, 2]);
    }
  },
);

testOverStores("a native conversation never falls back", async () => {
  const config = nativeConfig({ first: ABLE, second: ABLE });
  const calls = nativeGateway(
    config,
    ({ path }) =>
      path === "/conversations"
        ? { body: { id: "conv_1", object: "conversation" } }
        : { status: 503, body: "" },
  );
  await calls.post("/conversations", {}, naming("first"));
  const headers = { "x-gateway-no-retry": "true" };
  const body = { model: "m", input: "x", conversation: "conv_1" };
  assertEquals((await calls.post("/responses", body, headers)).status, 503);
  assertEquals(calls.requests.map(({ host }) => host), ["first", "first"]);
});

testOverStores(
  "a native conversation that is stale, in conflict or of another provider is refused without a request",
  async () => {
    const accounts = { first: ABLE, second: ABLE };
    const calls = gateway(accounts);
    await calls.post("/conversations", {}, naming("first"));
    const body = { model: "m", input: "x", conversation: "conv_1" };
    const other = await calls.post("/responses", body, naming("second"));
    assertEquals(refusalOf(other), [400, "invalid_value", "provider"]);
    calls.reload(nativeConfig({ ...accounts, first: { ...ABLE, key: "sk-new" } }));
    const stale = await calls.post("/responses", body);
    assertEquals(refusalOf(stale), [400, "provider_binding_stale", "conversation"]);
    calls.reload(nativeConfig({ ...accounts, first: {} }));
    const incapable = await calls.post("/responses", body);
    assertEquals(refusalOf(incapable), [400, "unsupported_feature", "provider"]);
    calls.reload(nativeConfig(accounts));
    await calls.post("/conversations", {}, naming("second"));
    const conflict = await calls.post("/responses", body);
    assertEquals(refusalOf(conflict), [400, "provider_binding_conflict", "conversation"]);
    assertEquals(calls.requests.length, 2);
    assertEquals((await calls.post("/responses", body, naming("second"))).status, 200);
    assertEquals(calls.lastRequest(), "second POST /responses");
  },
);

testOverStores(
  "the refusal names the conversation if its owner has no native target in the route",
  async () => {
    const accounts = { first: ABLE, second: ABLE };
    const calls = gateway(accounts);
    await calls.post("/conversations", {}, naming("first"));
    const body = { model: "m", input: "x", conversation: { id: "conv_1" } };
    const none = nativeConfig(accounts);
    const chat = none.replaceAll(", upstream_request_type: responses", "");
    const elsewhere = none.replaceAll("{provider: first,", "{provider: second,");
    for (
      const [config, says] of [[chat, /upstream_request_type/], [
        elsewhere,
        /no target at/,
      ]] as const
    ) {
      calls.reload(config);
      const refused = await calls.post("/responses", body);
      assertEquals(refusalOf(refused), [400, "unsupported_feature", "conversation"]);
      assertMatch(String(refused.error.message), says);
    }
    const named = await calls.post("/responses", body, naming("first"));
    assertEquals(refusalOf(named), [400, "provider_not_found", "provider"]);
    assertEquals(calls.requests.length, 1);
  },
);

testOverStores(
  "an unknown conversation is refused, but sent to a capable provider that the client names",
  async () => {
    const calls = gateway({ first: ABLE, second: {} });
    const body = { model: "m", input: "x", conversation: "conv_x" };
    const unknown = [404, "conversation_not_found", "conversation"];
    assertEquals(refusalOf(await calls.post("/responses", body)), unknown);
    assertEquals(refusalOf(await calls.post("/responses", body, naming("second"))), unknown);
    assertEquals(calls.requests.length, 0);
    assertEquals((await calls.post("/responses", body, naming("first"))).status, 200);
    assertEquals(calls.requests[0]?.json.conversation, "conv_x");
  },
);

for (const stream of [false, true]) {
  const how = stream ? "stream" : "whole answer";

  testOverStores(
    `a local conversation is sent as input and returned in a native ${how}`,
    async () => {
      const calls = gateway({ up: {} });
      const id = await local(calls);
      const text = `{"model":"m","input":"one", "conversation":"${id}","stream":${stream}}`;
      const answer = await calls.post("/responses", text);
      const wanted = stream
        ? streamOf("resp_1").replaceAll(
          '"response":{',
          `"response":{"conversation":{"id":"${id}"},`,
        )
        : JSON.stringify(responseOf("resp_1")).replace("{", `{"conversation":{"id":"${id}"},`);
      assertEquals([answer.status, answer.text], [200, wanted]);
      const [sent] = calls.requests;
      assertEquals([sent?.json.conversation, sent?.json.model], [undefined, "m"]);
      const contents = objectsAt(sent?.json ?? {}, "input").map(({ content }) => content);
      const part = (words: string) => [{ type: "input_text", text: words }];
      assertEquals<unknown>(contents, [part("zero"), part("one")]);
      assert(sent?.body.includes('"x":12345678901234567890'));
    },
  );

  testOverStores(
    `a local conversation gets input and output of a native ${how}, stored or not`,
    async () => {
      for (const store of [true, false]) {
        const calls = gateway({ up: {} });
        const id = await local(calls);
        const body = { model: "m", input: "one", conversation: { id }, stream, store };
        await calls.post("/responses", body);
        const items = objectsAt(
          (await calls.get(`/conversations/${id}/items?order=asc`)).json,
          "data",
        );
        assertEquals(items.map(({ role }) => role), ["user", "user", "assistant"]);
        assertEquals(items[2], objectsAt(responseOf("resp_1"), "output")[0]);
        await calls.post("/responses", { ...body, input: "two" });
        assertEquals(objectsAt(calls.requests[1]?.json ?? {}, "input").length, 4);
        assertEquals(calls.state.objects.stats().responses.entries, store ? 2 : 0);
      }
    },
  );
}

Deno.test(
  "a local conversation gets no items from a native response that is not completed",
  async () => {
    for (const status of ["incomplete", "failed", "cancelled"]) {
      for (const stream of [false, true]) {
        const calls = nativeGateway(nativeConfig({ up: {} }), () => ({
          body: stream ? streamOf("resp_1", { status }) : responseOf("resp_1", { status }),
        }));
        const id = await local(calls);
        await calls.post("/responses", { model: "m", input: "one", conversation: id, stream });
        const { json } = await calls.get(`/conversations/${id}/items`);
        assertEquals(objectsAt(json, "data").length, 1, status);
      }
    }
  },
);

testOverStores(
  "a local conversation refuses a reference to an item that the gateway does not store",
  async () => {
    const calls = gateway({ up: {} });
    const conversation = await local(calls);
    const input = [{ type: "item_reference", id: "msg_theirs" }];
    const refused = await calls.post("/responses", { model: "m", input, conversation });
    assertEquals(refusalOf(refused), [400, "invalid_value", "input[0].id"]);
    assertEquals(calls.requests.length, 0);
    assertEquals((await calls.post("/responses", { model: "m", input })).status, 200);
    assertEquals<unknown>(calls.requests[0]?.json.input, input);
  },
);
