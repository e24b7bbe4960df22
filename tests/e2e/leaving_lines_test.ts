import { listen } from "../../src/cli/listen.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { leavingConfig } from "./leaving.ts";

const BODY = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] });
const HEAD = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n" +
  `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n`;

/**
 * Bytes that a client sends before it closes its connection, and whether it waits for the response.
 */
const LEAVES: readonly (readonly [sent: string, waits: boolean])[] = [
  ["", false],
  [HEAD.slice(0, 40), false],
  [HEAD, false],
  [HEAD + BODY.slice(0, 20), false],
  [HEAD + BODY, false],
  [HEAD + BODY, false],
  [HEAD + BODY, true],
];

/** Connections of each kind, and how many of all are open at once. */
const EACH_COUNT = 72, MAX_OPEN = 28;

async function leave(port: number, [sent, waits]: typeof LEAVES[number]): Promise<void> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const writer = connection.writable.getWriter();
  if (sent !== "") await writer.write(new TextEncoder().encode(sent));
  if (waits) await connection.readable.getReader().read();
  connection.close();
}

// The runtime drops a request without a word if its connection was closed before it was passed on:
// the gateway learns nothing of it, so there is no line.
Deno.test("every request that is handed to the gateway has exactly one line, however soon its client leaves", async () => {
  await using upstream = startUpstream(({ json }) => json(200, COMPLETION));
  const world = newRealWorld();
  const gateway = testGateway(leavingConfig(upstream.url, upstream.url), world);
  let handed = 0;
  const server = listen(
    (request) => {
      handed++;
      return gateway.app(request);
    },
    "127.0.0.1",
    0,
  );
  assert(server.ok);
  const port = Number(new URL(server.url).port);
  const all = Array.from({ length: EACH_COUNT }, () => LEAVES).flat();
  for (let at = 0; at < all.length; at += MAX_OPEN) {
    await Promise.all(all.slice(at, at + MAX_OPEN).map((one) => leave(port, one)));
  }
  await server.close();
  await gateway.gateway.state.inFlight.idle();
  const served = gateway.reports.filter((report) => endOf(report) === "complete").length;
  assert(served >= EACH_COUNT, `${served}`);
  assertEquals(gateway.reports.length, handed);
  assertEquals(new Set(gateway.reports.map(({ id }) => id)).size, handed);
  const lines = gateway.log.filter((line) => JSON.parse(line).msg === "request");
  assertEquals(lines.length, handed);
  world.close();
});
