import { Cancellation } from "../../src/core/cancellation.ts";
import { newReadBuffer } from "../../src/http_client/read_buffer.ts";
import { roundTrip } from "../../src/http_client/round_trip.ts";
import { assertEquals } from "../support/assert.ts";
import { textOf } from "./heard.ts";
import { encoder } from "./server.ts";

/** Returns what becomes of a connection whose request loses the memory of a part at a write. */
async function endOf(freedAt: number | null, freed: number): Promise<readonly string[]> {
  const parts = [3, 4, 5].map((size) => new Uint8Array(size));
  const ends: string[] = [];
  const response = [encoder.encode("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")];
  const written = Promise.withResolvers<void>();
  let count = 0;
  const received = newReadBuffer({
    async read(into: Uint8Array) {
      await written.promise;
      const bytes = response.shift();
      into.set(bytes ?? new Uint8Array());
      return bytes?.length ?? null;
    },
  });
  let timer: number | null = null;
  const line = {
    received,
    write() {
      if (freedAt === count) parts[freed]?.buffer.transfer(0);
      count += 1;
      // One timer, which the read waits for: a second one could outlast the test.
      if (count === 3 || freedAt !== null) timer ??= setTimeout(written.resolve);
      return Promise.resolve();
    },
    release: () => void ends.push("reused"),
    close: () => void ends.push("closed"),
    isOpen: () => true,
  };
  const answer = await roundTrip(line, parts, { cancellation: new Cancellation() });
  assertEquals(await textOf(answer), "ok");
  return ends;
}

Deno.test("a connection is reused after a whole request, not after one whose memory was freed", async () => {
  assertEquals(await endOf(null, 0), ["reused"]);
  assertEquals(await endOf(1, 1), ["closed"], "during the write of the part");
  assertEquals(await endOf(0, 2), ["closed"], "before the write of the part");
});
