import { assertEquals } from "../support/assert.ts";
import { openLine } from "../support/line.ts";
import { readRequest } from "../support/received_request.ts";
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

/**
 * Returns the results of a separate program that requests these URLs. It ends by itself, so no
 * connection stays open.
 */
async function asked(env: Readonly<Record<string, string>>, urls: string[]): Promise<string[]> {
  const program = new URL("asking.ts", import.meta.url).pathname;
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "-A", program, ...urls],
    env: { ...Object.fromEntries(PROXIES.map((name) => [name, ""])), ...env, NO_COLOR: "1" },
    stderr: "inherit",
  }).output();
  assertEquals(code, 0);
  return new TextDecoder().decode(stdout).replace(/\n$/, "").split("\n");
}

/** Responds to every request with its request line, and counts the connections with requests. */
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

Deno.test("only requests that need the proxy of the environment go through it", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  await using _served = echo(listener);
  const env = { http_proxy: `http://127.0.0.1:${port}`, NO_PROXY: ".provider.test" };
  const urls = [
    "http://provider.test/v1?a=b",
    `http://127.0.0.1:${port}/v1`,
    `http://localhost:${port}/v1`,
    "http://not-proxied.provider.test/v1",
  ];
  assertEquals(await asked(env, urls), [
    "POST http://provider.test/v1?a=b",
    "POST /v1",
    "POST /v1",
    "dns false",
  ]);
});

/** A proxy with one behaviour for every request. */
function proxyThat(answer: string) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let requests = 0;
  const serving = serve();

  async function serve() {
    for await (const connection of listener) {
      const line = openLine(connection);
      if (await readRequest(line.read) !== null) requests++;
      await line.write(encoder.encode(answer));
      line.close();
    }
  }

  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
    },
  };
}

Deno.test("a proxy that fails is the cause, and a request through one is written once", async () => {
  const urls = ["https://provider.test/", "http://provider.test/"];
  const dead = "http://127.0.0.1:1";
  assertEquals(await asked({ ALL_PROXY: dead }, urls), ["proxy false", "proxy false"]);
  const cases = [
    ["HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n", "proxy false", ""],
    ["", "proxy false", "closed true"],
    ["no HTTP\r\n\r\n", "proxy false", "malformed true"],
  ];
  for (const [answer = "", secure = "", plain = ""] of cases) {
    await using proxy = proxyThat(answer);
    assertEquals(await asked({ ALL_PROXY: proxy.url }, urls), [secure, plain]);
    assertEquals(proxy.requests(), 2, answer);
  }
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
  assertEquals(answers, ["POST /v1", "POST /v1", "tls_name false"]);
  assertEquals(served.asking(), 1);
  const [untrusted] = await asked({}, [url]);
  assertEquals(untrusted, "tls_untrusted false");
});
