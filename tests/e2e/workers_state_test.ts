import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { startValkeyServer, valkeyTest } from "../support/valkey_server.ts";
import { openSocketClient } from "../support/socket_client.ts";
import { type RunningWorkers, twoWorkers, withWorkers } from "./running_workers.ts";

const REQUEST_COUNT = 24;

const KEYS = `
security:
  enabled: true
  api_key:
    keys:
      - {name: a, value: key-of-client-a}
      - {name: b, value: key-of-client-b}
`;

/**
 * Each worker begins with its share of the burst, and gets the next request after half a minute.
 */
const RATES = "rate_limiting: {enabled: true, requests_per_minute: 2, burst_size: 6}\n";

type Client = "a" | "b" | "c" | "d" | "e";

function keyOf(client: Client) {
  return { authorization: `Bearer key-of-client-${client}` };
}

function post(client: Client, body: unknown): RequestInit {
  return { method: "POST", headers: keyOf(client), body: JSON.stringify(body) };
}

/** Sends a request on many new connections at once, so that all workers get some. */
function sendMany({ send }: RunningWorkers, path: string, init: RequestInit) {
  return Promise.all(Array.from({ length: REQUEST_COUNT }, () => send(path, init)));
}

async function admitted(running: RunningWorkers, client: Client): Promise<number> {
  const chat = { model: "sim-echo", messages: [{ role: "user", content: "hello" }] };
  const responses = await sendMany(running, "/v1/chat/completions", post(client, chat));
  for (const worker of [1, 2]) {
    await running.logged(new RegExp(`path=/v1/chat/completions .* worker=${worker}\n`));
  }
  const statuses = responses.map(({ status }) => status);
  assertEquals(statuses.filter((status) => status !== 200 && status !== 429), []);
  return statuses.filter((status) => status === 200).length;
}

async function stop(running: RunningWorkers): Promise<void> {
  running.child.kill("SIGTERM");
  assertEquals((await running.ended())[0], 0);
}

const LIMITED_KEYS = `${KEYS}
      - {name: c, value: key-of-client-c, max_concurrent: 5}
      - {name: d, value: key-of-client-d, budgets: [{per: month, tokens: 20}]}
      - {name: e, value: key-of-client-e, requests_per_minute: 2}
rate_limiting: {enabled: true, requests_per_minute: 100000000, burst_size: 6}
`;

valkeyTest(
  "with state.store valkey rates, owners, continuations, concurrent calls and budgets hold exactly over all workers, also when the worker of a socket was killed",
  async () => {
    const server = await startValkeyServer();
    const store = `state: {store: valkey, valkey: {url: "${server.url}"}}`;
    await withWorkers(twoWorkers("", `${store}\n${LIMITED_KEYS}`), async (running) => {
      assertEquals(await admitted(running, "e"), 6);
      const first = { model: "sim-echo", input: "hello" };
      const { status, text } = await running.send("/v1/responses", post("a", first));
      assertEquals(status, 200, text);
      const { id } = JSON.parse(text);
      const next = { ...first, previous_response_id: id };
      const path = `/v1/responses/${id}`;
      const continued = await sendMany(running, "/v1/responses", post("a", next));
      assertEquals(continued.filter((one) => one.status !== 200), []);
      const others = await sendMany(running, path, { headers: keyOf("b") });
      assertEquals(new Set(others.map((one) => one.status)), new Set([404]));
      const own = await sendMany(running, path, { headers: keyOf("a") });
      assertEquals(new Set(own.map((one) => one.status)), new Set([200]));
      for (const worker of [1, 2]) {
        await running.logged(
          new RegExp(`method=GET path=${path} status=200 .* worker=${worker}\n`),
        );
      }

      const messages = [{ role: "user", content: "one two three four five six seven eight" }];
      const slow = post("c", { model: "sim-slow-300", messages });
      for (let round = 0; round < 2; round++) {
        const statuses = (await sendMany(running, "/v1/chat/completions", slow))
          .map(({ status }) => status);
        assertEquals(statuses.filter((status) => status === 200).length, 5);
        assertEquals(statuses.filter((status) => status === 429).length, REQUEST_COUNT - 5);
      }
      const body = { model: "sim-echo", messages: [{ role: "user", content: "hello" }] };
      const used: number[] = [];
      while (used.length < 20) {
        const { status, text } = await running.send("/v1/chat/completions", post("d", body));
        if (status === 429) break;
        assertEquals(status, 200, text);
        used.push(JSON.parse(text).usage.total_tokens);
      }
      const [each = 0] = used;
      assertEquals(used.length, Math.ceil(20 / each), `calls of ${each} tokens each`);

      const request = { type: "response.create", model: "sim-echo", input: "hello" };
      await using socket = await openSocketClient(running.url, keyOf("a"));
      const begun = await socket.turn(request);
      const turn = await socket.turn({ ...request, previous_response_id: begun.id });
      assertEquals(turn.ending, "response.completed");
      const last = { model: "sim-echo", input: "on", previous_response_id: turn.id };
      const continuedBy = async () => {
        const sent = await sendMany(running, "/v1/responses", post("a", last));
        return new Set(sent.map(({ status }) => status));
      };
      assertEquals(await continuedBy(), new Set([200]));
      for (const worker of [1, 2] as const) {
        await running.logged(new RegExp(`method=POST path=/v1/responses .* worker=${worker}\n`));
        running.killWorker(worker);
        await running.logged(new RegExp(`worker listens worker=${worker} `), 2);
      }
      assertEquals(await continuedBy(), new Set([200]));
      await stop(running);
    });
    await server.close();
  },
);

Deno.test("with state.store none a rate is divided among the workers, and stored state is refused by name", async () => {
  await withWorkers(twoWorkers("", `state: {store: none}\n${KEYS}${RATES}`), async (running) => {
    assertEquals(await admitted(running, "a"), 6);
    const next = { model: "sim-echo", input: "hello", previous_response_id: "resp_1" };
    const { status, text } = await running.send("/v1/responses", post("b", next));
    assert(status >= 400 && status < 500, `${status}`);
    assertMatch(text, /state\.store/);
    await stop(running);
  });
});
