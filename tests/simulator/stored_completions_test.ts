import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { sseData } from "./call_simulator.ts";
import { listIn, type NativeClient, newNativeClient } from "./native_client.ts";

const PATH = "/chat/completions";

function request(more: JsonObject = {}): JsonObject {
  const messages = [{ role: "user", content: "one two" }];
  return { model: "sim-echo", store: true, messages, ...more };
}

async function chunksOf(
  upstream: NativeClient,
  more: JsonObject = {},
): Promise<readonly JsonObject[]> {
  const response = await upstream.call(`POST ${PATH}`, request({ stream: true, ...more }));
  return sseData(await response.text()).slice(0, -1).map(parseJson).filter(isObject);
}

Deno.test("a stored completion can be retrieved, updated and deleted", async () => {
  const upstream = newNativeClient();
  const created = await upstream.json(`POST ${PATH}`, request({ metadata: { a: "b" } }));
  const line = `${PATH}/${created.id}`;
  const stored = await upstream.json(`GET ${line}`);
  assertValid("CreateChatCompletionResponse", stored);
  assertEquals(stored, { ...created, metadata: { a: "b" } });
  const updated = await upstream.json(`POST ${line}`, { metadata: { c: "d" } });
  assertEquals(updated, { ...stored, metadata: { c: "d" } });
  await upstream.json(`POST ${line}`, {}, 400);
  await upstream.json(`POST ${line}`, { metadata: { c: 1 } }, 400);
  assertValid("ChatCompletionDeleted", await upstream.json(`DELETE ${line}`));
  await upstream.json(`GET ${line}`, undefined, 404);
});

Deno.test("a streamed completion is stored with the ids of its chunks", async () => {
  const upstream = newNativeClient();
  const tool = { type: "function", function: { name: "add" } };
  const chunks = await chunksOf(upstream, { model: "sim-tools", tools: [tool], n: 2 });
  const [id] = new Set(chunks.map((chunk) => chunk.id));
  const stored = await upstream.json(`GET ${PATH}/${id}`);
  assertValid("CreateChatCompletionResponse", stored);
  for (const choice of listIn(stored, "choices")) {
    assert(isObject(choice.message));
    const [call] = listIn(choice.message, "tool_calls");
    assert(chunks.some((chunk) => JSON.stringify(chunk).includes(`"id":"${call?.id}"`)));
  }
});

Deno.test("a completion is not stored without store set to true or if it breaks off", async () => {
  const upstream = newNativeClient();
  await upstream.json(`POST ${PATH}`, request({ store: false }));
  await upstream.json(`POST ${PATH}`, request({ store: null }));
  await chunksOf(upstream, { model: "sim-broken-stream" });
  assertEquals((await upstream.json(`GET ${PATH}`)).data, []);
});

Deno.test("stored completions are listed by model and metadata, in pages, the oldest first", async () => {
  const upstream = newNativeClient();
  for (const [model, a] of [["sim-echo", "1"], ["sim-long-2", "1"], ["sim-echo", "2"]] as const) {
    await upstream.json(`POST ${PATH}`, request({ model, metadata: { a } }));
  }
  const idsFor = async (query: string) => {
    const page = await upstream.json(`GET ${PATH}${query}`);
    assertValid("ChatCompletionList", page);
    return listIn(page, "data").map(({ id }) => id);
  };
  const all = await idsFor("");
  assertEquals(all.length, 3);
  assertEquals(await idsFor("?model=sim-echo"), [all[0], all[2]]);
  assertEquals(await idsFor("?metadata[a]=1"), [all[0], all[1]]);
  assertEquals(await idsFor("?metadata%5Ba%5D=1&model=sim-echo"), [all[0]]);
  assertEquals(await idsFor("?order=desc&limit=2"), [all[2], all[1]]);
  assertEquals(await idsFor(`?after=${all[0]}&limit=1`), [all[1]]);
  await upstream.json(`GET ${PATH}?limit=x`, undefined, 400);
});

Deno.test("the messages of a stored completion are those of its request, in order", async () => {
  const upstream = newNativeClient();
  const parts = [{ type: "text", text: "one" }];
  const messages = [{ role: "system", content: "Be brief." }, { role: "user", content: parts }];
  const { id } = await upstream.json(`POST ${PATH}`, request({ messages }));
  const page = await upstream.json(`GET ${PATH}/${id}/messages`);
  assertEquals(page, {
    object: "list",
    data: [
      { role: "system", id: `${id}-0`, content: "Be brief.", content_parts: null },
      { role: "user", id: `${id}-1`, content: null, content_parts: parts },
    ],
    first_id: `${id}-0`,
    last_id: `${id}-1`,
    has_more: false,
  });
  const rest = await upstream.json(`GET ${PATH}/${id}/messages?after=${id}-0&limit=1`);
  assertEquals(listIn(rest, "data").length, 1);
});

Deno.test("a stored completion cannot be listed, retrieved or deleted by another account", async () => {
  const upstream = newNativeClient();
  const { id } = await upstream.json(`POST ${PATH}`, request());
  assertEquals((await upstream.json(`GET ${PATH}`, undefined, 200, "sk-two")).data, []);
  for (const line of [`GET ${PATH}/${id}`, `DELETE ${PATH}/${id}`, `GET ${PATH}/${id}/messages`]) {
    await upstream.json(line, undefined, 404, "sk-two");
  }
  await upstream.json(`GET ${PATH}/${id}`);
});

Deno.test("each sim-stored model breaks the identity of its completion as its name says", async () => {
  const first = async (quirk: string) => {
    const chunks = await chunksOf(newNativeClient(), { model: `sim-stored-${quirk}` });
    return { ids: chunks.map(({ id }) => id), objects: chunks.map(({ object }) => object) };
  };
  assert((await first("no-id")).ids.every((id) => id === undefined));
  assert((await first("padded-id")).ids.every((id) => /^ \S+ $/.test(String(id))));
  const { ids } = await first("changing-id");
  assertEquals(new Set(ids).size, ids.length);
  assert((await first("wrong-object")).objects.every((object) => object === "text_completion"));
  const whole = await newNativeClient().json(
    `POST ${PATH}`,
    request({ model: "sim-stored-no-id" }),
  );
  assert(!("id" in whole));
});
