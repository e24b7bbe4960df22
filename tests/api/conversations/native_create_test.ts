import { assertEquals, assertMatch } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { bindingOf } from "../../support/object_store.ts";
import { naming, nativeConfig, nativeGateway } from "../../support/native_gateway.ts";
import { refusalOf, textAt } from "../../support/state_call.ts";

const ABLE = { can: ["conversations"] };
const ONE = nativeConfig({ first: ABLE, second: {} });
const TWO = nativeConfig({ first: ABLE, second: ABLE });
const CREATED = ' {"id":"conv_\\u0031","object":"conversation","created_at":1.0}\n';

testOverStores(
  "the only capable provider stores a conversation, byte for byte in both directions",
  async () => {
    const calls = nativeGateway(ONE, () => ({ body: CREATED }));
    const body = '{ "items":[{"type":"of_tomorrow","x":1.0}],"metadata":{"a":5} }';
    const answer = await calls.post("/conversations", body, { accept: "a/b" });
    assertEquals([answer.status, answer.text], [200, CREATED]);
    assertEquals([calls.lastRequest(), calls.requests[0]?.body], [
      "first POST /conversations",
      body,
    ]);
    assertEquals(calls.requests[0]?.headers.get("accept"), "a/b");
    assertEquals(answer.headers.get("x-gateway-provider"), "first");
    assertEquals((await bindingOf(calls, "conversation", "conv_1"))?.kind, "bound");
    assertEquals(calls.state.objects.stats().conversations.entries, 0);
  },
);

Deno.test(
  "several capable providers require a provider name, by header or by canonical model",
  async () => {
    const calls = nativeGateway(TWO, () => ({ body: CREATED }));
    const refused = await calls.post("/conversations", {});
    assertEquals(refusalOf(refused), [400, "ambiguous_provider", "provider"]);
    assertEquals(calls.requests.length, 0);
    await calls.post("/conversations", {}, naming("second"));
    assertEquals(calls.requests.at(-1)?.host, "second");
    await calls.post("/conversations", '{"model":"first/m", "metadata":{}}');
    assertEquals([calls.requests.at(-1)?.host, calls.requests.at(-1)?.body], [
      "first",
      '{"metadata":{}}',
    ]);
    const none = await calls.post("/conversations", {}, naming("nobody"));
    assertEquals(refusalOf(none), [400, "provider_not_found", "provider"]);
  },
);

testOverStores(
  "without a capable provider the gateway stores the conversation, unless a provider is named",
  async () => {
    const calls = nativeGateway(nativeConfig({ first: {}, second: {} }), () => ({ body: CREATED }));
    const { json } = await calls.post("/conversations", {});
    assertMatch(textAt(json, "id"), /^conv_[0-9a-f]{32}$/);
    const refused = await calls.post("/conversations", {}, naming("first"));
    assertEquals(refusalOf(refused), [400, "unsupported_feature", "provider"]);
    assertEquals(calls.requests.length, 0);
  },
);

Deno.test(
  "an invalid native conversation is a 502 and its ID is bound to no owner",
  async () => {
    const wrong = [
      "",
      "[]",
      '{"object":"conversation"}',
      '{"object":"conversation","id":""}',
      '{"object":"conversation","id":"conv_1 "}',
      '{"object":"conversation","id":"a","id":"b"}',
      '{"object":"response","id":"conv_1"}',
    ];
    for (const body of wrong) {
      const calls = nativeGateway(ONE, () => ({ body }));
      const answer = await calls.post("/conversations", {});
      assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"], body);
      assertEquals(calls.state.objects.stats().conversation_bindings.entries, 0);
    }
  },
);
