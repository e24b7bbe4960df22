import type { JsonObject } from "../../../src/core/json/json.ts";
import { ownerStore } from "../../../src/store/object_store.ts";
import type { NativeType } from "./bound_kinds.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { bindingOf, stored } from "../../support/object_store.ts";
import { keyOf, ROTATED, twoKeys } from "../../support/client_keys.ts";
import {
  naming,
  nativeConfig,
  nativeGateway,
  type ScriptedResponse,
} from "../../support/native_gateway.ts";
import { refusalOf, type Reply } from "../../support/state_call.ts";
import { kindOf, KINDS } from "./bound_kinds.ts";

const CAN = [
  "responses_lifecycle",
  "response_cancellation",
  "chat_completions_lifecycle",
  "conversations",
];
const PROVIDERS = nativeConfig({ first: { can: CAN }, second: { can: CAN } });
const SHARED = twoKeys(", isolate_clients: false") + PROVIDERS;
const TYPES: readonly NativeType[] = ["response", "chat_completion", "conversation"];

const ADA = keyOf("ada"), BOB = keyOf("bob");

/** A gateway with two keys before providers that give everything the id `x-1`. */
function gateway(config = twoKeys() + PROVIDERS) {
  return nativeGateway(config, ({ method, path }): ScriptedResponse => {
    const [type, rest] = kindOf(path);
    const [id = ""] = rest.split("/");
    if (method === "DELETE") return { body: { id, object: KINDS[type].deleted, deleted: true } };
    if (/\/(?:items|input_items|messages)$/.test(rest)) {
      return { body: { object: "list", data: [] } };
    }
    return { body: KINDS[type].resource(id === "" ? "x-1" : id) };
  });
}

type Calls = ReturnType<typeof gateway>;
type Headers = Readonly<Record<string, string>>;

async function create(calls: Calls, type: NativeType, headers: Headers) {
  const { path, create } = KINDS[type];
  const made = await calls.post(path, create, { ...naming("first"), ...headers });
  assertEquals(made.status, 200, made.text);
}

/** Every operation on an object of a type, other than those that create another one. */
const OPERATIONS: Readonly<
  Record<NativeType, readonly ((calls: Calls, headers: Headers) => Promise<Reply>)[]>
> = {
  response: [
    (calls, headers) => calls.get("/responses/x-1", headers),
    (calls, headers) => calls.get("/responses/x-1?stream=true", headers),
    (calls, headers) => calls.get("/responses/x-1/input_items", headers),
    (calls, headers) => calls.post("/responses/x-1/cancel", "", headers),
    (calls, headers) => calls.delete("/responses/x-1", headers),
  ],
  chat_completion: [
    (calls, headers) => calls.get("/chat/completions/x-1", headers),
    (calls, headers) => calls.get("/chat/completions/x-1/messages", headers),
    (calls, headers) => calls.post("/chat/completions/x-1", { metadata: {} }, headers),
    (calls, headers) => calls.delete("/chat/completions/x-1", headers),
  ],
  conversation: [
    (calls, headers) => calls.get("/conversations/x-1", headers),
    (calls, headers) => calls.post("/conversations/x-1", { metadata: {} }, headers),
    (calls, headers) => calls.get("/conversations/x-1/items", headers),
    (calls, headers) => calls.post("/conversations/x-1/items", { items: [] }, headers),
    (calls, headers) => calls.get("/conversations/x-1/items/i", headers),
    (calls, headers) => calls.delete("/conversations/x-1/items/i", headers),
    (calls, headers) => calls.delete("/conversations/x-1", headers),
  ],
};

for (const type of TYPES) {
  const { path, param, unknown } = KINDS[type];
  const notFound = [404, unknown, param];

  testOverStores(`a ${type} of one key does not exist for another, in any operation`, async () => {
    const calls = gateway();
    await create(calls, type, ADA);
    const requests = calls.requests.length;
    for (const operation of OPERATIONS[type]) {
      for (const named of [{}, naming("first"), naming("second")]) {
        assertEquals(refusalOf(await operation(calls, { ...BOB, ...named })), notFound);
      }
    }
    const never = await calls.get(`${path}/never`, BOB);
    const hidden = await calls.get(`${path}/x-1`, BOB);
    assertEquals([hidden.status, hidden.text], [never.status, never.text]);
    assertEquals(calls.requests.length, requests);
    assertEquals((await calls.get(`${path}/x-1`, ADA)).status, 200);
  });

  testOverStores(`a ${type} stays with the name of its key when its value changes`, async () => {
    const calls = gateway();
    await create(calls, type, ADA);
    calls.reload(ROTATED + PROVIDERS);
    const rotated = { authorization: "Bearer second-key-of-ada" };
    assertEquals((await calls.get(`${path}/x-1`, rotated)).status, 200);
  });

  testOverStores(
    `all keys share a ${type} while clients are not isolated, from the next call on`,
    async () => {
      const calls = gateway(SHARED);
      await create(calls, type, ADA);
      assertEquals((await calls.get(`${path}/x-1`, BOB)).status, 200);
      calls.reload(twoKeys() + PROVIDERS);
      assertEquals(refusalOf(await calls.get(`${path}/x-1`, BOB)), notFound);
      assertEquals((await calls.get(`${path}/x-1`, ADA)).status, 200);
      calls.reload(SHARED);
      assertEquals((await calls.get(`${path}/x-1`, BOB)).status, 200);
      assertEquals((await calls.delete(`${path}/x-1`, BOB)).status, 200);
      assertEquals(refusalOf(await calls.get(`${path}/x-1`, ADA)), notFound);
    },
  );

  testOverStores(
    `without keys everybody shares a ${type}; with keys since, no key has it`,
    async () => {
      const calls = gateway(PROVIDERS);
      await create(calls, type, {});
      assertEquals((await calls.get(`${path}/x-1`)).status, 200);
      calls.reload(twoKeys() + PROVIDERS);
      for (const key of [ADA, BOB]) {
        assertEquals(refusalOf(await calls.get(`${path}/x-1`, key)), notFound);
      }
      calls.reload(PROVIDERS);
      assertEquals((await calls.get(`${path}/x-1`)).status, 200);
    },
  );

  testOverStores(
    `an id that two keys have received for a ${type} is reached by neither`,
    async () => {
      for (const second of [naming("first"), naming("second")]) {
        const calls = gateway();
        await create(calls, type, ADA);
        await create(calls, type, { ...BOB, ...second });
        const requests = calls.requests.length;
        for (const key of [ADA, BOB]) {
          for (const named of [{}, naming("first"), naming("second")]) {
            const answer = await calls.get(`${path}/x-1`, { ...key, ...named });
            assertEquals(refusalOf(answer), notFound);
          }
        }
        assertEquals(calls.requests.length, requests);
        assertEquals(calls.state.objects.stats().responses.entries, 0);
      }
    },
  );

  testOverStores(
    `two accounts of one key that return the same id for a ${type} are a conflict`,
    async () => {
      const calls = gateway();
      await create(calls, type, ADA);
      await create(calls, type, { ...ADA, ...naming("second") });
      const conflict = [400, "provider_binding_conflict", param];
      assertEquals(refusalOf(await calls.get(`${path}/x-1`, ADA)), conflict);
      assertEquals((await calls.get(`${path}/x-1`, { ...ADA, ...naming("second") })).status, 200);
      assertEquals(refusalOf(await calls.get(`${path}/x-1`, BOB)), notFound);
      const named = await calls.get(`${path}/x-1`, { ...BOB, ...naming("second") });
      assertEquals(refusalOf(named), notFound);
    },
  );

  testOverStores(
    `a ${type} that is bound to no key is unknown to all but a key that adopts it, also by name`,
    async () => {
      const calls = gateway(twoKeys("", ", adopt_unknown: true") + PROVIDERS);
      await create(calls, type, ADA);
      const sent = calls.requests.length;
      for (const headers of [ADA, { ...ADA, ...naming("first") }, BOB]) {
        assertEquals(refusalOf(await calls.get(`${path}/old`, headers)), notFound);
      }
      const other = await calls.get(`${path}/x-1`, { ...BOB, ...naming("first") });
      assertEquals([refusalOf(other), calls.requests.length], [notFound, sent]);
      assertEquals((await calls.get(`${path}/old`, { ...BOB, ...naming("first") })).status, 200);
      assertEquals(await bindingOf(calls, type, "old"), null);
    },
  );

  testOverStores(
    `a delete does not unbind a ${type} that another key has received meanwhile`,
    async () => {
      const owner = { provider: "first", origin: null, creator: "key bob" };
      let account = "";
      const calls = nativeGateway(twoKeys() + PROVIDERS, async ({ method }) => {
        if (method !== "DELETE") return { body: KINDS[type].resource("x-1") };
        await stored(ownerStore(calls.state.objects, type).bind("x-1", { ...owner, account }));
        return { body: { id: "x-1", object: KINDS[type].deleted, deleted: true } };
      });
      await create(calls, type, ADA);
      const binding = await bindingOf(calls, type, "x-1");
      assert(binding?.kind === "bound");
      account = binding.owner.account;
      assertEquals((await calls.delete(`${path}/x-1`, ADA)).status, 200);
      assertEquals(refusalOf(await calls.get(`${path}/x-1`, BOB)), notFound);
      assert(await bindingOf(calls, type, "x-1") !== null);
    },
  );
}

/** An object that a request may refer to, and the error when it does not exist for its caller. */
const REFERENCES: readonly (readonly [JsonObject, readonly unknown[]])[] = [
  [
    { previous_response_id: "x-1" },
    [400, "previous_response_not_found", "previous_response_id"],
  ],
  [{ conversation: "x-1" }, [404, "conversation_not_found", "conversation"]],
  [{ conversation: { id: "x-1" } }, [404, "conversation_not_found", "conversation"]],
];

testOverStores("no request may continue or join what another key has created", async () => {
  const calls = gateway();
  await create(calls, "response", ADA);
  await create(calls, "conversation", ADA);
  const requests = calls.requests.length;
  for (const path of ["", "/compact", "/input_tokens"]) {
    for (const [refers, expected] of REFERENCES) {
      for (const named of [{}, naming("first")]) {
        const body = { model: "m", input: "Hi", ...refers };
        const answer = await calls.post(`/responses${path}`, body, { ...BOB, ...named });
        assertEquals(refusalOf(answer), expected, `${path} ${JSON.stringify(refers)}`);
      }
    }
  }
  assertEquals(calls.requests.length, requests);
  const own = { model: "m", input: "Hi", previous_response_id: "x-1", store: false };
  assertEquals((await calls.post("/responses", own, ADA)).status, 200);
});
