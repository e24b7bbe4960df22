import { assertEquals, assertMatch } from "../../support/assert.ts";
import { COMPLETION, MESSAGES } from "../../support/chat_call.ts";
import { testGateway } from "../../support/gateway.ts";
import { naming, nativeConfig, nativeGateway } from "../../support/native_gateway.ts";
import { assertNothingStored, NO_STORE } from "../../support/no_store.ts";
import { EVERY_TYPE, simulated, TRANSLATED } from "../../support/simulated.ts";
import { refusalOf, stateCalls } from "../../support/state_call.ts";
import { scriptedWorld } from "../../support/world.ts";

const ABLE = { can: ["chat_completions_lifecycle"] };
const STORED = { model: "m", ...MESSAGES, store: true };

Deno.test("without a store a completion with store: true is refused by name where its owner would be stored", async () => {
  const calls = nativeGateway(NO_STORE + nativeConfig({ first: ABLE }), () => ({
    body: COMPLETION,
  }));
  for (const stream of [false, true]) {
    for (const headers of [{}, naming("first")]) {
      const refused = await calls.post("/chat/completions", { ...STORED, stream }, headers);
      assertEquals(refusalOf(refused), [400, "state_disabled", "store"]);
      assertMatch(String(refused.error.message), /state\.store is none.*omit 'store'/);
    }
  }
  assertEquals(calls.requests.length, 0);
  for (const store of [false, null]) {
    assertEquals((await calls.post("/chat/completions", { ...STORED, store })).status, 200);
    assertEquals(calls.requests.at(-1)?.json.store, store);
  }
  assertNothingStored(calls);
});

Deno.test("without a store a completion with store: true goes to a target whose completions are not the gateway's", async () => {
  const config = `${NO_STORE}
providers:
  first: {type: compat, base_url: "http://first", capabilities: {chat_completions_lifecycle: true}}
  second: {type: compat, base_url: "http://second"}
routing:
  routes: [{name: main, targets: [{provider: first}, {provider: second}]}]
`;
  const calls = nativeGateway(config, () => ({ body: COMPLETION }));
  assertEquals((await calls.post("/chat/completions", STORED)).status, 200);
  assertEquals([calls.lastRequest(), calls.requests[0]?.json.store], [
    "second POST /chat/completions",
    true,
  ]);
  assertNothingStored(calls);
});

Deno.test("without a store chat over each provider type is the same as with one", async () => {
  for (const provider of TRANSLATED) {
    for (const stream of [false, true]) {
      const body = { model: `${provider}/sim-echo`, ...MESSAGES, stream };
      const replies = await Promise.all([NO_STORE, ""].map((top) => {
        const { app } = testGateway(top + EVERY_TYPE, scriptedWorld(simulated()));
        return stateCalls(app).post("/chat/completions", body);
      }));
      assertEquals(replies[0]?.status, 200);
      assertEquals(replies[0]?.text, replies[1]?.text);
    }
  }
});
