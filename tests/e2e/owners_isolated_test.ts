import type { JsonObject } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";
import { keyOf } from "../support/client_keys.ts";
import { newReplicas, type Replica, type Replicas } from "../support/replicas.ts";
import { objectsAt } from "../support/state_call.ts";
import { sharedValkeyServer, valkeyTest } from "../support/valkey_server.ts";
import { naming, OWNED_KINDS, type OwnedKind, ownersConfig, type Sent } from "./owned_kinds.ts";

const server = await sharedValkeyServer();

const STORES = ["memory", "sqlite", "valkey"] as const;
type Store = typeof STORES[number];

const ADA = keyOf("ada"), BOB = keyOf("bob"), CLEO = keyOf("cleo"), DAN = keyOf("dan");

/** The keys of two clients, and two keys that adopt objects of unknown owner. */
const SECURITY = `security: {enabled: true, api_key: {keys: [
  {name: ada, value: key-of-ada}, {name: bob, value: key-of-bob},
  {name: cleo, value: key-of-cleo, adopt_unknown: true},
  {name: dan, value: key-of-dan, adopt_unknown: true}]}}`;

const SEVERAL = { able: ["sim", "second"], talks: true };

let tests = 0;

/** Registers a test that is run once over each store. */
function testOwners(
  name: string,
  run: (replicas: Replicas, store: Store) => Promise<void>,
  { more = "", several = false } = {},
): void {
  for (const store of STORES) {
    const register = store === "valkey" ? valkeyTest : Deno.test;
    register(`${name} (store ${store})`, async () => {
      const folder = await Deno.makeTempDir({ prefix: "switchyard-owners-" });
      const settings = {
        memory: "",
        sqlite: `, sqlite: {path: "${folder}/state.db"}`,
        valkey: `, valkey: {url: "${server.url}", prefix: owners-${++tests}, timeout: 20s}`,
      };
      const state = `state: {store: ${store}${settings[store]}${more}}\n${SECURITY}`;
      const providers = (url: string) => ownersConfig(url, several ? SEVERAL : {});
      await using replicas = newReplicas(state, { providers });
      await run(replicas, store);
      await Deno.remove(folder, { recursive: true });
    });
  }
}

async function idsIn(replica: Replica, { path }: OwnedKind, headers: Sent) {
  const list = await replica.get(path, headers);
  assertEquals(list.status, 200, list.text);
  return objectsAt(list.json, "data").map(({ id }) => id);
}

/** Checks that a key gets for an ID what it gets for one that never was, from no provider. */
async function checkUnknown(
  replicas: Replicas,
  replica: Replica,
  { name, uses }: OwnedKind,
  id: string,
  key: Sent,
): Promise<void> {
  const requests = replicas.requests.length;
  for (const [index, use] of uses.entries()) {
    for (const named of [{}, naming("sim"), naming("plain"), naming("ghost")]) {
      const found = await use(replica, id, { ...key, ...named });
      const never = await use(replica, id.replace(/.$/, "_never"), { ...key, ...named });
      const about = `${name}, use ${index}, ${JSON.stringify(named)}: ${found.text}`;
      assertEquals([found.status, found.text], [never.status, never.text], about);
      assertEquals(found.status >= 400 && found.status < 500, true, about);
      assertEquals(found.text.includes("X-Gateway-Provider"), false, about);
    }
  }
  assertEquals(replicas.requests.length, requests, name);
}

/** Checks that a key still has an object, by using it up. */
async function checkOwn(
  replica: Replica,
  { name, uses }: OwnedKind,
  id: string,
  key: Sent,
): Promise<void> {
  for (const [index, use] of uses.entries()) {
    const { status, text } = await use(replica, id, key);
    const isFine = status < 300 || (status === 400 && text.includes("cancel"));
    assertEquals(isFine, true, `${name}, use ${index}: ${status} ${text}`);
  }
}

for (const several of [false, true]) {
  testOwners(
    `no request of a key reaches an object of another one, with ${several ? "two" : "one"} capable`,
    async (replicas) => {
      const replica = await replicas.start();
      const by = several ? { ...ADA, ...naming("sim") } : ADA;
      for (const kind of OWNED_KINDS) {
        const id = await kind.create(replica, by);
        await checkUnknown(replicas, replica, kind, id, BOB);
        if (kind.isListed) {
          const named = several ? naming("sim") : {};
          assertEquals(await idsIn(replica, kind, { ...BOB, ...named }), []);
          assertEquals((await idsIn(replica, kind, by)).includes(id), true);
        }
        await checkOwn(replica, kind, id, ADA);
      }
    },
    { several },
  );
}

testOwners(
  "no flood of one key makes the gateway forget the objects of another one",
  async (replicas, store) => {
    const replica = await replicas.start();
    const kept: { readonly kind: OwnedKind; readonly id: string }[] = [];
    for (const kind of OWNED_KINDS) kept.push({ kind, id: await kind.create(replica, ADA) });
    for (const kind of OWNED_KINDS) {
      // With this bound there is room for 400 files, batches and uploads, and 8 of each other type.
      // Each store is flooded with owners of the former in tests/store/conformance.
      const count = store === "memory" && kind.path === "/uploads" ? 410 : 20;
      for (let made = 0; made < count; made++) await kind.create(replica, BOB);
    }
    for (const { kind, id } of kept) {
      await checkUnknown(replicas, replica, kind, id, BOB);
      await checkOwn(replica, kind, id, ADA);
    }
  },
  { more: ", max_entries: 8" },
);

testOwners(
  "after a restart a key has its objects again if the store outlives it, and no other key has them",
  async (replicas, store) => {
    const first = await replicas.start();
    const kept: { readonly kind: OwnedKind; readonly id: string }[] = [];
    for (const kind of OWNED_KINDS) kept.push({ kind, id: await kind.create(first, ADA) });
    if (store !== "valkey") await first.close();
    const second = await replicas.start();
    for (const { kind, id } of kept) {
      await checkUnknown(replicas, second, kind, id, BOB);
      if (store !== "memory") await checkOwn(second, kind, id, ADA);
      else if (!kind.isLocal) {
        await checkUnknown(replicas, second, kind, id, ADA);
        if (kind.isListed) {
          assertEquals(await idsIn(second, kind, ADA), []);
          assertEquals((await idsIn(second, kind, CLEO)).includes(id), true, kind.name);
        }
        // A key that adopts what has no owner uses it, and does not become its owner.
        const [use] = kind.uses;
        for (const key of [CLEO, DAN]) {
          const used = await use?.(second, id, { ...key, ...naming("sim") });
          assertEquals(used?.status, 200, `${kind.name}: ${used?.text}`);
        }
        await checkUnknown(replicas, second, kind, id, ADA);
        await checkOwn(second, kind, id, { ...DAN, ...naming("sim") });
      }
    }
  },
);

testOwners(
  "a reference that only a provider would read, by a name in another case or as a list, is refused",
  async (replicas) => {
    const replica = await replicas.start();
    const batch = { endpoint: "/v1/embeddings", completion_window: "24h" };
    const response = { model: "sim-echo", input: "x" };
    const bodies: readonly (readonly [path: string, body: JsonObject])[] = [
      ["/batches", { ...batch, Input_File_ID: "file-1" }],
      ["/batches", { ...batch, input_file_id: ["file-1"] }],
      ["/responses", { ...response, Previous_Response_Id: "resp_1" }],
      ["/responses", { ...response, CONVERSATION: { id: "conv_1" } }],
      ["/responses/input_tokens", { ...response, converſation: "conv_1" }],
      ["/responses/compact", { ...response, previous_response_id: ["resp_1"] }],
      ["/responses/compact", { ...response, conversation: ["conv_1"] }],
    ];
    for (const [path, body] of bodies) {
      const refused = await replica.post(path, body, BOB);
      assertEquals(refused.status, 400, `${path} ${JSON.stringify(body)} ${refused.text}`);
    }
    assertEquals(replicas.requests.length, 0);
  },
);
