import type { JsonObject } from "../../../src/core/json.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import {
  type Asked,
  naming,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  type Says,
} from "../../support/native_gateway.ts";
import { refusalOf, type Reply, textAt } from "../../support/state_call.ts";

const ABLE = { can: ["conversations"] };
const ONE = nativeConfig({ first: ABLE, second: {} });
const TWO = nativeConfig({ first: ABLE, second: ABLE });
const CREATED = ' {"id":"conv_\\u0031","object":"conversation","created_at":1.0}\n';
const CONVERSATION = { id: "conv_1", object: "conversation" };

/** A gateway with one native conversation, whose upstream then answers as the script says. */
async function gateway(
  script: (asked: Asked) => Says | Error,
  config = ONE,
): Promise<NativeGateway> {
  const calls = nativeGateway(
    config,
    (asked) => asked.path === "/conversations" ? { body: CREATED } : script(asked),
  );
  await calls.post("/conversations", {}, config === ONE ? {} : naming("first"));
  return calls;
}

Deno.test("the only capable provider keeps a conversation, byte for byte in both directions", async () => {
  const calls = nativeGateway(ONE, () => ({ body: CREATED }));
  const body = '{ "items":[{"type":"of_tomorrow","x":1.0}],"metadata":{"a":5} }';
  const answer = await calls.post("/conversations", body, { accept: "a/b" });
  assertEquals([answer.status, answer.text], [200, CREATED]);
  assertEquals([calls.lastAsked(), calls.asked[0]?.body], ["first POST /conversations", body]);
  assertEquals(calls.asked[0]?.headers.get("accept"), "a/b");
  assertEquals(answer.headers.get("x-gateway-provider"), "first");
  assertEquals(calls.vault.bindings.conversation.get("conv_1")?.state, "bound");
  assertEquals(calls.vault.conversations.entries, 0);
});

Deno.test("several capable providers need a name, by header or by canonical model", async () => {
  const calls = nativeGateway(TWO, () => ({ body: CREATED }));
  const refused = await calls.post("/conversations", {});
  assertEquals(refusalOf(refused), [400, "ambiguous_provider", "provider"]);
  assertEquals(calls.asked.length, 0);
  await calls.post("/conversations", {}, naming("second"));
  assertEquals(calls.asked.at(-1)?.host, "second");
  await calls.post("/conversations", '{"model":"first/m", "metadata":{}}');
  assertEquals([calls.asked.at(-1)?.host, calls.asked.at(-1)?.body], ["first", '{"metadata":{}}']);
  const none = await calls.post("/conversations", {}, naming("nobody"));
  assertEquals(refusalOf(none), [400, "provider_not_found", "provider"]);
});

Deno.test("without a capable provider the gateway keeps it itself, unless one is named", async () => {
  const calls = nativeGateway(nativeConfig({ first: {}, second: {} }), () => ({ body: CREATED }));
  const { json } = await calls.post("/conversations", {});
  assertMatch(textAt(json, "id"), /^conv_[0-9a-f]{32}$/);
  const refused = await calls.post("/conversations", {}, naming("first"));
  assertEquals(refusalOf(refused), [400, "unsupported_feature", "provider"]);
  assertEquals(calls.asked.length, 0);
});

Deno.test("an invalid native conversation is a 502 and belongs to nobody", async () => {
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
    assertEquals(calls.vault.bindings.conversation.entries, 0);
  }
});

interface Operation {
  readonly send: (calls: NativeGateway, headers?: Record<string, string>) => Promise<Reply>;
  readonly asks: string;
  readonly body: string;
  readonly right: string;
  readonly wrong: readonly JsonObject[];
}

const PATH = "/conversations/conv_1";
const BATCH = `{"items":[${Array(30).fill('{"type":"item_reference","id":"a"}').join(", ")}]}`;
const LIST = '{"object":"list" ,"data":[{"x":1.0}]}';
const NO_LIST = [{ object: "list" }, { data: [] }, CONVERSATION];
const OTHERS = [
  { ...CONVERSATION, id: "conv_2" },
  { ...CONVERSATION, object: "conversation.deleted" },
  {},
];

const OPERATIONS: Readonly<Record<string, Operation>> = {
  retrieve: {
    send: (calls, headers) => calls.get(PATH, headers),
    asks: `GET ${PATH}`,
    body: "",
    right: CREATED,
    wrong: OTHERS,
  },
  update: {
    send: (calls, headers) => calls.post(PATH, '{"metadata":{"a":1}, "x":1.0}', headers),
    asks: `POST ${PATH}`,
    body: '{"metadata":{"a":1}, "x":1.0}',
    right: CREATED,
    wrong: OTHERS,
  },
  remove: {
    send: (calls, headers) => calls.delete(PATH, headers),
    asks: `DELETE ${PATH}`,
    body: "",
    right: '{"id":"conv_1","object":"conversation.deleted", "deleted":true}',
    wrong: [
      CONVERSATION,
      { id: "conv_1", object: "conversation.deleted" },
      { id: "conv_1", object: "conversation.deleted", deleted: false },
      { id: "conv_2", object: "conversation.deleted", deleted: true },
    ],
  },
  addItems: {
    send: (calls, headers) => calls.post(`${PATH}/items?include[]=a`, BATCH, headers),
    asks: `POST ${PATH}/items?include%5B%5D=a`,
    body: BATCH,
    right: LIST,
    wrong: NO_LIST,
  },
  listItems: {
    send: (calls, headers) => calls.get(`${PATH}/items?limit=999&order=up&include=x`, headers),
    asks: `GET ${PATH}/items?limit=999&order=up&include=x`,
    body: "",
    right: LIST,
    wrong: NO_LIST,
  },
  retrieveItem: {
    send: (calls, headers) => calls.get(`${PATH}/items/i%201?include=x`, headers),
    asks: `GET ${PATH}/items/i%201?include=x`,
    body: "",
    right: '{"type":"of_tomorrow", "id":"i 1","n":1.0}',
    wrong: [{ type: "message", id: "i 2" }, { id: "i 1" }, { type: "message" }],
  },
  removeItem: {
    send: (calls, headers) => calls.delete(`${PATH}/items/i%2F1`, headers),
    asks: `DELETE ${PATH}/items/i%2F1`,
    body: "",
    right: CREATED,
    wrong: OTHERS,
  },
};

for (const [name, { send, asks, body, right, wrong }] of Object.entries(OPERATIONS)) {
  Deno.test(`${name} goes to the owner as it is, and its answer comes back byte for byte`, async () => {
    const calls = await gateway(() => ({ body: right }), TWO);
    const answer = await send(calls, { accept: "a/b" });
    assertEquals([answer.status, answer.text], [200, right]);
    assertEquals([calls.lastAsked(), calls.asked[1]?.body], [`first ${asks}`, body]);
    assertEquals(calls.asked[1]?.headers.get("accept"), "a/b");
    const isBound = calls.vault.bindings.conversation.get("conv_1") !== undefined;
    assertEquals(isBound, name !== "remove");
  });

  Deno.test(`${name} with a wrong answer is a 502 that leaves the binding alone`, async () => {
    for (const says of [...wrong.map((value) => JSON.stringify(value)), "", `${right}{}`]) {
      const calls = await gateway(() => ({ body: says }));
      const answer = await send(calls);
      assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"], says);
      assertEquals(calls.vault.bindings.conversation.get("conv_1")?.state, "bound");
    }
    const large = await gateway(() => ({ body: right + " ".repeat(16 * 1024 * 1024) }));
    const answer = await send(large);
    assertEquals([answer.status, answer.error.code], [502, "upstream_response_too_large"]);
  });

  Deno.test(`${name} is sent once, to its owner, whatever goes wrong`, async () => {
    const failures: (Says | Error)[] = [404, 429, 500, 503, 202].map((status) => (
      { status, body: "" }
    ));
    for (const says of [...failures, new TypeError("tcp connect error: refused")]) {
      const calls = await gateway(() => says, TWO);
      const answer = await send(calls);
      assert(answer.status >= 400);
      assertEquals(calls.asked.map(({ host }) => host), ["first", "first"]);
      assertEquals(calls.vault.bindings.conversation.get("conv_1")?.state, "bound");
    }
  });

  Deno.test(`${name} asks nobody when its owner is unclear, stale or incapable`, async () => {
    const calls = await gateway(() => ({ body: right }), TWO);
    calls.reload(TWO.replace("sk-first", "sk-new"));
    const stale = [400, "provider_binding_stale", "conversation_id"];
    assertEquals(refusalOf(await send(calls)), stale);
    assertEquals(refusalOf(await send(calls, naming("second"))), [
      400,
      "invalid_value",
      "provider",
    ]);
    calls.reload(nativeConfig({ first: {}, second: ABLE }));
    const incapable = [400, "unsupported_feature", "provider"];
    assertEquals(refusalOf(await send(calls)), incapable);
    calls.reload(TWO);
    await calls.post("/conversations", {}, naming("second"));
    const asked = calls.asked.length;
    const conflict = [400, "provider_binding_conflict", "conversation_id"];
    assertEquals(refusalOf(await send(calls)), conflict);
    assertEquals(calls.asked.length, asked);
    assertEquals((await send(calls, naming("second"))).text, right);
    assertEquals(calls.asked.at(-1)?.host, "second");
    assertEquals(refusalOf(await send(calls)), conflict);
  });

  Deno.test(`${name} of an unknown conversation needs a header`, async () => {
    const calls = await gateway(() => ({ body: right }));
    await calls.world.advance(30 * 60_000);
    const unknown = [404, "conversation_not_found", "conversation_id"];
    assertEquals(refusalOf(await send(calls)), unknown);
    assertEquals(calls.asked.length, 1);
    assertEquals((await send(calls, naming("first"))).text, right);
  });
}

Deno.test("identifiers with white space around them never leave the gateway", async () => {
  const calls = await gateway(() => ({ body: CREATED }));
  const first = naming("first");
  const wrong = { "/conversations/%20a": "conversation_id", [`${PATH}/items/a%20`]: "item_id" };
  for (const [path, param] of Object.entries(wrong)) {
    assertEquals(refusalOf(await calls.get(path, first)), [400, "invalid_value", param]);
    assertEquals(refusalOf(await calls.delete(path, first)), [400, "invalid_value", param]);
  }
  assertEquals(calls.asked.length, 1);
});
