import { isProxied } from "../../../src/core/http/runtime_client.ts";
import { assertEquals } from "../../support/assert.ts";
import { readRequest } from "../../support/received_request.ts";
import { encoder, plain } from "./server.ts";

const CERTIFICATE = new URL("localhost.pem", import.meta.url);
const KEY = new URL("localhost.key", import.meta.url);

const PROXIES = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "http_proxy",
  "https_proxy",
  "all_proxy",
];

/** What a program of its own says of these addresses; it ends by itself, so nothing of it is open. */
async function asked(env: Readonly<Record<string, string>>, urls: string[]): Promise<string[]> {
  const program = new URL("asking.ts", import.meta.url).pathname;
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "-A", program, ...urls],
    env: { ...Object.fromEntries(PROXIES.map((name) => [name, ""])), ...env, NO_COLOR: "1" },
    stderr: "inherit",
  }).output();
  assertEquals(code, 0);
  return new TextDecoder().decode(stdout).trimEnd().split("\n");
}

/** Says to every request what its line was, and counts the connections that asked something. */
function echo(listener: Deno.Listener<Deno.Conn>) {
  let asking = 0;
  const serving = serve();

  async function serve() {
    const serving: Promise<void>[] = [];
    for await (const connection of listener) serving.push(serveOne(connection));
    await Promise.all(serving);
  }

  async function serveOne(connection: Deno.Conn) {
    try {
      await answer(connection);
    } catch {
      // Who does not trust the server hangs up in the handshake.
    }
    connection.close();
  }

  async function answer(connection: Deno.Conn) {
    async function read() {
      const room = new Uint8Array(4096);
      const count = await connection.read(room);
      return count === null ? null : room.subarray(0, count);
    }
    for (let count = 0;; count++) {
      const request = await readRequest(read);
      if (request === null) return;
      if (count === 0) asking++;
      await connection.write(encoder.encode(plain(`${request.method} ${request.path}`)));
    }
  }

  return {
    asking: () => asking,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
    },
  };
}

Deno.test("a proxy in the environment is told by any of its variables", () => {
  for (const name of PROXIES) {
    assertEquals(isProxied((asked) => asked === name ? "http://proxy" : undefined), true);
    assertEquals(isProxied((asked) => asked === name ? "" : undefined), false);
  }
  assertEquals(isProxied((asked) => asked === "NO_PROXY" ? "*" : undefined), false);
});

Deno.test("where there is a proxy the runtime's client asks it", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  await using _served = echo(listener);
  const url = "http://provider.invalid/v1?a=b";
  const env = { http_proxy: `http://127.0.0.1:${port}`, NO_PROXY: "127.0.0.1" };
  const [answer, direct] = await asked(env, [url, `http://127.0.0.1:${port}/v1`]);
  assertEquals([answer, direct], [`POST ${url}`, "POST /v1"]);
});

Deno.test("a server is trusted for its name, over one connection for all requests", async () => {
  const listener = Deno.listenTls({
    hostname: "0.0.0.0",
    port: 0,
    cert: await Deno.readTextFile(CERTIFICATE),
    key: await Deno.readTextFile(KEY),
  });
  const { port } = listener.addr;
  await using served = echo(listener);
  const env = { DENO_CERT: CERTIFICATE.pathname };
  const url = `https://localhost:${port}/v1`;
  const answers = await asked(env, [url, url, `https://127.0.0.2:${port}`]);
  assertEquals(answers, ["POST /v1", "POST /v1", "tls error (Connect)"]);
  assertEquals(served.asking(), 1);
  const [untrusted] = await asked({}, [url]);
  assertEquals(untrusted, "tls error (Connect)");
});
