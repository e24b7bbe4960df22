import { encodePost, newHttpClient } from "../../../scripts/bench/http_client.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";

const request = encodePost("/v1/chat/completions", new TextEncoder().encode("{}"), {});

Deno.test("the load generator reads whole and chunked responses, and connects again where a server closes", async () => {
  const connections = new Set<number>();
  let count = 0;
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (_request, { remoteAddr }) => {
      connections.add(remoteAddr.port);
      count++;
      const headers = { "cache-control": "no-transform" };
      if (count === 1) return new Response("whole", { headers });
      if (count > 2) return new Response("last", { headers });
      const body = ReadableStream.from(["a chunked", " body"]).pipeThrough(new TextEncoderStream());
      return new Response(body, { headers: { ...headers, connection: "close" } });
    },
  );
  using client = await newHttpClient(server.addr.port);
  const bodies: string[] = [];
  for (let at = 0; at < 3; at++) {
    const { status, length } = await client.exchange(request);
    bodies.push(`${status} ${length} ${client.body()}`);
  }
  assertEquals(bodies, ["200 5 whole", "200 14 a chunked body", "200 4 last"]);
  assertEquals(connections.size, 2);
});

Deno.test("further headers of a request are sent, and take the place of the usual ones", () => {
  const headers = { "x-key": "k", authorization: "Bearer other" };
  const text = new TextDecoder().decode(encodePost("/x", new Uint8Array(0), headers));
  assertEquals(
    text,
    "POST /x HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n" +
      "authorization: Bearer other\r\nx-key: k\r\ncontent-length: 0\r\n\r\n",
  );
});

/**
 * Responses of a server that sends these bytes to each connection, and closes it behind a whole
 * response.
 */
async function exchangeOver(...responses: readonly string[]): Promise<readonly string[]> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = serve();
  async function serve() {
    for (const response of responses) {
      using connection = await listener.accept();
      await connection.read(new Uint8Array(1024));
      await connection.write(new TextEncoder().encode(response));
    }
  }
  using client = await newHttpClient(listener.addr.port);
  const results: string[] = [];
  for (const _response of responses) {
    results.push(
      await client.exchange(request).then(
        ({ status }) => `${status} ${client.body()}`,
        (error: Error) => error.message,
      ),
    );
  }
  await serving;
  return results;
}

Deno.test("a response without a body has its status, and one without a length lasts until its connection is closed", async () => {
  const results = await exchangeOver(
    "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
    "HTTP/1.1 200 OK\r\n\r\nuntil the end",
    "HTTP/1.1 502 Bad Gateway\r\n\r\n",
    "HTTP/1.0 200 OK\r\nContent-Length:5 \r\n\r\nfirst",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nother\r\n0\r\n\r\n",
  );
  assertEquals(results, ["500 ", "204 ", "200 until the end", "502 ", "200 first", "200 other"]);
});

Deno.test("bytes that are no response, and a response that ends before its length, are failures", async () => {
  const [first = ""] = await exchangeOver("hello\r\n\r\nworld");
  assertMatch(first, /^The response is not HTTP\/1\.1\.$/);
  const [cut = ""] = await exchangeOver("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nworld");
  assertMatch(cut, /^The server closed the connection\.$/);
});
