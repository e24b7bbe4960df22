import { encodePost, newHttpClient } from "../../../scripts/bench/http_client.ts";
import { assertEquals } from "../../support/assert.ts";

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
