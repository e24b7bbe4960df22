import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { answers } from "../../support/chat_call.ts";
import { chunk, sse } from "../../support/growth/spoken.ts";
import {
  type Answer,
  poolConfig,
  poolGateway,
  refusal,
  simulator,
  TWO_KEYS,
} from "../../support/pool_gateway.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { called, calling, chatBody, type Thought, USER } from "../reasoning/thinking_gateway.ts";

const STREAMED = { body: { stream: true } };

function streamed(text: string): Answer {
  return () => answers(200, text, { "content-type": "text/event-stream" });
}

const WHOLE = `${sse([chunk({ content: "Hi" }), chunk({}, "stop")])}data: [DONE]\n\n`;

Deno.test("a stream whose key is refused before it begins is sent with the next key", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS), streamed(WHOLE));
  pool.answer("sk-a", refusal(429));
  const { status, text } = await pool.ask(STREAMED);
  assertEquals([status, pool.keys()], [200, ["sk-a", "sk-b"]]);
  assertStringIncludes(text, "Hi");
});

Deno.test("a stream that is cut after its first content does not change its key", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS), streamed(WHOLE));
  pool.answer("sk-a", streamed(sse([chunk({ content: "Hi" })])));
  const { status, text } = await pool.ask(STREAMED);
  assertEquals([status, pool.keys(), await pool.resting()], [200, ["sk-a"], { up: 0 }]);
  assertStringIncludes(text, "error");
});

Deno.test("an error within a stream does not change its key, whatever status it names", async () => {
  const error = { error: { message: "slow down", type: "t", code: 429 } };
  for (const records of [[error], [chunk({ content: "Hi" }), error]]) {
    const pool = poolGateway(poolConfig(TWO_KEYS), streamed(WHOLE));
    pool.answer("sk-a", streamed(sse(records)));
    const { text } = await pool.ask(STREAMED);
    assertEquals([pool.keys(), await pool.resting()], [["sk-a"], { up: 0 }]);
    assertStringIncludes(text, "error");
  }
});

Deno.test("an error of a whole response with status 200 does not change its key", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS));
  pool.answer("sk-a", () => answers(200, { error: { message: "no", type: "t", code: 401 } }));
  await pool.ask();
  assertEquals([pool.keys(), await pool.resting()], [["sk-a"], { up: 0 }]);
});

const SOCKET_CONFIG = `
providers:
  up:
    type: compat
    base_url: "http://sim/v1"
    api_keys: [${TWO_KEYS}]
    capabilities: {responses_lifecycle: true}
routing:
  routes:
    - {name: chat, match: {models: [sim-long-3]}, targets: [{provider: up}]}
    - {name: native, targets: [{provider: up, upstream_request_type: responses}]}
retry: {enabled: false}
`;

for (
  const [model, fields] of [["sim-echo", {}], ["sim-echo", { store: false }], [
    "sim-long-3",
    {},
  ]] as const
) {
  Deno.test(`turns over a WebSocket use the pool, and a continuation the key of its turn: ${model} ${JSON.stringify(fields)}`, async () => {
    const keys: string[] = [];
    const answer = simulator();
    let refuse: string | null = null;
    await using served = socketGateway(SOCKET_CONFIG, {
      async fetch(url, init) {
        const headers = new Headers(init.headers);
        const key = (headers.get("authorization") ?? "").replace("Bearer ", "");
        const method = init.method ?? "GET";
        const text = await new Response(init.body ?? null).text();
        keys.push(key);
        const raw = new Request(url, { method, headers, body: text });
        const request = { key, method, url, body: {}, at: 0, raw };
        return await (key === refuse ? refusal(401)(request) : answer(request));
      },
    });
    await using client = await served.open();
    const turn = async (more: JsonObject = {}) => {
      const before = keys.length;
      const { id, ending, error } = await client.turn(create({ model, ...fields, ...more }));
      return { id, ending, error, keys: keys.slice(before) };
    };
    const [first, second] = [await turn(), await turn()];
    assertEquals([first.keys, second.keys], [["sk-a"], ["sk-b"]]);
    const next = await turn({ previous_response_id: second.id });
    assertEquals([next.ending, next.keys], ["response.completed", ["sk-b"]]);
    refuse = "sk-a";
    const rotated = await turn();
    assertEquals([rotated.ending, rotated.keys], ["response.completed", ["sk-a", "sk-b"]]);
  });
}

const HM: Thought = { text: " Hm\n", seal: "sealed" };

for (const sealing of ["messages", "responses"] as const) {
  Deno.test(`a tool loop over ${sealing} continues with the key that sealed its reasoning`, async () => {
    const type = sealing === "messages" ? "messages" : "compat";
    const keys = `{name: c, value: sk-c}, ${TWO_KEYS}`;
    const pool = poolGateway(
      poolConfig(keys, {
        target: sealing === "messages" ? "" : "upstream_request_type: responses",
      }).replace("type: compat", `type: ${type}`),
      () => answers(200, calling(sealing, HM, false)),
    );
    const post = (messages: readonly JsonObject[]) =>
      pool.post("/chat/completions", chatBody(messages));
    const loop = [USER, ...called({ reasoning_content: HM.text })];
    assertEquals((await post([USER])).status, 200);
    pool.answer("sk-c", refusal(429));
    await post([USER]);
    pool.answer("sk-c", null);
    // Both responses have the same call, so that the latest one counts.
    const owner = pool.keys().at(-1) ?? "";
    for (let n = 0; n < 4; n++) {
      const reply = await post(loop);
      assertEquals([reply.status, pool.keys().at(-1)], [200, owner], reply.text);
      assertStringIncludes(JSON.stringify(pool.requests.at(-1)?.body), HM.seal);
    }
    pool.answer(owner, refusal(429));
    const throttled = await post(loop);
    assertEquals(throttled.status, 200);
    assertEquals(throttled.headers.get("x-gateway-lossy"), "messages[1].reasoning_content");
    assert(!JSON.stringify(pool.requests.at(-1)?.body).includes(HM.seal));
  });
}

Deno.test("a body of a refused key that never ends does not hold the next key back forever", async () => {
  const pool = poolGateway(poolConfig(TWO_KEYS, { settings: "timeout: 2s" }));
  pool.answer(
    "sk-a",
    () => Promise.resolve(new Response(new ReadableStream({ type: "bytes" }), { status: 429 })),
  );
  const asked = pool.ask();
  await pool.world.advance(2_000);
  assertEquals([(await asked).status, pool.keys()], [200, ["sk-a", "sk-b"]]);
});
