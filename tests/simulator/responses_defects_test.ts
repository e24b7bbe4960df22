import { isObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";
import { eventsIn, newNativeClient } from "./native_client.ts";

function call(model: string, stream: boolean, world = scriptedWorld()): Promise<Response> {
  return newNativeClient(world).call("POST /responses", { model, input: "hi", stream });
}

async function text(model: string, stream = true): Promise<string> {
  const response = await call(model, stream);
  assertEquals(response.status, 200);
  return await response.text();
}

Deno.test("a broken native stream has four words and no terminal event", async () => {
  for (const model of ["sim-broken-stream", "sim-broken-half", "sim-broken-error"]) {
    const body = await text(model);
    assert(body.includes('" four"') && !body.includes('" five","'), model);
    assert(!body.includes("response.completed"));
    assertEquals(body.endsWith("\n\n"), model !== "sim-broken-half");
  }
});

Deno.test("the error event of a native stream has both shapes and the next sequence number", async () => {
  for (const model of ["sim-broken-error", "sim-broken-first"]) {
    const events = eventsIn(await text(model));
    const error = events.at(-1);
    assertEquals([error?.type, error?.code], ["error", "server_error"]);
    assertEquals(error?.sequence_number, events.length - 1);
    assert(isObject(error?.error));
    assertEquals(error.error.message, error.message);
  }
  assertEquals(eventsIn(await text("sim-broken-first")).length, 1);
});

Deno.test("a native stream can have a malformed record, a huge record or no record", async () => {
  assert((await text("sim-broken-json")).includes('data: {"broken":\n\n'));
  assert((await text("sim-broken-huge")).length > 4 * 1024 * 1024);
  assertEquals(await text("sim-broken-empty"), "");
});

Deno.test("sim-broken-reset and sim-broken-silent break a native stream after four words", async () => {
  for (
    const [model, ended] of [["sim-broken-reset", "broken"], ["sim-broken-silent", ""]] as const
  ) {
    const world = scriptedWorld();
    const reader = (await call(model, true, world)).body?.getReader();
    const decoder = new TextDecoder();
    let received = "";
    let end = "";
    const read = (async () => {
      for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
        received += decoder.decode(next.value);
      }
    })().catch(() => void (end = "broken"));
    await world.advance(60_000);
    assert(received.includes('" four"') && !received.includes("response.completed"), model);
    assertEquals(end, ended);
    await reader?.cancel().catch(() => {});
    await read;
  }
});

Deno.test("a whole native response can be broken, a redirect or a 204", async () => {
  for (const model of ["sim-broken-json", "sim-broken-half", "sim-broken-stream"]) {
    assertEquals(parseJson(await text(model, false)), undefined);
  }
  assert((await text("sim-broken-huge", false)).length > 16 * 1024 * 1024);
  assertEquals((await call("sim-broken-redirect", true)).status, 302);
  assertEquals((await call("sim-broken-204", false)).status, 204);
});
