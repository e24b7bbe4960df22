import { newConnectionStream } from "../../../src/store/valkey/connection_stream.ts";
import { assertEquals } from "../../support/assert.ts";

const SILENT = new Error("Socket timeout. Expecting data, but didn't receive any in 500ms.");

/** A connection whose reads end when the test says so. */
function scriptedConnection() {
  let isOpen = true;
  const reads: PromiseWithResolvers<number | null>[] = [];
  const begun = Promise.withResolvers<void>();
  const connection = {
    read(buffer: Uint8Array) {
      const read = Promise.withResolvers<number | null>();
      reads.push(read);
      begun.resolve();
      buffer.set(new TextEncoder().encode("+OK\r\n"));
      return read.promise;
    },
    write: (bytes: Uint8Array) => Promise.resolve(bytes.length),
    close() {
      isOpen = false;
      for (const { resolve } of reads) resolve(null);
    },
  };
  // Only what the stream uses of a connection is played.
  const stream = newConnectionStream(connection as unknown as Deno.Conn);
  const failed = new Promise((resolve) => void stream.once("error", resolve));
  stream.resume();
  return {
    stream,
    /** Resolves with the error of the stream. */
    failed,
    /** Resolves when a read is under way. */
    begun: begun.promise,
    reply: () => reads.shift()?.resolve(5),
    get isOpen() {
      return isOpen;
    },
  };
}

Deno.test("a server whose reply waits when the timer for its silence runs is not silent", async () => {
  const connection = scriptedConnection();
  const { stream } = connection;
  const replied = new Promise((resolve) => void stream.once("data", resolve));
  await connection.begun;
  stream.destroy(SILENT);
  connection.reply();
  await replied;
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals([stream.destroyed, connection.isOpen], [false, true]);
  stream.destroy();
  assertEquals([stream.destroyed, connection.isOpen], [true, false]);
});

Deno.test("a server that has sent nothing is silent, and its connection is closed with that error", async () => {
  const connection = scriptedConnection();
  await connection.begun;
  connection.stream.destroy(SILENT);
  assertEquals(await connection.failed, SILENT);
  assertEquals(connection.isOpen, false);
});
