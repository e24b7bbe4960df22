import { connectRaw } from "../server/raw_connection.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { until } from "../support/valkey_server.ts";

/** Descriptors of the program: some for itself, the rest for connections. */
const MAX_DESCRIPTORS = 100;

/** More connections than may wait to be accepted. */
const MAX_WAITING = 2_000;

const GET = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

for (const kind of ["own", "shared"] as const) {
  Deno.test(`a listener on its ${kind} port whose process has no descriptor left for a connection serves the connections that it has, and new ones once others are closed`, async () => {
    const program = new URL("../support/listening_program.ts", import.meta.url).pathname;
    const script = `ulimit -n ${MAX_DESCRIPTORS}; exec "$0" run -A --unstable-net "$1" "$2"`;
    const process = new Deno.Command("sh", {
      args: ["-c", script, Deno.execPath(), program, kind],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const errors = new Response(process.stderr).text();
    const lines = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const { value: url = "" } = await lines.read();
    const half: AsyncDisposable[] = [];
    {
      // It stays open to the end: the listener opens again before its last connection has ended.
      await using early = await connectRaw(url.trim());
      await early.send(GET);
      await early.receiveUntil("answer");
      while (half.length < MAX_WAITING && await opensHalf(url.trim(), half));
      assert(half.length < MAX_WAITING, "no connection was refused");
      await early.send(GET);
      assertMatch(await early.receiveUntil("answer"), /^HTTP\/1\.1 200 /);
      await Promise.all(half.map((connection) => connection[Symbol.asyncDispose]()));
      await until(() => isServed(url.trim()));
      const { value: warning = "" } = await lines.read();
      assertMatch(warning, /had no descriptor for a connection .*raise the limit of open files/);
      await early.send(GET);
      assertMatch(await early.receiveUntil("answer"), /^HTTP\/1\.1 200 /);
    }
    await process.stdin.close();
    while (!(await lines.read()).done);
    const { code } = await process.status;
    assertEquals(code, 0, `the program ended with ${code}: ${await errors}`);
  });
}

/** True if a new connection gets an answer. */
async function isServed(url: string): Promise<boolean> {
  try {
    await using connection = await connectRaw(url);
    await connection.send(GET);
    return (await connection.receiveUntil("answer")).startsWith("HTTP/1.1 200 ");
  } catch {
    return false;
  }
}

/** Opens a connection with a part of a request head. False once the listener is closed. */
async function opensHalf(url: string, opened: AsyncDisposable[]): Promise<boolean> {
  try {
    const connection = await connectRaw(url);
    opened.push(connection);
    return await connection.send("GET / HTTP/1.1\r\nx: ");
  } catch {
    return false;
  }
}
