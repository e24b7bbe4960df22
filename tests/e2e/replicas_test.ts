import type { JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { keyOf, twoKeys } from "../support/client_keys.ts";
import { nativeConfig, responseOf } from "../support/native_gateway.ts";
import { newReplicas, type Replica } from "../support/replicas.ts";
import { openSocketClient } from "../support/socket_client.ts";
import { objectsAt, refusalOf, textAt } from "../support/state_call.ts";
import { sharedValkeyServer, until, valkeyTest } from "../support/valkey_server.ts";

const server = await sharedValkeyServer();

let tests = 0;

/** Returns the section `state`, with a prefix that no other test has. */
function stateSection(more = ""): string {
  const valkey = `{url: "${server.url}", prefix: replicas-${++tests}, timeout: 20s}`;
  return `state: {store: valkey, required: true, valkey: ${valkey}${more}}`;
}

async function created(replica: Replica, body: JsonObject, headers = {}): Promise<JsonObject> {
  const reply = await replica.post("/responses", { model: "sim-echo", ...body }, headers);
  assertEquals(reply.status, 200, reply.text);
  return reply.json;
}

function outputOf(response: JsonObject): unknown {
  return objectsAt(objectsAt(response, "output")[0] ?? {}, "content")[0]?.text;
}

/** Returns the texts of a list, oldest first. */
async function textsAt(replica: Replica, path: string): Promise<readonly unknown[]> {
  const { json } = await replica.get(`${path}?order=asc&limit=100`);
  return objectsAt(json, "data").map((item) => objectsAt(item, "content")[0]?.text);
}

valkeyTest(
  "a response of one replica is retrieved, continued and listed by another, and deleted once",
  async () => {
    await using replicas = newReplicas(stateSection());
    const [a, b] = [await replicas.start(), await replicas.start()];
    const first = await created(a, { input: "one", metadata: { a: "b" } });
    const path = `/responses/${textAt(first, "id")}`;
    assertEquals((await b.get(path)).json, first);
    assertEquals(await textsAt(b, `${path}/input_items`), ["one"]);
    const second = await created(b, { input: "two", previous_response_id: first.id ?? null });
    const third = await created(a, { input: "three", previous_response_id: second.id ?? null });
    assertEquals(outputOf(third), "three");
    assertEquals(
      await textsAt(b, `/responses/${textAt(third, "id")}/input_items`),
      ["one", "one", "two", "two", "three"],
    );
    assertEquals((await b.delete(path)).status, 204);
    const gone = [404, "response_not_found", "response_id"];
    for (const replica of [a, b]) {
      assertEquals(refusalOf(await replica.delete(path)), gone);
      assertEquals(refusalOf(await replica.get(path)), gone);
    }
    assertEquals((await a.get(`/responses/${textAt(third, "id")}`)).json, third);
  },
);

valkeyTest(
  "of concurrent deletes of a response and of a conversation on two replicas, one succeeds",
  async () => {
    await using replicas = newReplicas(stateSection());
    const both = [await replicas.start(), await replicas.start()] as const;
    const response = `/responses/${textAt(await created(both[0], { input: "one" }), "id")}`;
    const conversation = `/conversations/${
      textAt((await both[1].post("/conversations")).json, "id")
    }`;
    for (const path of [response, conversation]) {
      const replies = await Promise.all([...both, ...both].map((replica) => replica.delete(path)));
      const statuses = replies.map(({ status }) => status < 300 ? "deleted" : status);
      assertEquals(statuses.toSorted(), [404, 404, 404, "deleted"], path);
    }
  },
);

valkeyTest(
  "a streamed response is found on another replica when its terminal event has arrived",
  async () => {
    await using replicas = newReplicas(stateSection());
    const [a, b] = [await replicas.start(), await replicas.start()];
    for (let turn = 0; turn < 10; turn++) {
      const body = JSON.stringify({ model: "sim-echo", input: `turn ${turn}`, stream: true });
      const { body: stream } = await a.send("/v1/responses", { method: "POST", body });
      assert(stream !== null);
      let text = "";
      const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
      while (!text.includes("event: response.completed")) text += (await reader.read()).value ?? "";
      const id = /"id":"(resp_[^"]+)"/.exec(text)?.[1];
      const found = await b.get(`/responses/${id}`);
      assertEquals([found.status, outputOf(found.json)], [200, `turn ${turn}`]);
      while (!(await reader.read()).done);
    }
  },
);

valkeyTest(
  "turns of a WebSocket are continued over HTTP by another replica, alone and in a conversation",
  async () => {
    await using replicas = newReplicas(stateSection());
    const [a, b] = [await replicas.start(), await replicas.start()];
    await using socket = await openSocketClient(a.url);
    const turn = { type: "response.create", model: "sim-echo", store: true };
    const first = await socket.turn({ ...turn, input: "one" });
    const second = await socket.turn({ ...turn, input: "two", previous_response_id: first.id });
    const third = await created(b, { input: "three", previous_response_id: second.id });
    assertEquals(
      await textsAt(b, `/responses/${textAt(third, "id")}/input_items`),
      ["one", "one", "two", "two", "three"],
    );
    const conversation = textAt((await b.post("/conversations")).json, "id");
    await created(b, { input: "four", conversation });
    const fifth = await socket.turn({ ...turn, input: "five", conversation });
    assertEquals([fifth.ending, fifth.output], ["response.completed", "five"]);
    const items = ["four", "four", "five", "five"];
    assertEquals(await textsAt(b, `/conversations/${conversation}/items`), items);
  },
);

valkeyTest("item references are resolved by any replica", async () => {
  await using replicas = newReplicas(stateSection());
  const [a, b] = [await replicas.start(), await replicas.start()];
  const first = await created(a, { input: [{ role: "user", content: "mine", id: "item_mine" }] });
  const answerId = textAt(objectsAt(first, "output")[0] ?? {}, "id");
  const input = [
    ...["item_mine", answerId].map((id) => ({ type: "item_reference", id })),
    { role: "user", content: "two" },
  ];
  const second = await created(b, { input });
  assertEquals(
    await textsAt(a, `/responses/${textAt(second, "id")}/input_items`),
    ["mine", "mine", "two"],
  );
});

valkeyTest(
  "turns of a conversation alternate over replicas, and each sees all turns before it",
  async () => {
    await using replicas = newReplicas(stateSection());
    const both = [await replicas.start(), await replicas.start()] as const;
    const conversation = textAt((await both[0].post("/conversations")).json, "id");
    const expected: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      await created(both[turn % 2 === 0 ? 0 : 1], { input: `turn ${turn}`, conversation });
      expected.push(`turn ${turn}`, `turn ${turn}`);
      const reader = both[turn % 2 === 0 ? 1 : 0];
      assertEquals(await textsAt(reader, `/conversations/${conversation}/items`), expected);
    }
  },
);

valkeyTest(
  "concurrent turns and appends of two replicas to one conversation lose nothing",
  async () => {
    await using replicas = newReplicas(stateSection());
    const both = [await replicas.start(), await replicas.start()] as const;
    const conversation = textAt((await both[0].post("/conversations")).json, "id");
    const path = `/conversations/${conversation}/items`;
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    await Promise.all(numbers.map(async (number) => {
      const replica = both[number % 2 === 0 ? 0 : 1];
      if (number % 4 < 2) await created(replica, { input: `turn ${number}`, conversation });
      else {
        const items = [`first ${number}`, `second ${number}`]
          .map((content) => ({ type: "message", role: "user", content }));
        assertEquals((await replica.post(path, { items })).status, 200);
      }
    }));
    const texts = await textsAt(both[0], path);
    assertEquals(await textsAt(both[1], path), texts);
    const expected = numbers.flatMap((number) =>
      number % 4 < 2
        ? [`turn ${number}`, `turn ${number}`]
        : [`first ${number}`, `second ${number}`]
    );
    assertEquals(texts.toSorted(), expected.toSorted());
    // The items of one turn or request are next to each other.
    const pairs = texts.flatMap((text, at) => at % 2 === 0 ? [[text, texts[at + 1]]] : []);
    for (const [one, other] of pairs) {
      assertEquals(String(one).replace(/^first/, "second").replace(/^turn/, "turn"), other);
    }
  },
);

valkeyTest(
  "metadata that one replica changes during a turn of another one lose nothing",
  async () => {
    const goOn = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    await using replicas = newReplicas(stateSection(), {
      async upstream() {
        asked.resolve();
        await goOn.promise;
        const message = { role: "assistant", content: "said" };
        return Response.json({
          id: "chatcmpl-1",
          object: "chat.completion",
          created: 1,
          model: "m",
          choices: [{ index: 0, message, finish_reason: "stop" }],
        });
      },
    });
    const [a, b] = [await replicas.start(), await replicas.start()];
    const path = `/conversations/${textAt((await a.post("/conversations")).json, "id")}`;
    const conversation = path.replace("/conversations/", "");
    const turn = created(a, { input: "one", conversation });
    await asked.promise;
    assertEquals((await b.post(path, { metadata: { topic: "x" } })).status, 200);
    goOn.resolve();
    await turn;
    for (const replica of [a, b]) {
      assertEquals((await replica.get(path)).json.metadata, { topic: "x" });
      assertEquals(await textsAt(replica, `${path}/items`), ["one", "said"]);
    }
  },
);

valkeyTest(
  "an ID that two accounts return on two replicas at once is a conflict for both",
  async () => {
    const providers = (url: string) =>
      nativeConfig({ first: {}, second: {} })
        .replace('"http://first"', `"${url}/first"`).replace('"http://second"', `"${url}/second"`);
    for (let round = 0; round < 5; round++) {
      const id = `resp_${round}`;
      await using replicas = newReplicas(stateSection(), {
        providers,
        upstream: () => Response.json(responseOf(id)),
      });
      const [a, b] = [await replicas.start(), await replicas.start()];
      const body = { model: "m", input: "one" };
      const replies = await Promise.all([
        a.post("/responses", body),
        b.post("/responses", body, { "x-gateway-provider": "second" }),
      ]);
      // The later one is a failure or a response; the ID has no owner in either case.
      assert(replies.some(({ status }) => status === 200));
      for (const replica of [a, b]) {
        const found = await replica.get(`/responses/${id}`);
        assertEquals(refusalOf(found), [400, "provider_binding_conflict", "response_id"]);
        assertEquals(
          (await replica.delete(`/responses/${id}`)).error.code,
          "provider_binding_conflict",
        );
      }
    }
  },
);

valkeyTest("objects of one client key do not exist for another one on any replica", async () => {
  await using replicas = newReplicas(`${stateSection()}\n${twoKeys()}`);
  const [a, b] = [await replicas.start(), await replicas.start()];
  const [ada, bob] = [keyOf("ada"), keyOf("bob")];
  const made = await created(a, { input: "one" }, ada);
  const response = `/responses/${textAt(made, "id")}`;
  const conversation = `/conversations/${
    textAt((await a.post("/conversations", {}, ada)).json, "id")
  }`;
  for (const replica of [a, b]) {
    for (const path of [response, `${response}/input_items`, conversation]) {
      assertEquals((await replica.get(path, bob)).status, 404);
    }
    assertEquals((await replica.delete(response, bob)).status, 404);
    assertEquals((await replica.delete(conversation, bob)).status, 404);
    const body = { model: "sim-echo", input: "two", previous_response_id: textAt(made, "id") };
    const refused = await replica.post("/responses", body, bob);
    assertEquals(refused.error.code, "previous_response_not_found");
    assertEquals((await replica.get(response, ada)).status, 200);
    assertEquals((await replica.get(conversation, ada)).status, 200);
  }
});

valkeyTest("three replicas together admit exactly the burst of a rate limit", async () => {
  const rate = "rate_limiting: {enabled: true, requests_per_minute: 1, burst_size: 7}";
  await using replicas = newReplicas(`${stateSection()}\n${rate}`);
  const three = [await replicas.start(), await replicas.start(), await replicas.start()];
  const body = JSON.stringify({ model: "sim-echo", messages: [{ role: "user", content: "x" }] });
  const statuses = await Promise.all(Array.from({ length: 30 }, async (_, number) => {
    const reply = await three[number % 3]?.send("/v1/chat/completions", { method: "POST", body });
    await reply?.body?.cancel();
    return reply?.status;
  }));
  assertEquals(statuses.filter((status) => status === 200).length, 7);
  assertEquals(statuses.filter((status) => status === 429).length, 23);
  assertEquals(replicas.requests.length, 7);
});

/** Sends a chat request and returns whether it was a hit of the cache. */
async function cacheOf(replica: Replica, content: string): Promise<string | null> {
  const body = JSON.stringify({ model: "sim-echo", messages: [{ role: "user", content }] });
  const reply = await replica.send("/v1/chat/completions", { method: "POST", body });
  assertStringIncludes(await reply.text(), content);
  return reply.headers.get("x-gateway-cache-status");
}

valkeyTest(
  "a replica has a hit of what another one has cached; with another provider key it has none",
  async () => {
    const caching = "caching: {enabled: true, shared: true}";
    await using replicas = newReplicas(`${stateSection()}\n${caching}`);
    const [a, b] = [await replicas.start(), await replicas.start()];
    const c = await replicas.start((config) => config.replace("sk-sim", "sk-other"));
    assertEquals(await cacheOf(a, "one"), "MISS");
    await until(async () => await cacheOf(b, "one") === "HIT");
    const requests = replicas.requests.length;
    assertEquals(await cacheOf(c, "one"), "MISS");
    assertEquals(replicas.requests.length, requests + 1);
    assertEquals(await cacheOf(b, "one"), "HIT");
  },
);
