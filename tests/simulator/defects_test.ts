import { isObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";
import { callSimulator, sseData } from "./call_simulator.ts";

const PATHS = ["/compat/v1/chat/completions", "/messages/v1/messages", "/local/api/chat"] as const;

function call(path: string, model: string, stream: boolean, world = scriptedWorld()) {
  const messages = [{ role: "user", content: "hi" }];
  return callSimulator(path, { model, stream, max_tokens: 100, messages }, {}, world);
}

async function text(path: string, model: string, stream = true): Promise<string> {
  const response = await call(path, model, stream);
  assertEquals(response.status, 200);
  return await response.text();
}

/** Reads a body until it ends or fails. */
async function readable(response: Response): Promise<{ text: string; broke: boolean }> {
  let received = "";
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body ?? []) {
      received += decoder.decode(bytes, { stream: true });
    }
  } catch {
    return { text: received, broke: true };
  }
  return { text: received, broke: false };
}

Deno.test("sim-broken-stream ends a stream after four words without a finish", async () => {
  for (const path of PATHS) {
    const body = await text(path, "sim-broken-stream");
    assert(body.includes("four") && !body.includes("five") && body.endsWith("\n"));
    assert(!/\[DONE\]|"done":true|message_stop|"finish_reason":"/.test(body));
  }
});

Deno.test("sim-broken-reset resets a stream or a whole body after part of it was sent", async () => {
  for (const path of PATHS) {
    for (const stream of [true, false]) {
      const world = scriptedWorld();
      const read = readable(await call(path, "sim-broken-reset", stream, world));
      await world.advance(1000);
      const { text, broke } = await read;
      assert(broke && text !== "");
    }
  }
});

Deno.test("sim-broken-json sends one malformed record between valid ones", async () => {
  for (const path of PATHS) {
    const body = await text(path, "sim-broken-json");
    const records = path === "/local/api/chat" ? body.trimEnd().split("\n") : sseData(body);
    const broken = records.filter((data) => data !== "[DONE]" && parseJson(data) === undefined);
    assertEquals(broken, ['{"broken":']);
    assert(body.includes("eight"));
  }
});

Deno.test("sim-broken-error ends a stream with the error record of its protocol", async () => {
  const last = async (path: string, model: string) => {
    const body = (await text(path, model)).trimEnd();
    const record = parseJson(body.slice(body.lastIndexOf("\n") + 1).replace("data: ", ""));
    return isObject(record) ? record.error : undefined;
  };
  const message = "Simulated failure.";
  for (const model of ["sim-broken-error", "sim-broken-first"]) {
    const compat = { message, type: "server_error", param: null, code: null };
    assertEquals(await last(PATHS[0], model), compat);
    assertEquals(await last(PATHS[1], model), { type: "api_error", message });
    assertEquals(await last(PATHS[2], model), message);
  }
});

Deno.test("sim-broken-first sends an error as the first record of a stream", async () => {
  assertMatch(await text(PATHS[0], "sim-broken-first"), /^data: \{"error":.*\n\n$/);
  assertMatch(await text(PATHS[1], "sim-broken-first"), /^event: error\ndata: .*\n\n$/);
  assertMatch(await text(PATHS[2], "sim-broken-first"), /^\{"error":".*"\}\n$/);
});

Deno.test("sim-broken-empty responds with status 200 and an empty body", async () => {
  for (const path of PATHS) {
    assertEquals(await text(path, "sim-broken-empty"), "");
    assertEquals(await text(path, "sim-broken-empty", false), "");
  }
});

Deno.test("sim-broken-half ends within a record of a stream or within a whole body", async () => {
  for (const path of PATHS) {
    const streamed = await text(path, "sim-broken-half");
    assert(!streamed.endsWith("\n"));
    assertStringIncludes(streamed, "four");
    assertEquals(parseJson(await text(path, "sim-broken-half", false)), undefined);
  }
});

Deno.test("sim-broken-huge sends one record over 4 MiB or a whole body over 16 MiB", async () => {
  const MIB = 1024 * 1024;
  for (const path of PATHS) {
    const records = (await text(path, "sim-broken-huge")).split("\n");
    assertEquals(records.filter((record) => record.length > 4 * MIB).length, 1);
    const body = await text(path, "sim-broken-huge", false);
    assert(body.length > 16 * MIB && isObject(parseJson(body)));
  }
});

Deno.test("sim-broken-json and sim-broken-error also break a whole response", async () => {
  for (const path of PATHS) {
    assertEquals(parseJson(await text(path, "sim-broken-json", false)), undefined);
    const error = parseJson(await text(path, "sim-broken-error", false));
    assert(isObject(error) && error.error !== undefined);
  }
});

Deno.test("sim-broken-redirect and sim-broken-204 have their status with and without a stream", async () => {
  for (const path of PATHS) {
    for (const stream of [true, false]) {
      const redirect = await call(path, "sim-broken-redirect", stream);
      assertEquals([redirect.status, redirect.headers.has("location")], [302, true]);
      assertEquals((await call(path, "sim-broken-204", stream)).status, 204);
    }
  }
});

Deno.test("sim-error-N responds with status N and the error format of its protocol", async () => {
  const errors = await Promise.all(PATHS.map(async (path) => {
    const response = await call(path, "sim-error-429", true);
    assertEquals([response.status, response.headers.get("retry-after")], [429, "1"]);
    const body: unknown = await response.json();
    assert(isObject(body));
    return isObject(body.error) ? body.error.type : body.error;
  }));
  assertEquals(errors, [
    "rate_limit_exceeded",
    "rate_limit_error",
    "Simulated failure with status 429.",
  ]);
  assertEquals((await call(PATHS[0], "sim-error-418", true)).headers.has("retry-after"), false);
  assertEquals((await call(PATHS[0], "sim-error-503", true)).headers.get("retry-after"), "1");
  assertEquals((await call(PATHS[0], "sim-error-200", true)).status, 404);
});

Deno.test("sim-hang responds only after its client disconnects", async () => {
  for (const path of PATHS) {
    const gone = new AbortController();
    const world = scriptedWorld();
    const messages = [{ role: "user", content: "hi" }];
    const body = JSON.stringify({ model: "sim-hang", max_tokens: 1, messages });
    const headers = { "x-api-key": "any", "anthropic-version": "2023-06-01" };
    const init = { method: "POST", body, headers, signal: gone.signal };
    let answered = false;
    const answer = callSimulator(path, undefined, init, world).finally(() => answered = true);
    await world.advance(60_000);
    assertEquals(answered, false);
    gone.abort();
    assertEquals((await answer).status, 499);
  }
});
