import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { MESSAGES } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { newReplicas, type Replica } from "../support/replicas.ts";
import { startValkeyServer, until, valkeyTest } from "../support/valkey_server.ts";
import { OWNED_KINDS, type OwnedKind, ownersConfig } from "./owned_kinds.ts";

const ADA = keyOf("ada"), BOB = keyOf("bob");
const SECURITY = `security: {enabled: true, api_key: {keys: [
  {name: ada, value: key-of-ada}, {name: bob, value: key-of-bob},
  {name: cleo, value: key-of-cleo, budgets: [{per: month, tokens: 1000000}]}]}}`;
const CHAT = { model: "sim-echo", ...MESSAGES };

interface Kept {
  readonly kind: OwnedKind;
  readonly id: string;
}

async function created(replica: Replica, kinds: readonly OwnedKind[]): Promise<readonly Kept[]> {
  const kept: Kept[] = [];
  for (const kind of kinds) kept.push({ kind, id: await kind.create(replica, ADA) });
  return kept;
}

async function charge(replica: Replica): Promise<void> {
  assertEquals((await replica.post("/chat/completions", CHAT, keyOf("cleo"))).status, 200);
}

/** Returns the tokens that the key `cleo` has used, as this replica knows it. */
async function spentAt(replica: Replica): Promise<number> {
  const { headers } = await replica.get("/models", keyOf("cleo"));
  return Number(/tokens (\d+)/.exec(headers.get("x-gateway-budget") ?? "")?.[1]);
}

valkeyTest(
  "during an outage nobody gets an object, and after it each key has its own and is charged once",
  async () => {
    const server = await startValkeyServer();
    const world = newRealWorld();
    const simulator = newSimulator(world);
    let arrived = () => {};
    let held: Promise<void> | null = null;
    const state = `state: {store: valkey, valkey: {url: "${server.url}", timeout: 300ms}}`;
    {
      await using replicas = newReplicas(`${state}\n${SECURITY}`, {
        providers: ownersConfig,
        async upstream(request) {
          arrived();
          if (request.method === "POST") await held;
          return await simulator(request);
        },
      });
      const [a, b] = [await replicas.start(), await replicas.start()];
      await charge(a);
      await until(async () => await spentAt(b) > 0);
      const perCall = await spentAt(b);
      const before = await created(a, OWNED_KINDS);

      // Calls that are at the provider when the store leaves.
      const running = OWNED_KINDS.filter(({ name }) => name !== "conversation" && name !== "batch");
      const release = Promise.withResolvers<void>();
      held = release.promise;
      let count = running.length;
      const all = new Promise<void>((resolve) => {
        arrived = () => void (--count === 0 && resolve());
      });
      const making = running.map((kind) => created(a, [kind]));
      await all;
      arrived = () => {};
      await server.pause();
      release.resolve();
      const during = (await Promise.all(making)).flat();
      held = null;
      await until(() => !a.isStoreUp() && !b.isStoreUp());

      const sent = replicas.requests.length;
      for (const { kind, id } of before) {
        for (const [use, key] of kind.uses.flatMap((one) => [[one, ADA], [one, BOB]] as const)) {
          const { status, error, headers } = await use(a, id, key);
          const found = [status, error.code, headers.get("retry-after")];
          assertEquals(found, [503, "state_unavailable", "1"], kind.name);
        }
        const made = await kind.create(a, ADA).catch((refused: Error) => refused.message);
        assert(made.includes("state_unavailable"), `${kind.name}: ${made}`);
      }
      assertEquals(replicas.requests.length, sent);
      for (const { kind, id } of during) {
        const [use] = kind.uses;
        const statuses = [
          await use?.(a, id, ADA),
          await use?.(a, id, BOB),
          await use?.(b, id, BOB),
        ];
        assertEquals(statuses[1]?.status, 404, kind.name);
        assertEquals(statuses[2]?.status, 503, kind.name);
        assertEquals(statuses[0]?.status, 200, kind.name);
      }
      assertEquals((await a.post("/chat/completions", CHAT, ADA)).status, 200);
      for (const replica of [a, a, b]) await charge(replica);

      server.resume();
      await until(async () =>
        a.isStoreUp() && b.isStoreUp() && await a.metric("gateway_state_pending_writes") === 0
      );
      for (const { kind, id } of [...before, ...during]) {
        const requests = replicas.requests.length;
        for (const use of kind.uses) assertEquals((await use(b, id, BOB)).status >= 400, true);
        assertEquals(replicas.requests.length, requests, kind.name);
        const [use] = kind.uses;
        assertEquals((await use?.(b, id, ADA))?.status, 200, kind.name);
      }
      for (const replica of [a, b]) {
        await until(async () => {
          const spent = await spentAt(replica);
          assert(spent <= perCall * 4, `${spent} tokens are charged for four calls`);
          return spent === perCall * 4;
        });
      }
    }
    world.close();
    await server.close();
  },
);
