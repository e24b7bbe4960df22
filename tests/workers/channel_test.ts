import { MAX_WAITING_MESSAGES, newChannel } from "../../src/workers/channel.ts";
import { assertEquals } from "../support/assert.ts";

type Message = { readonly kind: string; readonly at?: number };

function channelOver(input: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const { readable, writable } = new TransformStream<
    Uint8Array<ArrayBuffer>,
    Uint8Array<ArrayBuffer>
  >();
  return { channel: newChannel<Message, Message>(input, writable), readable };
}

function inputOf(...texts: readonly string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from(texts.map((text) => new TextEncoder().encode(text)));
}

async function receivedFrom(...texts: readonly string[]): Promise<readonly Message[]> {
  return await Array.fromAsync(channelOver(inputOf(...texts)).channel.received());
}

Deno.test("messages arrive in the order in which they are sent, until the channel is closed", async () => {
  const { channel, readable } = channelOver(inputOf());
  const other = newChannel<Message, Message>(readable, new WritableStream());
  const received = Array.fromAsync(other.received());
  const messages = [1, 2, 3].map((at) => ({ kind: "n", at }));
  assertEquals(messages.map((message) => channel.send(message)), [true, true, true]);
  await channel.close();
  assertEquals(await received, messages);
});

Deno.test("a message that is no JSON ends the channel after the messages before it", async () => {
  assertEquals(await receivedFrom('{"kind":"a"}\n{"ki', 'nd":"b"}\noops\n{"kind":"c"}\n'), [
    { kind: "a" },
    { kind: "b" },
  ]);
});

Deno.test("messages of more than 32 MiB together do not wait behind another one, and one alone may be longer", async () => {
  const { channel, readable } = channelOver(inputOf());
  const text = "x".repeat(20 * 1024 * 1024);
  const sent = [text + text, "", text, ""].map((kind) => channel.send({ kind }));
  assertEquals(sent, [true, false, false, false]);
  await readable.cancel();
  await channel.close();
  const other = channelOver(inputOf());
  const more = ["", text, text, ""].map((kind) => other.channel.send({ kind }));
  assertEquals(more, [true, true, false, true]);
  await other.readable.cancel();
  await other.channel.close();
});

Deno.test("a thousand credentials are handed over at once, also to a worker that does not read yet", async () => {
  const { channel, readable } = channelOver(inputOf());
  const sent = Array.from({ length: 1_000 }, () => channel.send({ kind: "credential" }));
  assertEquals(new Set(sent), new Set([true]));
  await readable.cancel();
  await channel.close();
});

Deno.test("a process that reads nothing gets a bounded number of messages", async () => {
  const { channel, readable } = channelOver(inputOf());
  let count = 0;
  while (count <= MAX_WAITING_MESSAGES && channel.send({ kind: "n" })) count++;
  assertEquals(count, MAX_WAITING_MESSAGES);
  await readable.cancel();
  await channel.close();
});
