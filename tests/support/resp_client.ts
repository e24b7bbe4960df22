/** A reply of a Valkey server: texts, integers and lists; errors are thrown. */
export type RespReply = string | number | null | readonly RespReply[];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Sends one command on a new connection and returns the reply. It is the tests' own reading of
 * the protocol, so that a server can be looked into without the library that is tested.
 */
export async function sendCommand(
  port: number,
  command: readonly string[],
  auth: readonly string[] = [],
): Promise<RespReply> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const commands = auth.length > 0 ? [["AUTH", ...auth], command] : [command];
  const readReply = newReader(connection);
  let reply: RespReply = null;
  for (const parts of commands) {
    await writeAll(connection, encoder.encode(encodeCommand(parts)));
    reply = await readReply();
  }
  return reply;
}

function encodeCommand(parts: readonly string[]): string {
  const bulks = parts.map((part) => `$${encoder.encode(part).length}\r\n${part}\r\n`);
  return `*${parts.length}\r\n${bulks.join("")}`;
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

function newReader(connection: Deno.Conn): () => Promise<RespReply> {
  let buffer = new Uint8Array(0);

  async function readMore(): Promise<void> {
    const chunk = new Uint8Array(64 * 1024);
    const count = await connection.read(chunk);
    if (count === null) throw new Error("the server has closed the connection");
    const joined = new Uint8Array(buffer.length + count);
    joined.set(buffer);
    joined.set(chunk.subarray(0, count), buffer.length);
    buffer = joined;
  }

  async function take(count: number): Promise<string> {
    while (buffer.length < count) await readMore();
    const text = decoder.decode(buffer.subarray(0, count));
    buffer = buffer.slice(count);
    return text;
  }

  async function takeLine(): Promise<string> {
    let end = buffer.indexOf(10);
    while (end < 0) {
      await readMore();
      end = buffer.indexOf(10);
    }
    return (await take(end + 1)).slice(0, -2);
  }

  return async function readReply(): Promise<RespReply> {
    const line = await takeLine();
    const rest = line.slice(1);
    switch (line[0]) {
      case "+":
        return rest;
      case ":":
        return Number(rest);
      case "$":
        return rest === "-1" ? null : (await take(Number(rest) + 2)).slice(0, -2);
      case "*": {
        const list: RespReply[] = [];
        for (let index = 0; index < Number(rest); index++) list.push(await readReply());
        return list;
      }
      default:
        throw new Error(rest);
    }
  };
}
