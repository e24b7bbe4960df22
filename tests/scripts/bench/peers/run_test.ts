import { findPeerTask, type Peer } from "../../../../scripts/bench/peers/peer.ts";
import { mapRequest, newPeerRun, type PeerRun } from "../../../../scripts/bench/peers/run.ts";
import type { System } from "../../../../scripts/bench/systems.ts";
import { completion } from "../../../../scripts/bench/payloads.ts";
import { type Scenario, scenarios } from "../../../../scripts/bench/scenarios.ts";
import { assert, assertEquals, assertMatch } from "../../../support/assert.ts";

function scenario(name: string): Scenario {
  const found = scenarios.find((one) => one.name === name);
  assert(found !== undefined, name);
  return { ...found, connections: 2 };
}

const peer: Peer = {
  name: "rival",
  support: (task) =>
    task === "chat"
      ? {
        kind: "supported",
        upstream: "chat",
        request: { path: "/chat", headers: { "x-key": "k" }, modelPrefix: "" },
      }
      : { kind: "unsupported", reason: "it does not translate" },
  launch: () => ({ program: "", args: [], environment: {}, files: {} }),
  version: () => Promise.resolve(null),
};

function runOver(system: System, name = "small"): Promise<PeerRun> {
  const systems = { get: () => Promise.resolve(system) };
  return newPeerRun(scenario(name), peer, { systems, upstream: "http://127.0.0.1:1" });
}

/** Serves `handler` while a peer runs one short round. */
async function resultOver(handler: (request: Request) => Response) {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handler);
  const process = { port: server.addr.port, cpuMs: () => null };
  const run = await runOver({ kind: "started", process });
  await run.round(0.01);
  return run.result();
}

function newCompletion(): Response {
  return new Response(completion, { headers: { "cache-control": "no-transform" } });
}

Deno.test("a peer gets requests at its path with its headers, and its right responses are counted", async () => {
  const wrong: string[] = [];
  const result = await resultOver((request) => {
    const isRight = new URL(request.url).pathname === "/chat" &&
      request.headers.get("x-key") === "k";
    if (!isRight) wrong.push(request.url);
    return newCompletion();
  });
  assertEquals(wrong, []);
  assert(result.kind === "measured" && result.measurement.timesUs.length >= 1);
  assertEquals(result.measurement.cpuUs, null);
});

Deno.test("a wrong first response of a peer is its reason, and ends no other measurement", async () => {
  const result = await resultOver(() => new Response('{"error": "no"}', { status: 500 }));
  assert(result.kind === "none");
  assertMatch(result.reason, /^wrong: small: status 500: \{"error": "no"\}$/);
});

Deno.test("a response that becomes wrong under load is the reason of the peer", async () => {
  let count = 0;
  const result = await resultOver(() => count++ === 0 ? newCompletion() : Response.json({}));
  assert(result.kind === "none");
  assertMatch(result.reason, /^wrong: small: the response is no completion/);
});

Deno.test("a response that becomes wrong under load with the same length and end is the reason of the peer", async () => {
  const altered = completion.map((byte, at) => at === completion.length >> 1 ? byte ^ 1 : byte);
  let count = 0;
  const result = await resultOver(() => count++ === 0 ? newCompletion() : new Response(altered));
  assert(result.kind === "none");
  assertMatch(result.reason, /^wrong: small: the text differs from the upstream's$/);
});

Deno.test("a peer that does not support a task, or does not start, has the reason in place of figures", async () => {
  const missing: System = { kind: "missing", reason: "it did not start" };
  assertEquals((await runOver(missing)).result(), {
    name: "rival",
    kind: "none",
    reason: "it did not start",
  });
  const run = await runOver(missing, "translate");
  await run.round(1);
  run.reset();
  assertEquals(run.result(), { name: "rival", kind: "none", reason: "it does not translate" });
});

Deno.test("the model of a request gets the prefix of the peer, and nothing else of its body changes", () => {
  const { request } = scenario("small");
  const mapped = mapRequest(request, { path: "/x", headers: {}, modelPrefix: "openai/" });
  const [before, after] = [request, mapped].map(({ body }) =>
    JSON.parse(new TextDecoder().decode(body))
  );
  assertEquals(after, { ...before, model: `openai/${before.model}` });
  assertEquals(mapped.path, "/x");
  const same = mapRequest(request, { path: "/x", headers: {}, modelPrefix: "" });
  assertEquals(same.body, request.body);
});

Deno.test("peers are measured in the rows whose base is the floor, by what the row asks of a gateway", () => {
  const tasks = scenarios.map((one) => `${one.name} ${findPeerTask(one)}`);
  for (const row of ["small chat", "sse chat", "translate translate", "responses responses"]) {
    assert(tasks.includes(row), row);
  }
  assertEquals(findPeerTask(scenario("ten-targets")), null);
  assertEquals(findPeerTask(scenario("replicas")), null);
});
