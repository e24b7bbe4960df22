import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { scriptedWorld } from "../support/world.ts";
import { eventsIn, listIn, type NativeClient, newNativeClient, textIn } from "./native_client.ts";

function create(upstream: NativeClient, more: JsonObject = {}): Promise<JsonObject> {
  return upstream.json("POST /responses", { model: "sim-echo", input: "one two", ...more });
}

function inBackground(upstream: NativeClient): Promise<JsonObject> {
  return create(upstream, { background: true });
}

Deno.test("a stored response can be retrieved unchanged until it is deleted", async () => {
  const upstream = newNativeClient();
  const created = await create(upstream);
  const line = `/responses/${created.id}`;
  assertEquals(await upstream.json(`GET ${line}`), created);
  assertEquals(await upstream.json(`DELETE ${line}`), {
    id: created.id ?? null,
    object: "response",
    deleted: true,
  });
  await upstream.json(`GET ${line}`, undefined, 404);
  await upstream.json(`DELETE ${line}`, undefined, 404);
});

Deno.test("a streamed response is stored with its terminal event, and not if it breaks off", async () => {
  const upstream = newNativeClient();
  for (const [model, status] of [["sim-echo", 200], ["sim-broken-stream", 404]] as const) {
    const body = { model, input: "one two", stream: true };
    const events = eventsIn(await (await upstream.call("POST /responses", body)).text());
    assert(isObject(events[0]?.response));
    await upstream.json(`GET /responses/${events[0].response.id}`, undefined, status);
  }
});

Deno.test("a response with store set to false cannot be retrieved or continued", async () => {
  const upstream = newNativeClient();
  const { id } = await create(upstream, { store: false });
  await upstream.json(`GET /responses/${id}`, undefined, 404);
  const body = { model: "sim-echo", input: "x", previous_response_id: id };
  const { error } = await upstream.json("POST /responses", body, 400);
  assert(isObject(error));
  assertEquals([error.code, error.param], ["previous_response_not_found", "previous_response_id"]);
});

Deno.test("another account cannot access a response, and its responses have different ids", async () => {
  const upstream = newNativeClient();
  const { id } = await create(upstream);
  const [first, second] = ["sk-one", "sk-two"];
  for (const line of [`GET /responses/${id}`, `GET /responses/${id}/input_items`]) {
    assertEquals((await upstream.call(line, undefined, first)).status, 200);
    assertEquals((await upstream.call(line, undefined, second)).status, 404);
  }
  assertEquals((await upstream.call(`DELETE /responses/${id}`, undefined, second)).status, 404);
  assertEquals((await upstream.call(`POST /responses/${id}/cancel`, {}, second)).status, 404);
  const body = { model: "sim-echo", input: "one two" };
  const other = await upstream.json("POST /responses", body, 200, second);
  assert(other.id !== id);
  assertEquals((await create(newNativeClient())).id, id);
});

Deno.test("a continued response reads the input and output of all earlier responses", async () => {
  const upstream = newNativeClient();
  const first = await create(upstream);
  const second = await create(upstream, { previous_response_id: first.id, input: "three" });
  assert(isObject(second.usage));
  assertEquals(second.usage.input_tokens, 5);
  assertEquals(second.previous_response_id, first.id);
  const page = await upstream.json(`GET /responses/${second.id}/input_items?order=asc`);
  assertValid("ResponseItemList", page);
  assertEquals(listIn(page, "data").map(({ role }) => role), ["user", "assistant", "user"]);
});

Deno.test("input items are listed in pages, the newest first", async () => {
  const upstream = newNativeClient();
  const input = ["a", "b", "c"].map((content) => ({ role: "user", content }));
  const { id } = await create(upstream, { input });
  const first = await upstream.json(`GET /responses/${id}/input_items?limit=2`);
  const line = `GET /responses/${id}/input_items?limit=2&after=${first.last_id}`;
  const second = await upstream.json(line);
  const texts = [first, second].flatMap((page) => listIn(page, "data"))
    .flatMap((item) => listIn(item, "content")).map(({ text }) => text);
  assertEquals(texts, ["c", "b", "a"]);
  assertEquals([first.has_more, second.has_more], [true, false]);
  for (const query of ["limit=0", "limit=101", "order=up", "after=nothing"]) {
    await upstream.json(`GET /responses/${id}/input_items?${query}`, undefined, 400);
  }
});

Deno.test("a background response is completed at its second retrieval", async () => {
  const upstream = newNativeClient();
  const created = await inBackground(upstream);
  const line = `GET /responses/${created.id}`;
  const steps = [created, await upstream.json(line), await upstream.json(line)];
  for (const step of steps) assertValid("Response", step);
  assertEquals(steps.map(({ status }) => status), ["queued", "in_progress", "completed"]);
  assertEquals(steps.map(textIn), ["", "", "one two"]);
  assertEquals(await upstream.json(line), steps[2]);
});

Deno.test("a background response can be cancelled repeatedly", async () => {
  const upstream = newNativeClient();
  const { id } = await inBackground(upstream);
  const cancelled = await upstream.json(`POST /responses/${id}/cancel`);
  assertValid("Response", cancelled);
  assertEquals(cancelled.status, "cancelled");
  assertEquals(await upstream.json(`POST /responses/${id}/cancel`), cancelled);
  assertEquals(await upstream.json(`GET /responses/${id}`), cancelled);
  const synchronous = await create(upstream);
  await upstream.json(`POST /responses/${synchronous.id}/cancel`, undefined, 400);
});

Deno.test("the stream of a response is replayed after starting_after", async () => {
  const upstream = newNativeClient();
  const response = await upstream.call("POST /responses", {
    model: "sim-echo",
    input: "one two",
    background: true,
    stream: true,
  });
  const events = eventsIn(await response.text());
  assertEquals(events[1]?.type, "response.queued");
  assert(isObject(events[0]?.response));
  const line = `GET /responses/${events[0].response.id}?stream=true`;
  const again = eventsIn(await (await upstream.call(`${line}&starting_after=4`)).text());
  assertEquals(again, events.slice(5));
  assertEquals(eventsIn(await (await upstream.call(line)).text()), events);
  await upstream.json(`${line}&starting_after=x`, undefined, 400);
});

Deno.test("the replayed stream of a cancelled response ends with response.cancelled", async () => {
  const upstream = newNativeClient();
  const { id } = await inBackground(upstream);
  await upstream.json(`POST /responses/${id}/cancel`);
  const events = eventsIn(await (await upstream.call(`GET /responses/${id}?stream=true`)).text());
  const last = events.at(-1);
  assertEquals([last?.type, last?.sequence_number], ["response.cancelled", events.length - 1]);
  assert(isObject(last?.response));
  assertEquals(last.response.status, "cancelled");
});

Deno.test("encrypted reasoning can be included when a response is retrieved", async () => {
  const upstream = newNativeClient();
  const { id } = await create(upstream, { model: "sim-think" });
  const line = `GET /responses/${id}?include[]=reasoning.encrypted_content`;
  const [thinking] = listIn(await upstream.json(line), "output");
  assertEquals(typeof thinking?.encrypted_content, "string");
  await upstream.json(`GET /responses/${id}?include=everything`, undefined, 400);
});

Deno.test("a whole response of sim-slow waits for the pauses of all words", async () => {
  const world = scriptedWorld();
  const upstream = newNativeClient(world);
  let answered = false;
  const answer = create(upstream, { model: "sim-slow" }).finally(() => answered = true);
  await world.advance(199);
  assertEquals(answered, false);
  await world.advance(1);
  assertEquals(textIn(await answer), "one two");
});
