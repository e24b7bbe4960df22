import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { newReplicas, type Replica } from "../support/replicas.ts";
import { objectsAt, textAt } from "../support/state_call.ts";
import { sharedValkeyServer, until, valkeyTest } from "../support/valkey_server.ts";

const server = await sharedValkeyServer();

/** Returns the section `state` with this prefix of keys. */
function stateSection(prefix: string): string {
  return `state: {store: valkey, required: true, valkey: {url: "${server.url}", prefix: ${prefix}, timeout: 20s}}`;
}

/** A client that sends each request to the next replica in turn. */
interface Client {
  /** True if no request to the replica is in flight. */
  isIdle(replica: Replica): boolean;
  /** Continues the dialogue by one turn. */
  respond(): Promise<void>;
  /** Adds a turn to the conversation. */
  converse(): Promise<void>;
  readonly responses: readonly string[];
  readonly conversation: string;
  readonly turns: number;
}

async function newClient(replicas: Replica[]): Promise<Client> {
  let sent = 0;
  let turns = 0;
  const responses: string[] = [];
  const busy = new Map<Replica, number>();
  const post: Replica["post"] = async (path, body) => {
    const replica = replicas[sent++ % replicas.length];
    assert(replica !== undefined);
    busy.set(replica, (busy.get(replica) ?? 0) + 1);
    const reply = await replica.post(path, body);
    busy.set(replica, (busy.get(replica) ?? 0) - 1);
    return reply;
  };
  const conversation = textAt((await post("/conversations")).json, "id");
  return {
    isIdle: (replica) => (busy.get(replica) ?? 0) === 0,
    responses,
    conversation,
    get turns() {
      return turns;
    },
    async respond() {
      const previous = responses.at(-1);
      const reply = await post("/responses", {
        model: "sim-echo",
        input: `turn ${responses.length}`,
        ...previous && { previous_response_id: previous },
      });
      assertEquals(reply.status, 200, reply.text);
      responses.push(textAt(reply.json, "id"));
    },
    async converse() {
      const body = { model: "sim-echo", input: `said ${turns}`, conversation, store: false };
      const reply = await post("/responses", body);
      assertEquals(reply.status, 200, reply.text);
      turns += 1;
    },
  };
}

/** The number of turns that must end while a replica is drained or started. */
const MIN_TURNS = 2;

valkeyTest(
  "a rolling restart of three replicas fails no request and loses no response",
  async () => {
    await using replicas = newReplicas(stateSection("rolling"));
    const running = [await replicas.start(), await replicas.start(), await replicas.start()];
    const client = await newClient(running);
    let isOver = false;

    async function repeat(step: () => Promise<void>): Promise<void> {
      while (!isOver) await step();
    }

    /** Waits until both loops of the client have ended some more turns. */
    async function go(): Promise<void> {
      const [responses, turns] = [client.responses.length + MIN_TURNS, client.turns + MIN_TURNS];
      await until(() => client.responses.length >= responses && client.turns >= turns);
    }

    const loops = Promise.all([repeat(client.respond), repeat(client.converse)]);
    const restarts = (async () => {
      try {
        for (let count = 0; count < 3; count++) {
          await go();
          // The balancer takes a replica out before it is drained, as readiness does. A connection
          // that is made while the listener closes is never served, so it waits for those on their
          // way.
          const [oldest] = running.splice(0, 1);
          assert(oldest !== undefined);
          await until(() => client.isIdle(oldest));
          const closing = oldest.close();
          await go();
          await closing;
          running.push(await replicas.start());
        }
        await go();
      } finally {
        isOver = true;
      }
    })();
    await Promise.all([loops, restarts]);
    const texts = client.responses.map((_, turn) => `turn ${turn}`);
    for (const replica of running) {
      for (const [turn, id] of client.responses.entries()) {
        const found = await replica.get(`/responses/${id}`);
        const [message = {}] = objectsAt(found.json, "output");
        assertEquals([found.status, objectsAt(message, "content")[0]?.text], [200, texts[turn]]);
      }
      const path = `/conversations/${client.conversation}/items?limit=100`;
      const { json } = await replica.get(path);
      const count = Math.min(100, 2 * client.turns);
      assertEquals(objectsAt(json, "data").length, count);
      assertEquals(json.has_more, 2 * client.turns > 100);
    }
  },
);

valkeyTest(
  "a request that runs while its replica is drained ends, and its response is stored",
  async () => {
    await using replicas = newReplicas(stateSection("drained"));
    const [a, b] = [await replicas.start(), await replicas.start()];
    const body = JSON.stringify({ model: "sim-slow-1", input: "one two three", stream: true });
    const { body: stream } = await a.send("/v1/responses", { method: "POST", body });
    assert(stream !== null);
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader.read()).value ?? "";
    const closing = a.close();
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    await closing;
    assertMatch(text, /event: response\.completed/);
    const found = await b.get(`/responses/${/"id":"(resp_[^"]+)"/.exec(text)?.[1]}`);
    assertEquals([found.status, found.json.status], [200, "completed"]);
  },
);

valkeyTest(
  "a record of a newer version is 503 state_unreadable, and the replica continues",
  async () => {
    await using replicas = newReplicas(stateSection("newer"));
    const replica = await replicas.start();
    const create = { model: "sim-echo", input: "one" };
    const made = textAt((await replica.post("/responses", create)).json, "id");
    const script = String.raw`
for _, key in ipairs(redis.call('KEYS', '*newer*:2:response:b:*')) do redis.call('SETRANGE', key, 0, '\127') end`;
    await server.command("EVAL", script, "0");
    const found = await replica.get(`/responses/${made}`);
    assertEquals([found.status, found.error.code], [503, "state_unreadable"]);
    assertEquals(found.headers.get("retry-after"), null);
    const next = { ...create, previous_response_id: made };
    const continued = await replica.post("/responses", next);
    assertEquals([continued.status, continued.error.code], [503, "state_unreadable"]);
    assertEquals((await replica.post("/responses", create)).status, 200);
    assertEquals(await replica.metric("gateway_state_up"), 1);
  },
);
