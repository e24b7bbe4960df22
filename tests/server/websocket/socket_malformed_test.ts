import fc from "fast-check";
import { isObject, type JsonObject } from "../../../src/core/json/json.ts";
import { anyCharacter } from "../../support/any_character.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { create, type SocketClient, type TurnEvents } from "../../support/socket_client.ts";
import { oneProvider } from "../../support/gateway.ts";
import {
  BINARY_CODE,
  CONTINUES_CODE,
  frame,
  handshake,
  TEXT_CODE,
} from "../../support/raw_frames.ts";
import { type SocketGateway, socketGateway } from "../../support/socket_gateway.ts";
import { saying, type Sent, wordStreams } from "../../support/word_stream.ts";
import { connectRaw } from "../raw_connection.ts";

const MAX_MESSAGE_CHARS = 10 * 1024 * 1024;

/** The words of the last message come back. */
function echo({ body }: Sent): Promise<Response> {
  const last = Array.isArray(body.messages) ? body.messages.at(-1) : null;
  return saying(...String(isObject(last) ? last.content : "").split(/(?= )/));
}

const CONFIG = oneProvider("http://up.test");
const echoing = () => socketGateway(CONFIG, wordStreams(echo));

type Message = string | JsonObject | Uint8Array<ArrayBuffer>;

const bad: fc.Arbitrary<Message> = fc.oneof(
  fc.string({ unit: anyCharacter }).filter((text) => !text.trim().startsWith("{")),
  fc.json().filter((text) => !text.startsWith("{")),
  fc.constantFrom<Message>(
    "",
    "[]",
    "null",
    '{"type":"response.create"',
    '{"type":"response.create"} {}',
    '{"type":"response.create","type":"response.create"}',
    { type: "response.created" },
    { type: "response.cancel", response_id: "resp_1" },
    { type: ["response.create"] },
    { model: "m", input: "no type" },
    create({ input: 7 }),
    create({ input: "" }),
    create({ generate: "no" }),
    create({ stream_id: 7 }),
    create({ background: true }),
    { type: "response.create", response: [] },
    create({ response: { model: "m", input: "twice" } }),
    create({ previous_response_id: "resp_unknown" }),
  ),
  fc.uint8Array({ minLength: 1 }).map((bytes) => Uint8Array.from([0xff, ...bytes])),
  fc.uint8Array().filter((bytes) => bytes[0] !== 0x7b).map((bytes) => Uint8Array.from(bytes)),
);

const good: fc.Arbitrary<{ readonly input: string; readonly lane: string | null }> = fc.record({
  input: fc.stringMatching(/^[a-z]{1,8}( [a-z]{1,8}){0,3}$/),
  lane: fc.option(fc.stringMatching(/^[a-z]{1,5}$/)),
});

const messages = fc.array(
  fc.oneof(bad.map((message) => ({ message })), good.map((turn) => ({ turn }))),
  { minLength: 1, maxLength: 16 },
);

function checkGood({ events, ending, output }: TurnEvents, input: string, lane: string | null) {
  assertEquals([ending, output], ["response.completed", input]);
  assertEquals<unknown>(events.map((event) => event.sequence_number), [...events.keys()]);
  assert(events.every((event) => (event.stream_id ?? null) === lane), JSON.stringify(events));
}

function checkBad({ events, end, error }: TurnEvents) {
  assertEquals(events.length, 1);
  assertEquals<unknown>(
    [end.type, end.status, end.sequence_number, error.type],
    ["error", 400, 0, "invalid_request_error"],
  );
  const { code, message, param } = error;
  assert(typeof code === "string" && typeof message === "string");
  assertEquals<unknown>([end.code, end.message, end.param], [code, message, param]);
}

for (const ahead of [false, true]) {
  const how = ahead ? "all sent ahead" : "one after the other";

  Deno.test(`good turns between malformed messages all succeed, ${how}`, async () => {
    await using served = echoing();
    await fc.assert(
      fc.asyncProperty(messages, async (sent) => {
        await using client = await served.open();
        const send = (one: typeof sent[number]) =>
          client.send(
            "turn" in one
              ? create({
                input: one.turn.input,
                ...(one.turn.lane === null ? {} : { stream_id: one.turn.lane }),
              })
              : one.message,
          );
        if (ahead) sent.forEach(send);
        for (const one of sent) {
          if (!ahead) send(one);
          const received = await client.rest();
          if ("turn" in one) checkGood(received, one.turn.input, one.turn.lane);
          else checkBad(received);
        }
        await checkContinues(client);
        assertEquals(client.unread, 0);
      }),
      { numRuns: 20 },
    );
  });
}

/** Checks that a malformed message has left nothing behind. */
async function checkContinues(client: SocketClient) {
  const first = await client.turn(create({ input: "first", store: false }));
  checkBad(await client.turn("{"));
  const second = create({ input: "second", previous_response_id: first.id, store: false });
  checkGood(await client.turn(second), "second", null);
}

Deno.test("a message that is no object is refused by its type, which is missing", async () => {
  await using served = echoing();
  await using client = await served.open();
  for (const message of ["7", { type: "response.steer", stream_id: "s" }]) {
    const { end, error } = await client.turn(message);
    assertEquals<unknown>([end.status, error.type, error.param], [
      400,
      "invalid_request_error",
      "type",
    ]);
  }
});

Deno.test("bytes that are JSON are read like a text, and a message may come in fragments", async () => {
  await using served = echoing();
  await using client = await served.open();
  const text = JSON.stringify(create({ input: "größe" }));
  assertEquals(
    (await client.turn(Uint8Array.from(new TextEncoder().encode(text)))).output,
    "größe",
  );

  await using raw = await connectRaw(served.url);
  await raw.send(handshake(new URL(served.url).host));
  const bytes = new TextEncoder().encode(JSON.stringify(create({ input: "in pieces" })));
  await raw.send(frame(TEXT_CODE, bytes.slice(0, 9), false));
  await raw.send(frame(CONTINUES_CODE, bytes.slice(9, 10), false));
  await raw.send(frame(CONTINUES_CODE, bytes.slice(10)));
  const events = await raw.receiveUntil('"type":"response.completed"');
  assertMatch(events, /"text":"in pieces"/);
});

Deno.test("a message of 10 MiB is served, one byte more closes the socket", async () => {
  await using served = socketGateway(CONFIG, wordStreams(() => saying("large")));
  for (const isText of [true, false]) {
    await using client = await served.open();
    const empty = JSON.stringify(create({ input: "" }));
    const full = JSON.stringify(create({ input: "x".repeat(MAX_MESSAGE_CHARS - empty.length) }));
    const message = (text: string) =>
      isText ? text : Uint8Array.from(new TextEncoder().encode(text));
    assertEquals((await client.turn(message(full))).ending, "response.completed");
    client.send(message(full.replace("x", "xx")));
    assertEquals(await client.closed, 1009);
  }
  await served.gateway.state.inFlight.idle();
  assertEquals(await served.sockets(), 0);
});

Deno.test("a text that is not UTF-8 ends the connection, and nothing of it stays", async () => {
  await using served = echoing();
  for (const opcode of [TEXT_CODE, CONTINUES_CODE, 5, 11]) await checkEnds(served, opcode);
  await using client = await served.open();
  assertEquals((await client.turn(create())).output, "Hi");
});

async function checkEnds(served: SocketGateway, opcode: number) {
  await using raw = await connectRaw(served.url);
  await raw.send(handshake(new URL(served.url).host));
  await raw.send(frame(BINARY_CODE, "{}"));
  assertMatch(await raw.receiveUntil('"invalid_value"'), /"type":"error"/);
  await raw.send(frame(opcode, Uint8Array.of(0xff, 0xfe)));
  await raw.receiveUntil("nothing more comes");
  await served.gateway.state.inFlight.idle();
  assertEquals(await served.sockets(), 0);
}
