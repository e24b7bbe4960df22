import { Buffer } from "node:buffer";

/**
 * Opens connections to a server and lets them rest; run as a process, because each needs a
 * descriptor. Arguments: host, port, how many, and the kinds of rest, which take turns. Prints
 * `open`; for each line on stdin the number of connections that have ended since; and `closed` when
 * all of them have.
 */
const [hostname = "", port = "", count = "", ...kinds] = Deno.args;

/** Bytes that a connection sends before it rests. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  silent: "",
  unfinished: "POST /v1/chat/completions HTTP/1.1\r\nhost: localh",
  served: "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n",
};

/**
 * Connections that are opened at the same time: more would not fit into the queue of a listener.
 */
const MAX_OPENING = 100;

const encoder = new TextEncoder();
const wanted = Number(count);
let opened = 0;
let ended = 0;

async function openSome() {
  while (opened < wanted) {
    const kind = kinds[opened++ % kinds.length] ?? "silent";
    const connection = await Deno.connect({ hostname, port: Number(port) });
    const beginning = BEGINNINGS[kind] ?? "";
    if (beginning !== "") await connection.write(encoder.encode(beginning));
    if (kind === "served") await untilAnswered(connection);
    void rest(connection);
  }
}

async function untilAnswered(connection: Deno.Conn) {
  const buffer = new Uint8Array(1024);
  for (let text = ""; !text.includes('"status":"ok"');) {
    const length = await connection.read(buffer);
    if (length === null) throw new Error("a connection ended before it was answered");
    text += Buffer.from(buffer.subarray(0, length)).toString("latin1");
  }
}

async function rest(connection: Deno.Conn) {
  const end = await connection.read(new Uint8Array(1)).catch(() => null);
  if (end !== null) throw new Error("a connection that rests was sent something");
  connection.close();
  if (++ended === wanted) console.log("closed");
}

await Promise.all(Array.from({ length: MAX_OPENING }, openSome));
console.log("open");
for await (const _line of Deno.stdin.readable) console.log(`ended ${ended}`);
Deno.exit(0);
