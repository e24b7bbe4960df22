import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** Serves the simulator while `use` runs. Returns when all responses have ended. */
async function served(use: (call: typeof post) => Promise<void>): Promise<void> {
  const world = newRealWorld();
  const options = { port: 0, hostname: "127.0.0.1", onListen: () => {} };
  const server = Deno.serve(options, newSimulator(world));
  const client = Deno.createHttpClient({});
  const base = `http://127.0.0.1:${server.addr.port}/v1/chat/completions`;
  try {
    await use((model, init = {}) => post(model, { ...init, client }, base));
  } finally {
    client.close();
    await server.shutdown();
    world.close();
  }
}

function post(
  model: string,
  init: RequestInit & { readonly client?: Deno.HttpClient } = {},
  url = "",
): Promise<Response> {
  const messages = [{ role: "user", content: "good day" }];
  const body = JSON.stringify({ model, stream: true, messages });
  return fetch(url, { method: "POST", body, ...init });
}

async function readUntil(response: Response, part: string): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes(part)) {
    const next = await reader?.read();
    assert(next !== undefined && !next.done);
    text += next.value;
  }
  await reader?.cancel();
}

Deno.test("a stream arrives complete over a socket", async () => {
  await served(async (call) => {
    const text = await (await call("sim-slow-1")).text();
    assert(text.includes('" day"') && text.endsWith("data: [DONE]\n\n"));
  });
});

Deno.test("a silent stream and a hanging call end when the client disconnects", async () => {
  await served(async (call) => {
    await readUntil(await call("sim-broken-silent"), "four");
    await readUntil(await call("sim-slow-100000"), "");
    const gone = new AbortController();
    const hanging = call("sim-hang", { signal: gone.signal }).then(() => "answered", () => "left");
    await (await call("sim-echo")).text();
    gone.abort();
    assertEquals(await hanging, "left");
  });
});

Deno.test("a reset fails the body that a client reads", async () => {
  await served(async (call) => {
    const response = await call("sim-broken-reset");
    let text = "";
    const end = response.body?.pipeThrough(new TextDecoderStream()).pipeTo(
      new WritableStream({ write: (piece) => void (text += piece) }),
    ).then(() => "whole", () => "broken");
    assertEquals(await end, "broken");
    assert(text.includes("four") && !text.includes("five"));
  });
});
