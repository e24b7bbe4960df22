import { assert, assertEquals } from "../../../support/assert.ts";
import { CLOCKED_STORES, testOverStores } from "../../../support/over_stores.ts";
import { bindingOf, stored } from "../../../support/object_store.ts";
import {
  naming,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  responseOf,
} from "../../../support/native_gateway.ts";
import { refusalOf, type Reply } from "../../../support/state_call.ts";

const CAN = ["responses_lifecycle", "response_cancellation"];
const TWO = nativeConfig({ first: { can: CAN }, second: { can: CAN } });
const CHANGED = nativeConfig({ first: { can: CAN, key: "sk-new" }, second: { can: CAN } });
const MINUTE_MS = 60_000;

/** Two accounts that both give each first response the id `resp_1`, and delete it on request. */
function gateway(config = TWO): NativeGateway {
  return nativeGateway(config, ({ method, path, json }) => {
    if (json.previous_response_id !== undefined) return { body: responseOf("resp_9") };
    if (path.endsWith("/input_items")) return { body: { object: "list", data: [] } };
    return {
      body: method === "DELETE"
        ? { id: "resp_1", object: "response", deleted: true }
        : responseOf("resp_1"),
    };
  });
}

function create(calls: NativeGateway, provider: string): Promise<Reply> {
  return calls.post("/responses", { model: "m", input: "x" }, naming(provider));
}

/** Every call that uses the id without a provider, with the parameter that its error names. */
const IMPLICIT: readonly (readonly [
  param: string,
  send: (calls: NativeGateway, headers?: Readonly<Record<string, string>>) => Promise<Reply>,
])[] = [
  ["response_id", (calls, headers) => calls.get("/responses/resp_1", headers)],
  ["response_id", (calls, headers) => calls.get("/responses/resp_1?stream=true", headers)],
  ["response_id", (calls, headers) => calls.get("/responses/resp_1/input_items", headers)],
  ["response_id", (calls, headers) => calls.post("/responses/resp_1/cancel", "", headers)],
  ["response_id", (calls, headers) => calls.delete("/responses/resp_1", headers)],
  [
    "previous_response_id",
    (calls, headers) =>
      calls.post("/responses", { model: "m", input: "x", previous_response_id: "resp_1" }, headers),
  ],
];

/** Asserts that each implicit call is refused with this code and sends nothing upstream. */
async function assertRefused(calls: NativeGateway, code: string): Promise<void> {
  const requests = calls.requests.length;
  for (const [param, send] of IMPLICIT) {
    assertEquals(refusalOf(await send(calls)), [400, code, param]);
  }
  assertEquals(calls.requests.length, requests);
}

testOverStores(
  "an ID that two accounts have returned is a conflict for every request without a provider header",
  async () => {
    const calls = gateway();
    await create(calls, "first");
    await create(calls, "first");
    assertEquals((await calls.get("/responses/resp_1")).status, 200);
    await create(calls, "second");
    await assertRefused(calls, "provider_binding_conflict");
  },
);

testOverStores("a header reaches either account of a conflict and never ends it", async () => {
  const calls = gateway();
  await create(calls, "first");
  await create(calls, "second");
  for (const provider of ["first", "second"]) {
    for (const [, send] of IMPLICIT) {
      await send(calls, naming(provider));
      assertEquals(calls.requests.at(-1)?.host, provider);
    }
  }
  assertEquals((await bindingOf(calls, "response", "resp_1"))?.kind, "conflict");
  await assertRefused(calls, "provider_binding_conflict");
});

testOverStores(
  "a conflict ends after 30 minutes; then a header is needed, and a new create binds",
  async () => {
    const calls = gateway();
    await create(calls, "first");
    await create(calls, "second");
    await calls.world.advance(30 * MINUTE_MS - 1);
    assertEquals((await calls.get("/responses/resp_1")).error.code, "provider_binding_conflict");
    await calls.world.advance(1);
    const unknown = await calls.get("/responses/resp_1");
    assertEquals(refusalOf(unknown), [404, "response_not_found", "response_id"]);
    assertEquals((await calls.get("/responses/resp_1", naming("second"))).status, 200);
    await create(calls, "second");
    await calls.get("/responses/resp_1");
    assertEquals(calls.requests.at(-1)?.host, "second");
  },
  CLOCKED_STORES,
);

testOverStores(
  "a binding expires 30 minutes after its creation, however often it is used",
  async () => {
    const calls = gateway();
    await create(calls, "first");
    await calls.world.advance(20 * MINUTE_MS);
    await create(calls, "first");
    assertEquals((await calls.get("/responses/resp_1")).status, 200);
    await calls.world.advance(10 * MINUTE_MS);
    const requests = calls.requests.length;
    for (const [param, send] of IMPLICIT) {
      const [status, code] = param === "response_id"
        ? [404, "response_not_found"]
        : [400, "previous_response_not_found"];
      assertEquals(refusalOf(await send(calls)), [status, code, param]);
    }
    assertEquals(calls.requests.length, requests);
    for (const [, send] of IMPLICIT) {
      await send(calls, naming("first"));
      assertEquals(calls.requests.at(-1)?.host, "first");
    }
  },
  CLOCKED_STORES,
);

testOverStores(
  "a changed account is stale for implicit calls until it is changed back",
  async () => {
    const accounts = [
      CHANGED,
      TWO.replace('base_url: "http://first"', 'base_url: "http://other"'),
      TWO.replace("api_key: sk-first", "api_key: sk-first, organization: o"),
      TWO.replace("api_key: sk-first", "headers: {api-key: k}"),
      TWO.replaceAll("first", "renamed"),
    ];
    for (const changed of accounts) {
      assert(changed !== TWO);
      const calls = gateway();
      await create(calls, "first");
      calls.reload(changed);
      await assertRefused(calls, "provider_binding_stale");
      calls.reload(TWO.replace("api_key: sk-first", "api_key: sk-first, timeout: 5s"));
      assertEquals((await calls.get("/responses/resp_1")).status, 200);
    }
  },
);

testOverStores("a header reaches the owner of a stale id, and only the owner", async () => {
  const calls = gateway();
  await create(calls, "first");
  calls.reload(CHANGED);
  const requests = calls.requests.length;
  for (const [, send] of IMPLICIT) {
    const other = await send(calls, naming("second"));
    assertEquals(refusalOf(other), [400, "invalid_value", "provider"]);
  }
  assertEquals(calls.requests.length, requests);
  for (const [, send] of IMPLICIT) {
    await send(calls, naming("first"));
    assertEquals(calls.requests.at(-1)?.host, "first");
    assertEquals(calls.requests.at(-1)?.headers.get("authorization"), "Bearer sk-new");
  }
  await assertRefused(calls, "provider_binding_stale");
});

testOverStores(
  "an owner that is renamed is reached under its new name, and no other account is",
  async () => {
    const calls = gateway();
    await create(calls, "first");
    const renamed = TWO.replaceAll("first", "renamed").replace(
      '"http://renamed"',
      '"http://first"',
    );
    const same = renamed.replace("sk-renamed", "sk-first");
    calls.reload(same);
    await assertRefused(calls, "provider_binding_stale");
    const requests = calls.requests.length;
    for (const [config, name] of [[same, "second"], [renamed, "renamed"]] as const) {
      calls.reload(config);
      for (const [, send] of IMPLICIT) {
        const answer = await send(calls, naming(name));
        assertEquals(refusalOf(answer), [400, "invalid_value", "provider"]);
      }
    }
    assertEquals(calls.requests.length, requests);
    calls.reload(same);
    for (const [, send] of IMPLICIT) await send(calls, naming("renamed"));
    const keys = calls.requests.slice(requests).map(({ headers }) => headers.get("authorization"));
    assertEquals(keys, IMPLICIT.map(() => "Bearer sk-first"));
  },
);

testOverStores(
  "the new account of a provider that returns a stale id makes a conflict",
  async () => {
    const calls = gateway();
    await create(calls, "first");
    calls.reload(CHANGED);
    await create(calls, "first");
    await assertRefused(calls, "provider_binding_conflict");
  },
);

testOverStores(
  "naming another provider than the owner is refused, by header and by model",
  async () => {
    const calls = gateway();
    await create(calls, "first");
    const requests = calls.requests.length;
    for (const headers of [naming("second"), { "x-gateway-model": "second/m" }]) {
      for (const [, send] of IMPLICIT) {
        const answer = await send(calls, headers);
        assertEquals(refusalOf(answer), [400, "invalid_value", "provider"]);
      }
    }
    const unknown = await calls.get("/responses/resp_1", naming("nobody"));
    assertEquals(refusalOf(unknown), [400, "provider_not_found", "provider"]);
    assertEquals(calls.requests.length, requests);
  },
);

testOverStores("a deletion at a named provider removes no binding of another account", async () => {
  const calls = gateway();
  await create(calls, "first");
  calls.reload(CHANGED);
  assertEquals((await calls.delete("/responses/resp_1", naming("first"))).status, 200);
  assertEquals((await bindingOf(calls, "response", "resp_1"))?.kind, "bound");
  await assertRefused(calls, "provider_binding_stale");
});

testOverStores("a conflict that arises during the deletion of a response stays", async () => {
  const calls = nativeGateway(TWO, async ({ host, method }) => {
    if (method !== "DELETE") return { body: responseOf("resp_1") };
    const other = { provider: "second", account: "other", origin: null, creator: null };
    await stored(calls.state.objects.responses.bind("resp_1", other));
    return { body: { id: "resp_1", object: "response", deleted: host === "first" } };
  });
  await create(calls, "first");
  assertEquals((await calls.delete("/responses/resp_1")).status, 200);
  await assertRefused(calls, "provider_binding_conflict");
});
