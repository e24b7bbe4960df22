import { isObject } from "../../src/core/json/json.ts";
import { VERSION } from "../../src/core/build.ts";
import { assert, assertEquals } from "../support/assert.ts";
import type { DashboardSocket } from "../support/dashboard.ts";
import { nextOf, REMOTE_KEY, startRemote } from "../support/remote.ts";

const CONFIG = `
providers:
  up: {type: compat, base_url: "http://up.test/v1", default_model: m, models: {mode: static, static: [n, m]}}
  other: {type: local, base_url: "http://other.test"}
routing:
  routes:
    - name: small
      match: {models: [s]}
      targets: [{provider: other, model: tiny}, {provider: other, model: off, weight: 0}]
    - name: main
      targets: [{provider: up}]
retry: {enabled: false}
`;

const LOST = "no connection for remote control";
const CONNECTED = "remote control connected";
const PATH = "/remote-control/ws/gateway";
/** How long a connection may take to open: the timer of each try. */
const CONNECT_TIMEOUT_MS = 15_000;

Deno.test("the handshake carries the key, and the hello names instance, version and what can be requested", async () => {
  await using remote = startRemote({ config: CONFIG });
  const socket = await remote.dashboard.socket();
  assertEquals(socket.request.path, PATH);
  assertEquals(socket.request.headers.get("authorization"), `Bearer ${REMOTE_KEY}`);
  assertEquals(await socket.receive(), {
    type: "hello",
    instance_id: "instance-1",
    version: VERSION,
    routes: ["small", "main"],
    models: ["other/tiny", "up/m", "up/n"],
  });
});

Deno.test("a heartbeat is sent every 20 seconds", async () => {
  await using remote = startRemote();
  const socket = await remote.socket();
  for (let beat = 0; beat < 2; beat++) {
    await remote.world.advance(19_999);
    socket.send({ type: "unknown", command_id: "mark" });
    assertEquals((await nextOf(socket, "sandbox.response")).command_id, "mark");
    await remote.world.advance(1);
    assertEquals(await socket.receive(), { type: "heartbeat" });
  }
});

Deno.test("a connection that is silent for 60 seconds is replaced", async () => {
  await using remote = startRemote();
  const first = await remote.socket();
  await remote.world.advance(60_000);
  await first.closed;
  await remote.logged(LOST);
  await remote.world.advance(1_000);
  await remote.socket();
});

/** Waits for the answer to the mark; what the gateway had to say by itself is then read. */
async function afterHeartbeats(socket: DashboardSocket): Promise<void> {
  for (;;) {
    const message = await socket.receive();
    assert(isObject(message), "the connection is over");
    if (message.type === "sandbox.response") return;
  }
}

Deno.test("heartbeats of the dashboard keep a connection", async () => {
  await using remote = startRemote();
  const socket = await remote.socket();
  for (let minute = 0; minute < 3; minute++) {
    await remote.world.advance(50_000);
    socket.send({ type: "heartbeat" });
    socket.send({ type: "unknown", command_id: "mark" });
    await afterHeartbeats(socket);
  }
  assertEquals(remote.dashboard.requests.length, 1);
});

Deno.test("a refused key is tried again after 1 second, doubling to 15", async () => {
  await using remote = startRemote({
    dashboard: { handshake: () => new Response(null, { status: 401 }) },
  });
  const waits = [1_000, 2_000, 4_000, 8_000, 15_000, 15_000];
  for (const [index, wait] of waits.entries()) {
    await remote.logged(LOST, index + 1);
    await remote.world.advance(wait);
  }
  await remote.logged(LOST, waits.length + 1);
  assertEquals(remote.timers, [...waits, 15_000].flatMap((wait) => [CONNECT_TIMEOUT_MS, wait]));
  const asked = remote.dashboard.requests.map(({ method, path, text }) => method + path + text);
  assertEquals(asked, Array(7).fill(`GET${PATH}`));
  assertEquals(remote.log.filter((line) => line.includes('"level":"warn"')).length, 1);
});

Deno.test("reconnect delays have a jitter of up to half", async () => {
  await using remote = startRemote({
    random: [0.5],
    dashboard: { handshake: () => new Response(null, { status: 401 }) },
  });
  await remote.logged(LOST);
  assertEquals(remote.timers, [CONNECT_TIMEOUT_MS, 750]);
});

Deno.test("only a connection that has lasted resets the reconnect delay", async () => {
  await using remote = startRemote();
  await (await remote.socket()).close();
  await remote.logged(LOST, 1);
  await remote.world.advance(1_000);
  await (await remote.socket()).close();
  await remote.logged(LOST, 2);
  await remote.world.advance(2_000);
  const good = await remote.socket();
  await remote.world.advance(20_000);
  await good.close();
  await remote.logged(LOST, 3);
  const waits = remote.timers.filter((ms) => ms < CONNECT_TIMEOUT_MS);
  assertEquals(waits, [1_000, 2_000, 1_000]);
});

Deno.test("a redirect of the handshake is not followed", async () => {
  await using remote = startRemote({
    dashboard: {
      handshake: () => new Response(null, { status: 302, headers: { location: "/elsewhere" } }),
    },
  });
  await remote.logged(LOST);
  assertEquals(remote.dashboard.requests.map(({ path }) => path), [PATH]);
});

Deno.test("the connection to a dashboard that does not complete the handshake is closed after 15 seconds", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await using remote = startRemote({ backendUrl: `http://127.0.0.1:${listener.addr.port}` });
  using connection = await listener.accept();
  listener.close();
  await remote.world.advance(CONNECT_TIMEOUT_MS);
  await remote.logged(LOST);
  const buffer = new Uint8Array(4096);
  const asked = await connection.read(buffer);
  assert(asked !== null && asked > 0);
  assertEquals(await connection.read(buffer), null);
});

Deno.test("an https address is connected over TLS, and a trailing slash is accepted", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await using _secure = startRemote({ backendUrl: `https://127.0.0.1:${listener.addr.port}` });
  const connection = await listener.accept();
  const first = new Uint8Array(1);
  await connection.read(first);
  // The first byte of a TLS handshake (RFC 8446, section 5.1).
  assertEquals(first, Uint8Array.of(22));
  connection.close();
  listener.close();

  await using other = startRemote();
  await using remote = startRemote({ backendUrl: `${other.dashboard.url}/` });
  await remote.logged(CONNECTED);
});

Deno.test("a closed channel is not opened again and leaves no timer", async () => {
  await using connected = startRemote();
  const socket = await connected.socket();
  await connected.close();
  await socket.closed;
  assertEquals(connected.world.waiting, 0);

  await using refused = startRemote({
    dashboard: { handshake: () => new Response(null, { status: 401 }) },
  });
  await refused.logged(LOST);
  await refused.close();
  assertEquals(refused.world.waiting, 0);
});

Deno.test("an invalid address disables the channel instead of crashing", async () => {
  await using remote = startRemote({ backendUrl: "http://[" });
  await remote.logged("remote control is off");
  assertEquals(remote.world.waiting, 0);
});

Deno.test("the key and the address are in no line of the log", async () => {
  await using refused = startRemote({
    dashboard: { handshake: () => new Response(null, { status: 401 }) },
  });
  await refused.logged(LOST);
  await using gone = startRemote({ backendUrl: "http://127.0.0.1:1" });
  await gone.logged(LOST);
  await using remote = startRemote();
  await (await remote.socket()).close();
  await remote.logged(LOST);
  for (const line of [...refused.log, ...gone.log, ...remote.log]) {
    assert(!line.includes(REMOTE_KEY) && !line.includes("127.0.0.1"), line);
  }
});
