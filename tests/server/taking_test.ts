import type { JsonObject } from "../../src/core/json/json.ts";
import { endOf } from "../../src/observe/report.ts";
import type { Peer } from "../../src/runtime/peer.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { oneProvider, serveGateway, testGateway } from "../support/gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { CLOSED_PREFACE, http2Get, SETTINGS_ACK } from "../support/raw_http2.ts";
import { scriptedWorld } from "../support/world.ts";
import { connectRaw, type RawConnection } from "./raw_connection.ts";

const CONFIG = oneProvider("http://up.test", ", capabilities: {relay: [files]}");

const CHUNK = new TextEncoder().encode(
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",` +
    `"choices":[{"index":0,"delta":{"content":"${"x".repeat(70_000)}"},"finish_reason":null}]}\n\n`,
);

function completion(chars: number) {
  const message = { role: "assistant", content: "x".repeat(chars) };
  return { ...COMPLETION, choices: [{ index: 0, message, finish_reason: "stop" }] };
}

function pieces(piece: Uint8Array, headers: Readonly<Record<string, string>>): Promise<Response> {
  const body = streamOf(Array.from({ length: 40 }, () => piece));
  return Promise.resolve(new Response(body, { headers: { ...headers } }));
}

/** Responses of the provider by kind. */
const KINDS = {
  "a small response": () => answers(200, COMPLETION),
  "a large response": () => answers(200, completion(300_000)),
  "a stream": () => pieces(CHUNK, { "content-type": "text/event-stream" }),
  "a file": () => pieces(new Uint8Array(65_536), {}),
} as const;

type Kind = keyof typeof KINDS;

const LONG_KINDS = ["a large response", "a stream", "a file"] as const;

/** A response on a connection of which the system says what the test does. */
async function begun(kind: Kind, connection: Pick<Peer, "isShared" | "waitsInSystem"> = {}) {
  const world = scriptedWorld({ fetch: KINDS[kind] });
  const { app, gateway, reports, log } = testGateway(CONFIG, world);
  const { promise: completed, resolve: complete } = Promise.withResolvers<void>();
  let aborts = 0;
  const peer = { ...connection, completed, abort: () => void aborts++ };
  const request = kind === "a file"
    ? new Request("http://localhost/v1/files/file-1/content", {
      headers: { host: "localhost", "x-gateway-provider": "up" },
    })
    : chatRequest({ body: { stream: kind === "a stream" } });
  const { status, body } = await app(request, peer);
  assertEquals(status, 200, status === 200 ? "" : await new Response(body).text());
  const reader = body?.getReader();
  await reader?.read();
  return { world, gateway, reports, log, reader, complete, aborts: () => aborts };
}

const SHARED = { isShared: () => true, waitsInSystem: () => true };
const ALONE = { isShared: () => false, waitsInSystem: () => false };
const WAITING = { isShared: () => false, waitsInSystem: () => true };

for (const kind of ["a small response", ...LONG_KINDS] as const) {
  Deno.test(`the connection of ${kind} that its client does not take over HTTP/2 ends after server.write_timeout`, async () => {
    const { world, gateway, reports, aborts, complete } = await begun(kind, SHARED);
    await world.advance(59_000);
    assertEquals(aborts(), 0);
    await world.advance(2_000);
    assertEquals(aborts(), 1);
    assertEquals([gateway.state.inFlight.count, gateway.state.admission.responseBytes()], [0, 0]);
    const end = kind === "a small response" ? "complete" : "client_gone";
    assertEquals(reports.map(endOf), [end]);
    complete();
    await world.advance(0);
    assertEquals(world.waiting, 0);
  });
}

for (const kind of LONG_KINDS) {
  Deno.test(`${kind} ends after server.write_timeout without a request for more if nothing waits in the system or the system does not say`, async () => {
    for (const connection of [ALONE, {}]) {
      const { world, reports, complete } = await begun(kind, connection);
      await world.advance(61_000);
      assertEquals(reports.map(endOf), ["client_gone"]);
      complete();
    }
  });

  Deno.test(`${kind} of which bytes wait in the system is left to the rate of its client`, async () => {
    const { world, gateway, aborts, reader, complete } = await begun(kind, WAITING);
    await world.advance(600_000);
    assertEquals([aborts(), gateway.state.inFlight.count], [0, 1]);
    await reader?.cancel();
    complete();
  });

  Deno.test(`${kind} whose client takes a piece within each server.write_timeout continues`, async () => {
    const { world, gateway, aborts, reader, complete } = await begun(kind, SHARED);
    for (let count = 0; count < 3; count++) {
      await world.advance(50_000);
      await reader?.read();
    }
    assertEquals([aborts(), gateway.state.inFlight.count], [0, 1]);
    await reader?.cancel();
    complete();
  });

  Deno.test(`a shutdown ends ${kind} whose client does not read, and logs it as drained`, async () => {
    const { world, gateway, reports, log } = await begun(kind);
    await world.advance(0);
    assertEquals(gateway.state.inFlight.cancelAll(), 1);
    await world.advance(0);
    assertEquals(reports.map(endOf), ["drained"]);
    assertEquals([gateway.state.inFlight.count, gateway.state.admission.responseBytes()], [0, 0]);
    assertStringIncludes(log.join("\n"), '"end":"drained"');
  });
}

/** Resolves with what the connection ends with; a connection that stays open fails the test. */
async function ended(connection: RawConnection): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = setTimeout(() => reject(new Error("the connection is still open")), 30_000);
  try {
    await Promise.race([connection.receiveUntil("more than was sent"), promise]);
  } finally {
    clearTimeout(late);
  }
}

for (const host of ["", "localhost"]) {
  Deno.test(`an HTTP/2 client that opens no window loses its connection, with the host field "${host}"`, async () => {
    await using gateway = serveGateway(`${CONFIG}server: {write_timeout: 1s, http2: true}`);
    const post = (path: string, body: JsonObject) =>
      fetch(`${gateway.url}/v1${path}`, { method: "POST", body: JSON.stringify(body) });
    const { id } = await (await post("/conversations", {})).json();
    const items = [{ type: "message", role: "user", content: "x".repeat(400_000) }];
    await got(await post(`/conversations/${id}/items`, { items }));
    await using deaf = await connectRaw(gateway.url);
    const authority = new URL(gateway.url).host;
    const request = http2Get(1, `/v1/conversations/${id}/items`, authority, host);
    await deaf.send(CLOSED_PREFACE + SETTINGS_ACK + request);
    await ended(deaf);
    await gateway.reported(3);
    assertEquals(gateway.reports.slice(2).map(endOf), ["client_gone"]);
    assertEquals(gateway.gateway.state.admission.responseBytes(), 0);
  });
}
