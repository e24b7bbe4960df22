import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { got, verdictOf } from "../../support/chat_call.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { oneProvider } from "../../support/gateway.ts";
import {
  CONTINUES_CODE,
  frame,
  handshake,
  PONG_CODE,
  TEXT_CODE,
} from "../../support/raw_frames.ts";
import { create } from "../../support/socket_client.ts";
import { type SocketGateway, socketGateway } from "../../support/socket_gateway.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";
import { connectRaw } from "../raw_connection.ts";

const PING_CODE = 9;
const MIB = 1024 * 1024;

/** Close frames with the codes 1008 and 1013. */
const POLICY_VIOLATION = "\x03\xf0", TRY_AGAIN_LATER = "\x03\xf5";

function withServer(settings: string): string {
  return `${oneProvider("http://up.test")}server: {${settings}}`;
}

function serve(settings: string): SocketGateway {
  return socketGateway(withServer(settings), wordStreams(() => saying("yes")));
}

/** Opens a socket that sends the beginning of a message with its handshake, and no end. */
async function begin(served: SocketGateway, bytes: number) {
  const raw = await connectRaw(served.url);
  const begun = frame(TEXT_CODE, "x".repeat(bytes), false);
  await raw.send(handshake(new URL(served.url).host) + begun);
  await raw.receiveUntil("\r\n\r\n");
  return raw;
}

/** Resolves when this many bytes of bodies and unfinished messages are in memory. */
async function held(served: SocketGateway, bytes: number): Promise<void> {
  while (served.gateway.state.admission.bodyBytes() < bytes) {
    await got(await fetch(`${served.url}/health`));
  }
}

Deno.test("bytes of unfinished messages count as body memory, and end with their socket", async () => {
  await using served = serve("max_body_memory: 1000000");
  {
    await using _one = await begin(served, 300);
    await using _two = await begin(served, 200_000);
    await held(served, 200_300);
    assert(served.gateway.state.admission.bodyBytes() < 200_500);
  }
  await served.gateway.state.inFlight.idle();
  assertEquals(served.gateway.state.admission.bodyBytes(), 0);
});

Deno.test("the head of a handshake is no unfinished message, however long its query and however often a field is repeated", async () => {
  await using served = serve("max_body_memory: 1000000");
  await using raw = await connectRaw(served.url);
  const fields = Array.from({ length: 30 }, () => `x-${"n".repeat(60)}: 1`);
  const head = handshake(new URL(served.url).host, ...fields)
    .replace("/v1/responses", `/v1/responses?q=${"q".repeat(3_000)}`);
  await raw.send(head + frame(TEXT_CODE, "x".repeat(2_500), false));
  await raw.receiveUntil("\r\n\r\n");
  await held(served, 2_000);
  assert(served.gateway.state.admission.bodyBytes() < 2_700);
});

Deno.test("when body memory is full the socket with the largest unfinished message is closed with 1013", async () => {
  await using served = serve("max_body_memory: 1000000");
  await using _small = await begin(served, 100_000);
  await using large = await begin(served, 800_000);
  await held(served, 900_000);
  const closed = large.receiveUntil(TRY_AGAIN_LATER);
  await using client = await served.open();
  const turn = await client.turn(create({ instructions: "x".repeat(200_000) }));
  assertEquals(turn.output, "yes");
  assertStringIncludes(await closed, TRY_AGAIN_LATER);
  while (served.gateway.state.admission.count() > 0) {
    await got(await fetch(`${served.url}/health`));
  }
  assert(served.gateway.state.admission.bodyBytes() < 150_000);
});

Deno.test("an unfinished message that pings keep open ends after server.body_timeout with 1008", async () => {
  await using served = serve("body_timeout: 300ms");
  await using raw = await begin(served, 2 * MIB);
  const received = raw.receiveUntil(POLICY_VIOLATION);
  let isOpen = true;
  while (isOpen) {
    isOpen = await raw.send(frame(PING_CODE, ""));
    await got(await fetch(`${served.url}/health`));
  }
  assertStringIncludes(await received, POLICY_VIOLATION);
  await served.gateway.state.inFlight.idle();
  assertEquals(served.gateway.state.admission.bodyBytes(), 0);
});

Deno.test("a message whose fragments and pings arrive slowly within the time is served, and so is the next one", async () => {
  await using served = serve("body_timeout: 30s");
  await using raw = await begin(served, 0);
  for (const answer of [1, 2]) {
    const text = JSON.stringify(create({ input: `${answer}` }));
    for (const character of text) {
      await raw.send(frame(PING_CODE, "p") + frame(CONTINUES_CODE, character, false));
    }
    await raw.send(frame(CONTINUES_CODE, ""));
    assertStringIncludes(await raw.receiveUntil('"type":"response.completed"'), '"text":"yes"');
    if (answer === 1) await raw.send(frame(TEXT_CODE, "", false));
  }
});

Deno.test("a client may open as many sockets as server.max_sockets_per_client, and more when some are closed", async () => {
  await using served = serve("max_sockets_per_client: 2");
  await using one = await served.open();
  await using two = await served.open();
  await using raw = await connectRaw(served.url);
  await raw.send(handshake(new URL(served.url).host));
  const refused = await raw.receiveUntil("}}");
  assertStringIncludes(refused, "HTTP/1.1 429 ");
  assertStringIncludes(refused, '"code":"too_many_sockets"');
  assertEquals((await two.turn(create())).output, "yes");
  await one.close();
  await using three = await served.open();
  assertEquals((await three.turn(create())).output, "yes");
});

Deno.test("a flood of pongs ends its socket, which counts as one of its client for a while", async () => {
  await using served = serve("max_sockets_per_client: 1");
  await using raw = await connectRaw(served.url);
  await raw.send(handshake(new URL(served.url).host));
  await raw.receiveUntil("\r\n\r\n");
  await raw.send(frame(PONG_CODE, "").repeat(200) + frame(TEXT_CODE, "{}"));
  assertEquals(await raw.receiveUntil("}"), "", "the message is not answered");
  await served.gateway.state.inFlight.idle();
  assertEquals(await served.sockets(), 0);
  const refused = await fetch(`${served.url}/v1/responses`);
  assertEquals(verdictOf(await got(refused))[2], "too_many_sockets");
});

Deno.test("the sockets of one key leave those of another", async () => {
  const upstream = wordStreams(() => saying("yes"));
  await using served = socketGateway(
    `${withServer("max_sockets_per_client: 1")}\n${twoKeys()}`,
    upstream,
  );
  await using _ada = await served.open(keyOf("ada"));
  const second = await fetch(`${served.url}/v1/responses`, { headers: keyOf("ada") });
  assertEquals(verdictOf(await got(second))[2], "too_many_sockets");
  await using bob = await served.open(keyOf("bob"));
  assertEquals((await bob.turn(create())).output, "yes");
});

Deno.test("dialogues of all sockets together are held in server.max_body_memory, and the largest is dropped first", async () => {
  await using served = serve("max_body_memory: 500000");
  {
    await using large = await served.open();
    await using small = await served.open();
    const warmUp = (chars: number) => create({ generate: false, input: "x".repeat(chars) });
    const one = await large.turn(warmUp(190_000));
    const two = await small.turn(warmUp(130_000));
    const { admission } = served.gateway.state;
    assert(admission.bodyBytes() > 320_000, "both are held");
    await using third = await served.open();
    await third.turn(warmUp(100_000));
    const dropped = await large.turn(create({ previous_response_id: one.id }));
    assertEquals<unknown>([dropped.error.code, dropped.error.param], [
      "state_too_large",
      "previous_response_id",
    ]);
    assertEquals((await large.turn(create())).output, "yes");
    assertEquals((await small.turn(create({ previous_response_id: two.id }))).output, "yes");
  }
  await served.gateway.state.inFlight.idle();
  assertEquals(served.gateway.state.admission.bodyBytes(), 0);
});

/**
 * Opens a socket that sends messages with errors as responses until `isEnough`, and reads none of
 * them.
 */
async function flood(served: SocketGateway, isEnough: () => boolean): Promise<void> {
  await using raw = await connectRaw(served.url);
  await raw.send(handshake(new URL(served.url).host));
  await raw.receiveUntil("\r\n\r\n");
  const refused = frame(TEXT_CODE, JSON.stringify({ type: "?", stream_id: "s".repeat(1_000) }));
  // The errors fill the system first, then the memory of the gateway.
  for (let isOpen = true; isOpen && !isEnough();) isOpen = await raw.send(refused.repeat(10));
}

Deno.test("errors that a client does not read count as body memory, and end with their socket", async () => {
  await using served = serve("max_body_memory: 100000000");
  const { admission, inFlight } = served.gateway.state;
  await flood(served, () => admission.bodyBytes() > 64 * 1024);
  await inFlight.idle();
  assertEquals(admission.bodyBytes(), 0);
});

Deno.test("a socket whose errors are not read ends when body memory is full", async () => {
  await using served = serve("max_body_memory: 70000");
  const { admission, inFlight } = served.gateway.state;
  let largest = 0;
  await flood(served, () => {
    largest = Math.max(largest, admission.bodyBytes());
    return false;
  });
  await inFlight.idle();
  assert(largest <= 70_000, String(largest));
});

Deno.test("a flood of pings ends the connection, and it counts as a socket of its client for a time", async () => {
  await using served = serve("max_sockets_per_client: 1");
  await using raw = await connectRaw(served.url);
  await raw.send(handshake(new URL(served.url).host));
  await raw.receiveUntil("\r\n\r\n");
  const received = raw.receiveUntil("too many pings");
  const pings = frame(PING_CODE, "").repeat(1_000);
  while (await raw.send(pings)) await got(await fetch(`${served.url}/health`));
  await received;
  await using next = await connectRaw(served.url);
  await next.send(handshake(new URL(served.url).host));
  assertStringIncludes(await next.receiveUntil("}}"), '"code":"too_many_sockets"');
});
