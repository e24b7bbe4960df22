import { assert, assertEquals } from "../support/assert.ts";
import { readRequest } from "../support/received_request.ts";
import { textOf } from "./heard.ts";
import { answering, encoder, post, type Served, server } from "./server.ts";

/** One whole exchange. */
async function ask({ client, url }: Served): Promise<string> {
  return await textOf(await client.send(url, post("x")));
}

Deno.test("a body whose framing other parsers refuse is read, and its connection is not reused", async () => {
  const chunked = "transfer-encoding: chunked\r\n\r\n";
  const framed = [
    "transfer-encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    `${chunked}5 \r\nhello\r\n0\r\n\r\n`,
    `${chunked}5;\r\nhello\r\n0\r\n\r\n`,
    `${chunked}5\r\nhello\r\n0\r\ntrailer\r\n\r\n`,
    "content-length: 5, 5\r\n\r\nhello",
  ];
  for (const body of framed) {
    await using served = server(answering(() => `HTTP/1.1 200 OK\r\n${body}`));
    assertEquals([await ask(served), await ask(served)], ["hello", "hello"], body);
    assertEquals(served.connections(), 2, body);
  }
});

Deno.test("a response with transfer-encoding identity is refused immediately, and its connection is closed", async () => {
  for (const length of ["", "content-length: 5\r\n"]) {
    const closed = Promise.withResolvers<boolean>();
    await using served = server(async (line) => {
      await readRequest(line.read);
      const head = `HTTP/1.1 200 OK\r\ntransfer-encoding: identity\r\n${length}\r\n`;
      await line.write(encoder.encode(`${head}hello`));
      // The server would keep it open.
      closed.resolve(await line.read() === null);
    });
    const error = await ask(served).then(() => null, (error: unknown) => error);
    assert(error instanceof Error);
    assertEquals(error.message, "the response has an unknown transfer coding");
    assert(await closed.promise);
  }
});
