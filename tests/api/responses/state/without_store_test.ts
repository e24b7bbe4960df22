import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assert, assertEquals, assertMatch } from "../../../support/assert.ts";
import { keyOf, twoKeys } from "../../../support/client_keys.ts";
import { testGateway } from "../../../support/gateway.ts";
import {
  naming,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  responseOf,
  streamOf,
} from "../../../support/native_gateway.ts";
import { assertNothingStored, NO_STORE } from "../../../support/no_store.ts";
import { EVERY_TYPE, NATIVE, simulated, TRANSLATED } from "../../../support/simulated.ts";
import { refusalOf, stateCalls } from "../../../support/state_call.ts";
import { scriptedWorld } from "../../../support/world.ts";
import { terminalOf } from "../stateful.ts";

const CAN = [
  "responses_lifecycle",
  "background_responses",
  "conversations",
  "response_cancellation",
];
const COUNTING = ["response_compaction", "response_input_tokens"];

/**
 * Values of `store` in a request with the value of `X-Gateway-Lossy`; undefined leaves the field
 * out.
 */
const STORES = [
  { store: undefined, lossy: null },
  { store: null, lossy: null },
  { store: false, lossy: null },
  { store: true, lossy: "store" },
] as const;

/** A gateway without a store before an upstream that repeats `store` and counts its responses. */
function native(can: readonly string[], more = ""): NativeGateway {
  let count = 0;
  const config = NO_STORE + more + nativeConfig({ up: { can } });
  return nativeGateway(config, ({ json }) => {
    const id = `resp_${++count}`;
    const echo = { store: json.store ?? true };
    return { body: json.stream === true ? streamOf(id, echo) : responseOf(id, echo) };
  });
}

/** A gateway without a store before the simulator, with one provider of each type. */
function everyType() {
  const upstream = simulated();
  const world = scriptedWorld(upstream);
  const { app, gateway } = testGateway(NO_STORE + EVERY_TYPE, world);
  return { ...stateCalls(app), state: gateway.state, sent: upstream.sent };
}

function written(store: boolean | null | undefined): JsonObject {
  return store === undefined ? {} : { store };
}

for (const provider of [...NATIVE, ...TRANSLATED]) {
  for (const stream of [false, true]) {
    const how = stream ? "streamed" : "whole";

    Deno.test(`without a store a ${how} response over ${provider} says store: false, whatever the request says`, async () => {
      const calls = everyType();
      for (const { store, lossy } of STORES) {
        const body = { model: `${provider}/sim-echo`, input: "one", stream, ...written(store) };
        const reply = await calls.post("/responses", body);
        assertEquals(reply.status, 200, reply.text);
        const response = stream ? terminalOf(reply) : reply.json;
        assertEquals([response.status, response.store], ["completed", false], reply.text);
        assertEquals(reply.headers.get("x-gateway-lossy"), lossy);
        assertEquals(reply.headers.get("x-gateway-state"), null);
      }
      assertEquals(calls.sent.length, STORES.length);
      assertNothingStored(calls);
    });
  }
}

for (const can of [[], CAN]) {
  const lifecycle = can.length === 0 ? "without" : "with";

  Deno.test(`without a store a native upstream ${lifecycle} lifecycle gets store: false and else the client's text`, async () => {
    for (const stream of [false, true]) {
      for (const { store } of STORES) {
        const calls = native(can);
        const rest = `"model": "m",\t"input": "a\\u0062", "n": 1.0, "stream": ${stream}`;
        const part = store === undefined ? "" : `, "store":  ${store}`;
        const reply = await calls.post("/responses", `{${rest}${part}}`);
        assertEquals(reply.status, 200, reply.text);
        const { body = "", json } = calls.requests[0] ?? {};
        assertEquals(json?.store, false);
        assertEquals(body.replace(/"store":false,|, "store": *false/, ""), `{${rest}}`);
        assertNothingStored(calls);
      }
    }
  });
}

Deno.test("without a store the body of a native request with store: false is sent byte for byte", async () => {
  const calls = native([]);
  const text = ' {"input":"a\\u0062",  "store" : false,"model":"m"} ';
  await calls.post("/responses", text);
  assertEquals(calls.requests[0]?.body, text);
});

for (const says of [true, null, "nothing"] as const) {
  const upstream = says === "nothing" ? "leaves store out" : `says store: ${says}`;

  Deno.test(`without a store the response of an upstream that ${upstream} says store: false, whole, streamed and broken off`, async () => {
    const echo = says === "nothing" ? {} : { store: says };
    const body = (id: string) => JSON.stringify(responseOf(id, echo));
    const stream = streamOf("resp_1", echo);
    const config = NO_STORE + nativeConfig({ up: {} });
    const whole = await nativeGateway(config, () => ({ body: responseOf("resp_1", echo) }))
      .post("/responses", { model: "m", input: "x" });
    assertEquals(
      whole.text,
      says === "nothing"
        ? body("resp_1").replace("{", '{"store":false,')
        : body("resp_1").replace(`"store":${says}`, '"store":false'),
    );
    for (const cut of [stream, stream.slice(0, stream.lastIndexOf("event: "))]) {
      const { text } = await nativeGateway(config, () => ({ body: cut }))
        .post("/responses", { model: "m", input: "x", stream: true });
      const responses = text.split("\n")
        .filter((line) => line.startsWith("data: {"))
        .map((line) => JSON.parse(line.slice(6)).response)
        .filter((response) => response !== undefined);
      assert(responses.length > 1, text);
      assertEquals(new Set(responses.map(({ store }) => store)), new Set([false]), text);
      const isWhole = cut === stream;
      assertEquals(responses.at(-1).status, isWhole ? "completed" : "failed");
    }
  });
}

Deno.test("without a store the events of an upstream that says store: true keep every other byte", async () => {
  const plain = streamOf("resp_1", { store: true });
  const framed = [
    plain,
    plain.replaceAll("\n", "\r\n"),
    plain.replaceAll("data: ", "id: 1\n: comment\ndata:").replaceAll("}\n\n", "}\nretry: 5\n\n"),
    plain.replaceAll('"response":', '\ndata: "response": '),
  ];
  for (const body of framed) {
    const { text } = await nativeGateway(NO_STORE + nativeConfig({ up: {} }), () => ({ body }))
      .post("/responses", { model: "m", input: "x", stream: true });
    assertEquals(text, body.replaceAll('"store":true', '"store":false'));
  }
});

/** A request field that needs stored state, with the path of the refusal and the remedy. */
const NEEDING: readonly {
  readonly name: string;
  readonly body: JsonObject;
  readonly param: string;
  readonly remedy: RegExp;
}[] = [
  {
    name: "previous_response_id",
    body: { previous_response_id: "resp_1" },
    param: "previous_response_id",
    remedy: /send the whole conversation as input/,
  },
  {
    name: "conversation by its text",
    body: { conversation: "conv_1" },
    param: "conversation",
    remedy: /send the items of the conversation as input/,
  },
  {
    name: "conversation by its object",
    body: { conversation: { id: "conv_1" } },
    param: "conversation",
    remedy: /send the items of the conversation as input/,
  },
  {
    name: "background",
    body: { background: true },
    param: "background",
    remedy: /omit 'background'/,
  },
  {
    name: "an item reference",
    body: { input: [{ role: "user", content: "x" }, { type: "item_reference", id: "msg_1" }] },
    param: "input[1].id",
    remedy: /send the item itself/,
  },
];

for (const { name, body, param, remedy } of NEEDING) {
  Deno.test(`without a store ${name} is refused by name over every provider type, and nothing is sent`, async () => {
    const calls = everyType();
    for (const provider of [...NATIVE, ...TRANSLATED]) {
      for (const stream of [false, true]) {
        for (const store of [true, false]) {
          const request = { model: `${provider}/sim-echo`, input: "x", stream, store, ...body };
          for (const headers of [{}, naming(provider)]) {
            const refused = await calls.post("/responses", request, headers);
            assertEquals(refusalOf(refused), [400, "state_disabled", param], refused.text);
            assertMatch(String(refused.error.message), /state\.store is none/);
            assertMatch(String(refused.error.message), remedy);
          }
        }
      }
    }
    assertEquals(calls.sent.length, 0);
  });

  Deno.test(`without a store ${name} is refused for every client key, also if the provider can all of it`, async () => {
    for (const more of [twoKeys(), twoKeys(", isolate_clients: false")]) {
      const calls = native(CAN, more);
      const request = { model: "m", input: "x", ...body };
      for (const named of [{}, naming("up")]) {
        const refused = await calls.post("/responses", request, { ...keyOf("ada"), ...named });
        assertEquals(refusalOf(refused), [400, "state_disabled", param]);
      }
      assertEquals(calls.requests.length, 0);
    }
  });
}

Deno.test("without a store the same references are refused before an input is compacted or counted", async () => {
  const calls = native([...COUNTING, ...CAN]);
  for (const { body, param } of NEEDING.filter(({ name }) => name !== "background")) {
    for (const path of ["/responses/compact", "/responses/input_tokens"]) {
      const refused = await calls.post(path, { model: "m", input: "x", ...body }, naming("up"));
      assertEquals(refusalOf(refused), [400, "state_disabled", param], path);
    }
  }
  assertEquals(calls.requests.length, 0);
});

Deno.test("without a store an input with items in it is compacted and counted", async () => {
  const upstream = nativeConfig({ up: { can: COUNTING } });
  const calls = nativeGateway(NO_STORE + upstream, ({ path }) => ({
    body: path === "/responses/compact"
      ? { id: "c_1", object: "response.compaction" }
      : { object: "response.input_tokens", input_tokens: 3 },
  }));
  const body = { model: "m", input: [{ role: "user", content: "x" }] };
  assertEquals((await calls.post("/responses/compact", body)).status, 200);
  assertEquals((await calls.post("/responses/input_tokens", body)).json.input_tokens, 3);
});

Deno.test("with a store the same requests have no lossy store, and say store: true", async () => {
  const upstream = simulated();
  const { app } = testGateway(EVERY_TYPE, scriptedWorld(upstream));
  const calls = stateCalls(app);
  for (const provider of [...NATIVE, ...TRANSLATED]) {
    const body = { model: `${provider}/sim-echo`, input: "one", store: true };
    const reply = await calls.post("/responses", body);
    assertEquals([reply.json.store, reply.headers.get("x-gateway-lossy")], [true, null]);
  }
});
