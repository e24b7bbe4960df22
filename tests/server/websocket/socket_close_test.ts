import { assertEquals } from "../../support/assert.ts";
import { oneProvider } from "../../support/gateway.ts";
import { heldTurns } from "../../support/held_turns.ts";
import { frame, handshake, TEXT_CODE } from "../../support/raw_frames.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { connectRaw } from "../raw_connection.ts";

const CLOSE_CODE = 8, MESSAGE_COUNT = 20;

Deno.test("messages of a socket that closes begin in turns, each is a call, and none asks a provider once it is closed", async () => {
  let begun = 0;
  let sent = 0;
  await using served = socketGateway(oneProvider("http://up.test"), {
    fetch() {
      sent++;
      return Promise.reject(new TypeError("no network"));
    },
    began: () => void begun++,
  });
  const held = heldTurns("rest");
  Object.assign(served.gateway.state, { turns: held.turns });
  await using client = await connectRaw(served.url);
  await client.send(handshake(new URL(served.url).host));
  await client.receiveUntil("\r\n\r\n");
  const messages = frame(TEXT_CODE, JSON.stringify(create())).repeat(MESSAGE_COUNT);
  await client.send(messages + frame(CLOSE_CODE, "\x03\xe8"));
  // The runtime ends the connection after it has passed on the messages and the close.
  await client.receiveUntil("nothing of the kind");
  const begunInTurns: number[] = [];
  while (held.waiting() > 0) {
    const before = begun;
    held.begin();
    await new Promise((resolve) => setTimeout(resolve, 0));
    begunInTurns.push(begun - before);
  }
  await served.gateway.state.inFlight.idle();
  assertEquals(begunInTurns, Array(MESSAGE_COUNT).fill(1));
  const ends = served.reports.slice(1).map(({ failure }) => failure?.kind);
  assertEquals(ends, Array(MESSAGE_COUNT).fill("client_cancelled"));
  assertEquals(sent, 0, "nothing is sent for a client that has left");
});
