import { newSimulator } from "../../src/simulator/simulator.ts";
import { assertEquals } from "../support/assert.ts";
import { keyOf, twoKeys } from "../support/client_keys.ts";
import { CLOCKED_STORES, testOverStores } from "../support/over_stores.ts";
import { type SocketGateway, socketGateway } from "../support/socket_gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { refusalOf, type Reply, type StateCalls, stateCalls } from "../support/state_call.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";
import { naming, OWNED_KINDS, type OwnedKind, ownersConfig } from "./owned_kinds.ts";

const ADA = keyOf("ada"), BOB = keyOf("bob");
const HOUR_MS = 60 * 60 * 1000;
const SHARED = twoKeys(", isolate_clients: false");
const URL_OF_SIMULATOR = "http://sim.example";

interface Calls extends StateCalls {
  readonly world: ScriptedWorld;
  readonly gateway: SocketGateway;
  /** Sends a request to the simulator as a provider's account does, past the gateway. */
  direct(provider: string, path: string, body: string): Promise<Reply>;
}

/** Runs a test with a gateway on a socket, whose clock and providers are scripted. */
async function withGateway(config: string, run: (calls: Calls) => Promise<void>): Promise<void> {
  const simulator = newSimulator(scriptedWorld());
  const world = scriptedWorld({
    async fetch(url, init) {
      const response = await simulator(new Request(url, init));
      return new Response(streamOf([await response.bytes()]), response);
    },
  });
  await using gateway = socketGateway(config, { world });
  const client = Deno.createHttpClient({});
  const sendTo = (url: string) =>
    stateCalls(async (request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const body = method === "POST" ? await request.text() : null;
      const init = { method, headers, body };
      return url === gateway.url
        ? await fetch(url + pathname + search, { ...init, client })
        : await simulator(new Request(url + pathname + search, init));
    });
  await run({
    ...sendTo(gateway.url),
    world,
    gateway,
    direct: (provider, path, body) =>
      sendTo(`${URL_OF_SIMULATOR}/compat`).post(path, body, {
        authorization: `Bearer sk-${provider}`,
      }),
  });
  client.close();
}

function kindOf(name: string): OwnedKind {
  const kind = OWNED_KINDS.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`there is no kind ${name}`);
  return kind;
}

testOverStores(
  "the owner of a file, batch or upload lasts 720 hours after its last use, of others half an hour",
  async () => {
    await withGateway(twoKeys() + ownersConfig(URL_OF_SIMULATOR), async (calls) => {
      const { world } = calls;
      const lasting = ["file", "batch"].map(kindOf), short = kindOf("stored completion");
      const made = new Map<OwnedKind, string>();
      for (const kind of [...lasting, short]) made.set(kind, await kind.create(calls, ADA));
      const idle = await kindOf("file").create(calls, ADA);
      const use = async (kind: OwnedKind, key: typeof ADA) =>
        (await kind.uses[0]?.(calls, made.get(kind) ?? "", key))?.status;
      await world.advance(HOUR_MS / 2);
      assertEquals(await use(short, ADA), 404);
      for (let use719 = 0; use719 < 2; use719++) {
        await world.advance(719 * HOUR_MS);
        for (const kind of lasting) {
          assertEquals([await use(kind, ADA), await use(kind, BOB)], [200, 404]);
        }
      }
      // A list is no use, and what it leaves out has no owner any more.
      const list = await calls.get("/files", ADA);
      assertEquals(
        [list.text.includes(made.get(kindOf("file")) ?? "?"), list.text.includes(idle)],
        [
          true,
          false,
        ],
      );
      await world.advance(720 * HOUR_MS);
      for (const kind of lasting) {
        assertEquals([await use(kind, ADA), await use(kind, BOB)], [404, 404]);
      }
    });
  },
  CLOCKED_STORES,
);

const UPLOAD = '{"filename": "a", "purpose": "batch", "bytes": 1, "mime_type": "text/plain"}';

testOverStores(
  "without isolation an unknown ID goes to the only capable account, or to the provider that is named",
  async () => {
    for (const able of [["sim"], ["sim", "second"]]) {
      const providers = ownersConfig(URL_OF_SIMULATOR, { able });
      await withGateway(SHARED + providers, async (calls) => {
        const { id } = (await calls.direct("sim", "/uploads", UPLOAD)).json;
        const path = `/uploads/${id}/cancel`;
        const unnamed = await calls.post(path, "", BOB);
        if (able.length === 1) assertEquals(unnamed.status, 200);
        else {
          assertEquals(refusalOf(unnamed), [404, "object_not_found", "upload_id"]);
          assertEquals(unnamed.text.includes("X-Gateway-Provider"), true);
        }
        assertEquals((await calls.post(path, "", { ...BOB, ...naming("sim") })).status, 200);
        // Who has used it is not its owner.
        calls.gateway.reload(twoKeys() + providers);
        for (const key of [ADA, BOB, { ...BOB, ...naming("sim") }]) {
          const refused = await calls.post(path, "", key);
          assertEquals(refusalOf(refused), [404, "object_not_found", "upload_id"]);
          assertEquals(refused.text.includes("X-Gateway-Provider"), false);
        }
      });
    }
  },
);

testOverStores(
  "without isolation every key uses the objects of every other one, whose owner stays who made it",
  async () => {
    const providers = ownersConfig(URL_OF_SIMULATOR);
    await withGateway(SHARED + providers, async (calls) => {
      for (const kind of OWNED_KINDS) {
        const id = await kind.create(calls, ADA);
        const [use] = kind.uses;
        assertEquals((await use?.(calls, id, BOB))?.status, 200, kind.name);
        calls.gateway.reload(twoKeys() + providers);
        assertEquals((await use?.(calls, id, BOB))?.status, 404, kind.name);
        assertEquals((await use?.(calls, id, ADA))?.status, 200, kind.name);
        calls.gateway.reload(SHARED + providers);
      }
    });
  },
);
