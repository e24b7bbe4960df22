import { isObject, type JsonObject } from "../../../src/core/json/json.ts";
import { fault } from "../../../src/core/failure/result.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { CLOCKED_STORES, testOverStores } from "../../support/over_stores.ts";
import { keyOf } from "../../support/client_keys.ts";
import type { NativeGateway } from "../../support/native_gateway.ts";
import { type Reply } from "../../support/state_call.ts";
import {
  blockOf,
  called,
  chatBody,
  keyedConfig,
  SEALING,
  type Sealing,
  thinkingConfig,
  thinkingGateway,
  type Thought,
  USER,
} from "./thinking_gateway.ts";

const HM: Thought = { text: " Hm\n", seal: "sealed" };
const REASONED = { reasoning_content: HM.text };
const PATH = "messages[1].reasoning_content";

/** Returns the sealed reasoning in an upstream request, in order. */
function sealedIn({ messages, input }: JsonObject): readonly JsonObject[] {
  const list = [...Array.isArray(messages) ? messages : [], ...Array.isArray(input) ? input : []];
  return list.filter(isObject).flatMap((item) =>
    Array.isArray(item.content) ? [item, ...item.content.filter(isObject)] : [item]
  ).filter(({ type }) => type === "thinking" || type === "reasoning");
}

function lastSealed({ requests }: NativeGateway): readonly JsonObject[] {
  return sealedIn(requests.at(-1)?.json ?? {});
}

async function ask(
  gateway: NativeGateway,
  messages: readonly JsonObject[],
  more: JsonObject = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  return await gateway.post("/chat/completions", chatBody(messages, more), headers);
}

function lossyOf({ headers }: Reply): string | null {
  return headers.get("x-gateway-lossy");
}

/** The text is left out by its path. Over messages the loop continues with thinking off. */
function assertForgotten(sealing: Sealing, gateway: NativeGateway, reply: Reply): void {
  const { thinking } = gateway.requests.at(-1)?.json ?? {};
  assertEquals(thinking, sealing === "messages" ? { type: "disabled" } : undefined);
  assertEquals([reply.status, lossyOf(reply), lastSealed(gateway)], [200, PATH, []]);
}

Deno.test("stored reasoning that is put back counts in server.max_body_memory: a small request that names more of it is refused", async () => {
  const long: Thought = { text: "x".repeat(100_000), seal: "sealed" };
  const config = thinkingConfig("messages", { more: "server: {max_body_memory: 150000}\n" });
  const gateway = thinkingGateway(config, "messages", [long, long], ["call_1", "call_2"]);
  for (let calls = 0; calls < 2; calls++) assertEquals((await ask(gateway, [USER])).status, 200);
  const [one, other] = [called({}, "call_1"), called({}, "call_2")];
  assertEquals((await ask(gateway, [USER, ...one])).status, 200);
  const refused = await ask(gateway, [USER, ...one, ...other]);
  assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  assertEquals(gateway.requests.length, 3);
  assertEquals((await ask(gateway, [USER, ...other])).status, 200);
});

for (const sealing of SEALING) {
  for (const stream of [false, true]) {
    const how = stream ? "stream" : "whole response";

    testOverStores(
      `the sealed reasoning of a ${how} over ${sealing} is put back for its calls, with their text and without`,
      async () => {
        const gateway = thinkingGateway(thinkingConfig(sealing), sealing, [HM]);
        const first = await ask(gateway, [USER], { stream });
        assertEquals(first.status, 200);
        for (
          const reasoning of [REASONED, {}, { reasoning_content: null }, { reasoning_content: "" }]
        ) {
          const next = await ask(gateway, [USER, ...called(reasoning)], { stream });
          assertEquals([next.status, lossyOf(next)], [200, null]);
          assertEquals(lastSealed(gateway), [blockOf(sealing, HM)]);
        }
      },
    );
  }

  testOverStores(
    `all steps of a tool loop over ${sealing} get their reasoning back, also behind the next question`,
    async () => {
      const thoughts = ["1", "2", "3"].map((seal) => ({ text: `think ${seal}`, seal }));
      const ids = ["call_1", "call_2", "call_3"];
      const gateway = thinkingGateway(thinkingConfig(sealing), sealing, thoughts, ids);
      const messages: JsonObject[] = [USER];
      for (const [at, { text }] of thoughts.entries()) {
        assertEquals((await ask(gateway, messages)).status, 200);
        const before = thoughts.slice(0, at).map((thought) => blockOf(sealing, thought));
        assertEquals(lastSealed(gateway), before);
        messages.push(...called({ reasoning_content: text }, ids[at]));
      }
      const last = await ask(gateway, [...messages, { role: "user", content: "Thanks!" }]);
      assertEquals([last.status, lossyOf(last)], [200, null]);
      assertEquals(lastSealed(gateway), thoughts.map((thought) => blockOf(sealing, thought)));
    },
  );

  testOverStores(
    `reasoning over ${sealing} that is changed, unknown or expired is not put back`,
    async () => {
      const gateway = thinkingGateway(thinkingConfig(sealing), sealing, [HM]);
      await ask(gateway, [USER]);
      const others = [
        called({ reasoning_content: "Hm" }),
        called(REASONED, "call_2"),
      ];
      for (const other of others) {
        assertForgotten(sealing, gateway, await ask(gateway, [USER, ...other]));
      }
      await gateway.world.advance(DEFAULT_RETENTION.ttlMs);
      assertForgotten(sealing, gateway, await ask(gateway, [USER, ...called(REASONED)]));
      const silent = await ask(gateway, [USER, ...called({})]);
      assertEquals([silent.status, lossyOf(silent), lastSealed(gateway)], [200, null, []]);
    },
    CLOCKED_STORES,
  );

  Deno.test(
    `unknown reasoning over ${sealing} before the last question is left out and named`,
    async () => {
      const gateway = thinkingGateway(thinkingConfig(sealing), sealing, [HM]);
      const turn = { role: "assistant", content: "Sunny.", reasoning_content: "So" };
      const history = [USER, ...called(REASONED), turn, { role: "user", content: "And now?" }];
      const reply = await ask(gateway, history);
      assertEquals(reply.status, 200);
      assertEquals(lossyOf(reply), `${PATH}, messages[3].reasoning_content`);
      const [{ json } = { json: {} }] = gateway.requests;
      assertEquals([sealedIn(json), JSON.stringify(json).includes("Hm")], [[], false]);
    },
  );

  testOverStores(
    `two clients with the same call ids over ${sealing} each get their own reasoning`,
    async () => {
      const mine = { text: "mine", seal: "of ada" };
      const theirs = { text: "theirs", seal: "of bob" };
      const gateway = thinkingGateway(keyedConfig(sealing), sealing, [mine, theirs]);
      await ask(gateway, [USER], {}, keyOf("ada"));
      await ask(gateway, [USER], {}, keyOf("bob"));
      for (const [name, thought] of [["ada", mine], ["bob", theirs]] as const) {
        for (const reasoning of [{}, { reasoning_content: thought.text }]) {
          const next = await ask(gateway, [USER, ...called(reasoning)], {}, keyOf(name));
          assertEquals(next.status, 200);
          assertEquals(lastSealed(gateway), [blockOf(sealing, thought)]);
        }
      }
    },
  );

  testOverStores(`reasoning over ${sealing} is not sent to another account`, async () => {
    const gateway = thinkingGateway(thinkingConfig(sealing), sealing, [HM]);
    await ask(gateway, [USER]);
    gateway.reload(thinkingConfig(sealing, { key: "sk-2" }));
    assertForgotten(sealing, gateway, await ask(gateway, [USER, ...called(REASONED)]));
  });

  Deno.test(
    `a response over ${sealing} is delivered if its reasoning cannot be stored, and the failure is counted`,
    async () => {
      for (const stream of [false, true]) {
        const gateway = thinkingGateway(thinkingConfig(sealing), sealing, [HM]);
        const { objects } = gateway.state;
        const away = () => Promise.resolve(fault("internal_error", "The store is away."));
        Object.assign(gateway.state, {
          objects: { ...objects, reasoning: { store: away, find: away } },
        });
        const first = await ask(gateway, [USER], { stream });
        assert(first.status === 200 && first.text.includes("call_1"));
        assertEquals(first.text.includes("error"), false);
        assertForgotten(sealing, gateway, await ask(gateway, [USER, ...called(REASONED)]));
        const metrics = await gateway.scrape();
        for (const operation of ["reasoning_store", "reasoning_find"]) {
          const line = `gateway_state_failures_total{operation="${operation}"} 1\n`;
          assert(metrics.includes(line), `${line} in ${metrics}`);
        }
      }
    },
  );
}

testOverStores("requests that cannot need stored reasoning do not ask the store", async () => {
  const block = blockOf("messages", HM);
  const requests = [
    [USER],
    [USER, { role: "assistant", content: "Hi", reasoning_content: "hm" }, USER],
    [USER, ...called({ thinking_blocks: [block] })],
  ];
  const gateway = thinkingGateway(thinkingConfig("messages"), "messages", [HM]);
  const compat = thinkingGateway(
    thinkingConfig("responses").replace("upstream_request_type: responses", "weight: 1"),
    "responses",
    [HM],
  );
  for (const gatewayState of [gateway.state, compat.state]) {
    const find = () => Promise.reject(new Error("the store was asked"));
    Object.assign(gatewayState, {
      objects: { ...gatewayState.objects, reasoning: { ...gatewayState.objects.reasoning, find } },
    });
  }
  for (const messages of requests) assertEquals((await ask(gateway, messages)).status, 200);
  await ask(compat, [USER, ...called(REASONED)]);
  assertEquals(compat.requests.length, 1);
});

for (const sealing of SEALING) {
  Deno.test(`the reasoning of a response is put back once over ${sealing}, however often a request has its calls`, async () => {
    const gateway = thinkingGateway(thinkingConfig(sealing), sealing, [HM]);
    assertEquals((await ask(gateway, [USER])).status, 200);
    const repeated = Array.from({ length: 50 }, () => called({})).flat();
    await ask(gateway, [USER, ...repeated]);
    assertEquals(lastSealed(gateway), [blockOf(sealing, HM)]);
  });
}
