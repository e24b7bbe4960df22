import { newLogWriter } from "../../src/observe/log_writer.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** A reader that takes what it is given only when the test lets it. */
function slowReader() {
  const decoder = new TextDecoder();
  const asked: { readonly text: string; readonly take: (bytes: number) => void }[] = [];
  let arrived = Promise.withResolvers<void>();
  return {
    write(bytes: Uint8Array): Promise<number> {
      const { promise, resolve } = Promise.withResolvers<number>();
      asked.push({ text: decoder.decode(bytes), take: resolve });
      arrived.resolve();
      return promise;
    },
    /** The next write in the background. */
    async next() {
      if (asked.length === 0) await arrived.promise;
      arrived = Promise.withResolvers();
      const write = asked.shift();
      assert(write !== undefined);
      return write;
    },
  };
}

Deno.test("log lines are gathered into one write, and the rest of a partial write follows", async () => {
  const reader = slowReader();
  const writer = newLogWriter(reader);
  for (const line of ["one\n", "two\n", "three\n"]) writer.write(line);
  const first = await reader.next();
  assertEquals(first.text, "one\ntwo\nthree\n");
  first.take(5);
  const second = await reader.next();
  assertEquals(second.text, "wo\nthree\n");
  second.take(9);
});

Deno.test("lines that come during a write follow it", async () => {
  const reader = slowReader();
  const writer = newLogWriter(reader);
  writer.write("one\n");
  const first = await reader.next();
  writer.write("two\n");
  writer.write("three\n");
  first.take(4);
  const second = await reader.next();
  assertEquals(second.text, "two\nthree\n");
  second.take(10);
});

Deno.test("a slow reader of the log loses lines, not memory, and the number of lost lines is logged", async () => {
  for (const isJson of [false, true]) {
    const reader = slowReader();
    const writer = newLogWriter(reader);
    const line = isJson ? `{"msg":"${"x".repeat(99_990)}"}\n` : `${"x".repeat(99_999)}\n`;
    for (let n = 0; n < 50; n++) writer.write(line);
    const { text, take } = await reader.next();
    assert(text.length <= 4 * 1024 * 1024 + 200);
    const lines = text.trimEnd().split("\n");
    const note = lines.pop() ?? "";
    assert(note.includes(`${50 - lines.length} log lines were dropped: the reader is too slow`));
    assertEquals(note.startsWith("{"), isJson);
    take(text.length);
  }
});

Deno.test("a flush waits for the lines that are being written and for those behind them", async () => {
  const reader = slowReader();
  const writer = newLogWriter(reader);
  writer.write("one\n");
  const first = await reader.next();
  writer.write("two\n");
  let isFlushed = false;
  const flushed = writer.flush().then(() => isFlushed = true);
  // A pipe may take less than it is given.
  first.take(1);
  const rest = await reader.next();
  assertEquals([rest.text, isFlushed], ["ne\n", false]);
  rest.take(3);
  const second = await reader.next();
  assertEquals([second.text, isFlushed], ["two\n", false]);
  second.take(4);
  await flushed;
});

Deno.test("a flush writes at once what is gathered, and nothing twice", async () => {
  const reader = slowReader();
  const writer = newLogWriter(reader);
  writer.write("the last line of all\n");
  const flushed = writer.flush();
  const { text, take } = await reader.next();
  assertEquals(text, "the last line of all\n");
  take(text.length);
  await flushed;
  await writer.flush();
});

Deno.test("a log reader that reads nothing does not keep the process from ending", async () => {
  const writer = newLogWriter(slowReader(), 1);
  writer.write("never read\n");
  await writer.flush();
});

Deno.test("a closed log pipe does not fail the process", async () => {
  const tried = Promise.withResolvers<void>();
  const again = Promise.withResolvers<void>();
  let writes = 0;
  const writer = newLogWriter({
    write() {
      writes++;
      (writes === 1 ? tried : again).resolve();
      return Promise.reject(new Deno.errors.BrokenPipe());
    },
  });
  writer.write("one\n");
  await tried.promise;
  writer.write("two\n");
  await again.promise;
  writer.write("three\n");
  await writer.flush();
  assertEquals(writes, 3);
});

Deno.test("a log line is formatted when it is written, and at most 256 lines wait for that", async () => {
  const reader = slowReader();
  const writer = newLogWriter(reader);
  let made = 0;
  const line = () => `${++made}\n`;
  for (let n = 0; n < 255; n++) writer.write(line);
  assertEquals(made, 0);
  writer.write(line);
  assertEquals(made, 256);
  writer.write(line);
  writer.write("last\n");
  const { text, take } = await reader.next();
  assertEquals(made, 257);
  assertEquals(text.split("\n").slice(-4), ["256", "257", "last", ""]);
  take(text.length);
});
