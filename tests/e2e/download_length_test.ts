import { assert, assertEquals } from "../support/assert.ts";
import { serveGateway } from "../support/gateway.ts";

const CONTENT = "0123456789";

/** Answers of an upstream to the content of a file, each before it closes its connection. */
const ANSWERS: Readonly<Record<string, string>> = {
  whole: `HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n${CONTENT}`,
  part: "HTTP/1.1 206 Partial\r\ncontent-range: bytes 2-3/10\r\ncontent-length: 2\r\n\r\n23",
  chunked: `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\n${CONTENT}\r\n0\r\n\r\n`,
  cut: "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n01234",
};

/**
 * Starts an upstream and a gateway before it, and runs `use` with the address of the content of a
 * file.
 */
async function withGateway(use: (contentOf: (id: string) => string) => Promise<void>) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answering = (async () => {
    for await (const connection of listener) {
      const request = new Uint8Array(4_096);
      const size = await connection.read(request) ?? 0;
      const head = new TextDecoder().decode(request.subarray(0, size));
      const [, id = ""] = /\/files\/(\w+)\//.exec(head) ?? [];
      let answer = new TextEncoder().encode(
        ANSWERS[id]?.replace("\r\n", "\r\ncontent-type: text/plain\r\nconnection: close\r\n") ?? "",
      );
      while (answer.length > 0) answer = answer.subarray(await connection.write(answer));
      connection.close();
    }
  })();
  {
    await using gateway = serveGateway(`
providers:
  up: {type: compat, base_url: "http://127.0.0.1:${listener.addr.port}", capabilities: {relay: [files]}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`);
    await use((id) => `${gateway.url}/v1/files/${id}/content`);
  }
  listener.close();
  await answering;
}

const NAMED = { "x-gateway-provider": "up" };

Deno.test("a download has the length that the provider declares, so that clients can show its progress", async () => {
  await withGateway(async (contentOf) => {
    for (
      const [id, status, length, text] of [
        ["whole", 200, "10", CONTENT],
        ["part", 206, "2", "23"],
        ["chunked", 200, null, CONTENT],
      ] as const
    ) {
      const response = await fetch(contentOf(id), { headers: { ...NAMED, range: "bytes=2-3" } });
      const { headers } = response;
      assertEquals([response.status, headers.get("content-length")], [status, length], id);
      assertEquals(headers.has("transfer-encoding"), length === null);
      assertEquals(await response.text(), text);
    }
  });
});

Deno.test("a download with a length that breaks off is no whole one for the client", async () => {
  await withGateway(async (contentOf) => {
    const failure = await fetch(contentOf("cut"), { headers: NAMED })
      .then((response) => response.text()).catch((error: unknown) => error);
    assert(failure instanceof Error);
  });
});
