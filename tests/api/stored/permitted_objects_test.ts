import type { JsonObject } from "../../../src/core/json/json.ts";
import type { NativeType } from "./bound_kinds.ts";
import { assertEquals } from "../../support/assert.ts";
import { keyOf } from "../../support/client_keys.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";
import {
  naming,
  nativeConfig,
  nativeGateway,
  type ScriptedResponse,
} from "../../support/native_gateway.ts";
import { objectsAt, refusalOf, type Reply } from "../../support/state_call.ts";
import { kindOf, KINDS } from "./bound_kinds.ts";

const CAN = [
  "responses_lifecycle",
  "response_cancellation",
  "chat_completions_lifecycle",
  "conversations",
  "response_compaction",
  "response_input_tokens",
];
const PROVIDERS = nativeConfig({ first: { can: CAN }, second: { can: CAN } });

/** The configuration in which the key of ada has these settings. */
function config(settings = ""): string {
  return `security: {enabled: true, api_key: {keys: [{name: ada, value: key-of-ada${settings}}]}}
${PROVIDERS}`;
}

const ADA = keyOf("ada");

/** A gateway before providers that give everything the ID `x-1`. */
function gateway(text = config()) {
  return nativeGateway(text, ({ method, path }): ScriptedResponse => {
    const [type, rest] = kindOf(path);
    const [id = ""] = rest.split("/");
    if (method === "DELETE") return { body: { id, object: KINDS[type].deleted, deleted: true } };
    const isList = /\/(?:items|input_items|messages)$/.test(rest) ||
      (method === "GET" && rest === "");
    if (isList) return { body: { object: "list", data: [KINDS[type].resource("x-1")] } };
    return { body: KINDS[type].resource(id === "" ? "x-1" : id) };
  });
}

type Calls = ReturnType<typeof gateway>;

/** Every request about an object of a type that the key made before. */
const FOLLOW_UPS: Readonly<Record<NativeType, readonly ((calls: Calls) => Promise<Reply>)[]>> = {
  response: [
    (calls) => calls.get("/responses/x-1", ADA),
    (calls) => calls.get("/responses/x-1?stream=true", ADA),
    (calls) => calls.get("/responses/x-1/input_items", ADA),
    (calls) => calls.post("/responses/x-1/cancel", "", ADA),
    (calls) => calls.delete("/responses/x-1", ADA),
    (calls) => calls.post("/responses", { input: "x", previous_response_id: "x-1" }, ADA),
    (calls) => calls.post("/responses/compact", { model: "m", previous_response_id: "x-1" }, ADA),
    (calls) => calls.post("/responses/input_tokens", { previous_response_id: "x-1" }, ADA),
  ],
  chat_completion: [
    (calls) => calls.get("/chat/completions/x-1", ADA),
    (calls) => calls.get("/chat/completions/x-1/messages", ADA),
    (calls) => calls.post("/chat/completions/x-1", { metadata: {} }, ADA),
    (calls) => calls.delete("/chat/completions/x-1", ADA),
  ],
  conversation: [
    (calls) => calls.get("/conversations/x-1", ADA),
    (calls) => calls.post("/conversations/x-1", { metadata: {} }, ADA),
    (calls) => calls.get("/conversations/x-1/items", ADA),
    (calls) => calls.post("/conversations/x-1/items", { items: [] }, ADA),
    (calls) => calls.get("/conversations/x-1/items/i", ADA),
    (calls) => calls.delete("/conversations/x-1/items/i", ADA),
    (calls) => calls.delete("/conversations/x-1", ADA),
    (calls) => calls.post("/responses", { model: "m", input: "x", conversation: "x-1" }, ADA),
  ],
};

const PROVIDER = [403, "provider_not_allowed", "provider"];
const MODEL = [403, "model_not_allowed", "model"];

/** A gateway in which the key has made an object at the first provider, then lost a permission. */
async function after(type: NativeType, settings: string): Promise<Calls> {
  const calls = gateway();
  const { path, create } = KINDS[type];
  const made = await calls.post(path, create, { ...naming("first"), ...ADA });
  assertEquals(made.status, 200, made.text);
  calls.reload(config(settings));
  return calls;
}

for (const type of ["response", "chat_completion", "conversation"] as const) {
  Deno.test(`a key that may not use the provider of a ${type} any more is refused every request for it`, async () => {
    const calls = await after(type, ", providers: [second]");
    for (const followUp of FOLLOW_UPS[type]) {
      assertEquals(refusalOf(await followUp(calls)), PROVIDER, followUp.toString());
    }
    const named = await calls.get(`${KINDS[type].path}/x-1`, { ...ADA, ...naming("first") });
    assertEquals(refusalOf(named), PROVIDER);
    assertEquals(calls.requests.length, 1);
    calls.reload(config(", providers: [first]"));
    assertEquals((await calls.get(`${KINDS[type].path}/x-1`, ADA)).status, 200);
  });
}

for (const type of ["response", "chat_completion"] as const) {
  Deno.test(`a key that may not use the model of a ${type} any more is refused every request for it`, async () => {
    const calls = await after(type, ", models: [other]");
    for (const followUp of FOLLOW_UPS[type]) {
      assertEquals(refusalOf(await followUp(calls)), MODEL, followUp.toString());
    }
    assertEquals(calls.requests.length, 1);
    calls.reload(config(', models: ["first/m"]'));
    assertEquals((await calls.get(`${KINDS[type].path}/x-1`, ADA)).status, 200);
  });
}

Deno.test("a list of stored completions leaves out those of models that the key may not use", async () => {
  const calls = await after("chat_completion", ", models: [m]");
  const named = { ...ADA, ...naming("first") };
  const listed = async () => objectsAt((await calls.get("/chat/completions", named)).json, "data");
  assertEquals((await listed()).length, 1);
  calls.reload(config(", models: [other]"));
  assertEquals((await listed()).length, 0);
});

Deno.test("requests without an object go to the only capable provider that the key may use", async () => {
  const requests: readonly (readonly [path: string, body: JsonObject])[] = [
    ["/responses/compact", { model: "m", input: "x" }],
    ["/responses/input_tokens", { model: "m", input: "x" }],
    ["/conversations", {}],
  ];
  for (const [path, body] of requests) {
    const calls = gateway(config(", providers: [second]"));
    await calls.post(path, body, ADA);
    assertEquals(calls.lastRequest(), `second POST ${path}`);
    assertEquals(refusalOf(await calls.post(path, body, { ...ADA, ...naming("first") })), PROVIDER);
  }
  const listing = gateway(config(", providers: [second]"));
  await listing.get("/chat/completions", ADA);
  assertEquals(listing.lastRequest(), "second GET /chat/completions");
});

Deno.test("without a capable provider that the key may use, only a conversation of the gateway is created", async () => {
  const text =
    `security: {enabled: true, api_key: {keys: [{name: ada, value: key-of-ada, providers: [second]}]}}
${nativeConfig({ first: { can: CAN }, second: {} })}`;
  const calls = gateway(text);
  for (const path of ["/responses/compact", "/responses/input_tokens"]) {
    assertEquals(refusalOf(await calls.post(path, { model: "m", input: "x" }, ADA)), PROVIDER);
  }
  assertEquals(refusalOf(await calls.get("/chat/completions", ADA)), PROVIDER);
  assertEquals((await calls.post("/conversations", {}, ADA)).status, 200);
  assertEquals(calls.requests.length, 0);
});

Deno.test("compact and input_tokens count as use of their model", async () => {
  const calls = gateway(config(", providers: [first], models: [other]"));
  for (const path of ["/responses/compact", "/responses/input_tokens"]) {
    assertEquals(refusalOf(await calls.post(path, { model: "m", input: "x" }, ADA)), MODEL);
  }
  assertEquals(calls.requests.length, 0);
});

Deno.test("a turn on an open socket asks the permissions of the moment, also to continue without store", async () => {
  const upstream = wordStreams(() => saying("yes"));
  const file = (settings: string) => `
security: {enabled: true, api_key: {keys: [{name: ada, value: key-of-ada${settings}}]}}
providers: {up: {type: compat, base_url: "http://up.test", api_key: k}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`;
  await using served = socketGateway(file(""), upstream);
  await using open = await served.open(ADA);
  const first = await open.turn(create({ store: false }));
  assertEquals(first.output, "yes");
  const verdicts: unknown[] = [];
  for (const settings of [", models: [other]", ", providers: [up], models: [mm]"]) {
    served.reload(file(settings));
    const turn = await open.turn(create({ store: false }));
    verdicts.push([turn.end.status, turn.error.code, turn.error.param]);
  }
  assertEquals<unknown>(verdicts, [MODEL, MODEL]);
  served.reload(file(", models: [m]"));
  const second = await open.turn(create({ store: false }));
  served.reload(file(", models: [other]"));
  const third = await open.turn(create({ store: false, previous_response_id: second.id }));
  assertEquals<unknown>([third.end.status, third.error.code], [403, "model_not_allowed"]);
  assertEquals(upstream.sent.length, 2);
});
