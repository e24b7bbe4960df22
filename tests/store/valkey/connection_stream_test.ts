import { newConnectionStream } from "../../../src/store/valkey/connection_stream.ts";
import { assertEquals } from "../../support/assert.ts";

const SILENT = new Error("Socket timeout. Expecting data, but didn't receive any in 500ms.");

/** A connection whose reads end when the test says so. */
function scriptedConnection() {
  let isOpen = true;
  const reads: PromiseWithResolvers<number | null>[] = [];
  const connection = {
    read(buffer: Uint8Array) {
      const read = Promise.withResolvers<number | null>();
      reads.push(read);
      buffer.set(new TextEncoder().encode("+OK\r\n"));
      return read.promise;
    },
    write: (bytes: Uint8Array) => Promise.resolve(bytes.length),
    close() {
      isOpen = false;
      for (const { resolve } of reads) resolve(null);
    },
  };
  return {
    // Only what the stream uses of a connection is played.
    stream: newConnectionStream(connection as unknown as Deno.Conn),
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
  stream.destroy(SILENT);
  connection.reply();
  await replied;
  await new Promise((resolve) => setTimeout(resolve, 10));
  assertEquals([stream.destroyed, connection.isOpen], [false, true]);
  stream.destroy();
  assertEquals([stream.destroyed, connection.isOpen], [true, false]);
});

Deno.test("a server that has sent nothing is silent, and its connection is closed with that error", async () => {
  const connection = scriptedConnection();
  const failed = new Promise((resolve) => void connection.stream.once("error", resolve));
  connection.stream.resume();
  connection.stream.destroy(SILENT);
  assertEquals(await failed, SILENT);
  assertEquals(connection.isOpen, false);
});
