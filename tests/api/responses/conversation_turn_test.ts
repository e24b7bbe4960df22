import type { JsonObject } from "../../../src/core/json/json.ts";
import type { GatewayState } from "../../../src/store/gateway_state.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { stored } from "../../support/object_store.ts";
import { answers } from "../../support/chat_call.ts";
import { create } from "../../support/socket_client.ts";
import {
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  responseOf,
  type ScriptedResponse,
  type SentRequest,
  streamOf,
} from "../../support/native_gateway.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { objectsAt, refusalOf, textAt } from "../../support/state_call.ts";
import { errorIn, type Stateful, stateful } from "./stateful.ts";

const CONFIG = nativeConfig({ up: {} });
const FULL = [400, "conversation_item_limit_exceeded", null];

function message(id: string | null, text: string): JsonObject {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { ...id !== null && { id }, type: "message", role: "assistant", content };
}

/** Returns an upstream that responds with this output, whole or as a stream, as requested. */
function answering(
  { json }: SentRequest,
  output: JsonObject[],
  more: JsonObject = {},
): ScriptedResponse {
  const made = { output, ...more };
  return { body: json.stream === true ? streamOf("resp_1", made) : responseOf("resp_1", made) };
}

async function conversation(calls: NativeGateway): Promise<string> {
  return textAt((await calls.post("/conversations", {})).json, "id");
}

async function itemsIn(calls: NativeGateway, id: string): Promise<readonly JsonObject[]> {
  const { json } = await calls.get(`/conversations/${id}/items?order=asc&limit=100`);
  return objectsAt(json, "data");
}

/** The number of items in a conversation. */
async function countIn({ objects }: Pick<GatewayState, "objects">, id: string) {
  return (await stored(objects.conversations.find(id)))?.items.length;
}

/** Adds messages to a conversation without a turn. */
async function fill(
  { state }: Pick<NativeGateway, "state">,
  id: string,
  count: number,
): Promise<void> {
  const items = Array.from({ length: count }, (_, at) => message(`fill_${at}`, "x"));
  await stored(state.objects.conversations.append(id, items));
}

/** Asserts that a turn fails after its upstream request, and that nothing of it is stored. */
async function assertFull(calls: Stateful | NativeGateway, id: string, stream: boolean) {
  const body = { model: "m", input: "x", conversation: id, stream };
  const answer = await calls.post("/responses", body);
  if (stream) assertMatch(errorIn(answer), /at most 1000 items/);
  else assertEquals(refusalOf(answer), FULL);
  assertEquals(await countIn(calls.state, id), 998);
  assertEquals([calls.state.objects.stats().responses.entries, calls.requests.length], [0, 1]);
}

for (const stream of [false, true]) {
  const how = stream ? "stream" : "whole answer";

  testOverStores(`turns with equal item IDs are all stored from a native ${how}`, async () => {
    let turn = 0;
    const calls = nativeGateway(
      CONFIG,
      (request) => answering(request, [message("msg_1", `answer ${++turn}`)]),
    );
    const id = await conversation(calls);
    for (const input of ["one", "two", "three"]) {
      const body = { model: "m", input, conversation: id, stream };
      assertEquals((await calls.post("/responses", body)).status, 200);
    }
    const items = await itemsIn(calls, id);
    assertEquals(
      items.map(({ content }) => /"text":"([^"]+)"/.exec(JSON.stringify(content))?.[1]),
      [
        "one",
        "answer 1",
        "two",
        "answer 2",
        "three",
        "answer 3",
      ],
    );
    assertEquals(new Set(items.map((item) => item.id)).size, 6);
    assertEquals(items[1]?.id, "msg_1");
    assertMatch(String(items[3]?.id), /^msg_[0-9a-f]{32}$/);
    assertEquals(objectsAt(calls.requests[2]?.json ?? {}, "input").length, 5);
  });

  testOverStores(
    `output with input IDs, with duplicate IDs or without IDs is stored from a native ${how}`,
    async () => {
      const output = [message("mine", "a"), message("msg_1", "b"), message("msg_1", "c")];
      const calls = nativeGateway(
        CONFIG,
        (request) => answering(request, [...output, message(null, "d")]),
      );
      const id = await conversation(calls);
      const input = [{ id: "mine", role: "user", content: "one" }];
      const answer = await calls.post("/responses", {
        model: "m",
        input,
        conversation: id,
        stream,
      });
      assertEquals(answer.status, 200);
      const items = await itemsIn(calls, id);
      assertEquals(items.map(({ role }) => role), ["user", ...Array(4).fill("assistant")]);
      assertEquals(new Set(items.map((item) => item.id)).size, 5);
      assertEquals([items[0]?.id, items[2]?.id], ["mine", "msg_1"]);
    },
  );

  testOverStores(
    `an item whose ID a concurrent turn has used is stored under a new ID from a native ${how}`,
    async () => {
      const holder: { id?: string } = {};
      const calls = nativeGateway(CONFIG, async (request) => {
        const { conversations } = calls.state.objects;
        await stored(conversations.append(holder.id ?? "", [{ id: "mine", type: "opaque" }]));
        return answering(request, [message("msg_1", "a")]);
      });
      const id = await conversation(calls);
      holder.id = id;
      const input = [{ id: "mine", role: "user", content: "one" }];
      await calls.post("/responses", { model: "m", input, conversation: id, stream });
      const items = await itemsIn(calls, id);
      assertEquals(items.map(({ type }) => type), ["opaque", "message", "message"]);
      assertEquals(new Set(items.map((item) => item.id)).size, 3);
    },
  );

  testOverStores(
    `turns that end simultaneously with equal item IDs are all stored from a native ${how}`,
    async () => {
      const calls = nativeGateway(CONFIG, (request) => answering(request, [message("msg_1", "a")]));
      const id = await conversation(calls);
      const body = { model: "m", input: "x", conversation: id, stream };
      const answers = await Promise.all([1, 2, 3].map(() => calls.post("/responses", body)));
      assertEquals(answers.map(({ status }) => status), [200, 200, 200]);
      const items = await itemsIn(calls, id);
      assertEquals(items.length, 6);
      assertEquals(new Set(items.map((item) => item.id)).size, 6);
    },
  );

  testOverStores(
    `a turn whose output does not fit fails in a native ${how}, and nothing of it is stored`,
    async () => {
      const calls = nativeGateway(
        CONFIG,
        (request) => answering(request, [message("a", "a"), message("b", "b")]),
      );
      const id = await conversation(calls);
      await fill(calls, id, 998);
      await assertFull(calls, id, stream);
    },
  );

  testOverStores(
    `a turn whose output does not fit fails in a translated ${how}, and nothing of it is stored`,
    async () => {
      const spoken = { content: "a", reasoning_content: "b" };
      const calls = stateful(undefined, () => ({ message: spoken }));
      const { json } = await calls.post("/conversations", {});
      const id = textAt(json, "id");
      await fill(calls, id, 998);
      await assertFull(calls, id, stream);
    },
  );

  testOverStores(
    `a turn fails in a native ${how} if its conversation has meanwhile grown too large`,
    async () => {
      const holder: { id?: string } = {};
      const text = "x".repeat(29_000);
      const calls = nativeGateway(`state: {max_bytes: 30000}\n${CONFIG}`, async (request) => {
        const { conversations } = calls.state.objects;
        await stored(conversations.append(holder.id ?? "", [{ id: "a", type: "x", text }]));
        return answering(request, [message("msg_1", "y".repeat(2_000))]);
      });
      const id = await conversation(calls);
      holder.id = id;
      const answer = await calls.post("/responses", {
        model: "m",
        input: "x",
        conversation: id,
        stream,
      });
      if (stream) assertMatch(errorIn(answer), /larger than 30000 bytes/);
      else assertEquals(refusalOf(answer), [413, "state_too_large", null]);
      assertEquals(await countIn(calls.state, id), 1);
    },
    ["memory"],
  );
}

testOverStores(
  "a turn whose input does not fit is refused before a request is sent upstream",
  async () => {
    const calls = nativeGateway(CONFIG, (request) => answering(request, []));
    const id = await conversation(calls);
    await fill(calls, id, 998);
    const input = Array.from({ length: 5 }, () => ({ role: "user", content: "x" }));
    const full = await calls.post("/responses", { model: "m", input, conversation: id });
    assertEquals(refusalOf(full), FULL);
    assertEquals(calls.requests.length, 0);
  },
);

testOverStores(
  "a terminal event without output gets the items that the stream has delivered",
  async () => {
    const item = message("msg_1", "said");
    const done = { type: "response.output_item.done", sequence_number: 1, output_index: 0, item };
    const calls = nativeGateway(CONFIG, () => {
      const [created = "", end = ""] = streamOf("resp_1", { output: null }).split("\n\n");
      const last = end.replace('"sequence_number":1', '"sequence_number":2');
      return { body: `${created}\n\ndata: ${JSON.stringify(done)}\n\n${last}\n\n` };
    });
    const id = await conversation(calls);
    await calls.post("/responses", { model: "m", input: "one", conversation: id, stream: true });
    const roles = (await itemsIn(calls, id)).map(({ role }) => role);
    assertEquals(roles, ["user", "assistant"]);
  },
);

testOverStores(
  "over a socket, turns with equal item IDs are stored, and a turn that does not fit ends with one failure",
  async () => {
    const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
    const output = [message("msg_1", "a"), message("msg_2", "b")];
    await using served = socketGateway(CONFIG, {
      fetch: () => answers(200, streamOf("resp_1", { output, usage })),
    });
    await using client = await served.open();
    const made = await fetch(`${served.url}/v1/conversations`, { method: "POST", body: "{}" });
    const id = textAt(await made.json(), "id");
    const { state } = served.gateway;
    const turn = create({ conversation: id, store: false });
    for (const count of [3, 6]) {
      assertEquals((await client.turn(turn)).ending, "response.completed");
      assertEquals(await countIn(state, id), count);
    }
    const items = Array.from({ length: 992 }, (_, at) => ({ id: `fill_${at}`, type: "opaque" }));
    await stored(state.objects.conversations.append(id, items));
    const { ending, response } = await client.turn(turn);
    assertEquals(ending, "response.failed");
    assertMatch(JSON.stringify(response.error), /at most 1000 items/);
    assertEquals(await countIn(state, id), 998);
    assertEquals((await client.turn(create({ store: false }))).ending, "response.completed");
    // What the upstream has done counts also where the answer could not be kept.
    const counts = served.reports.filter(({ failure }) => failure !== null)
      .map(({ usage, failure }) => [usage?.total, failure?.kind]);
    assertEquals(counts, [[7, "conversation_item_limit_exceeded"]]);
    // No provider is to blame for a stream that the gateway ends so.
    const metrics = await served.gateway.metrics.scrape();
    assertEquals(/^gateway_stream_failures_total\{.*$/m.exec(metrics)?.[0], undefined);
  },
);
