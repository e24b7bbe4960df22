import { httpClient } from "../../../src/core/http/client.ts";
import type { Incoming, Outgoing } from "../../../src/core/world.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type Line, openLine } from "../../support/line.ts";
import { readRequest, type ReceivedRequest } from "../../support/received_request.ts";

const encoder = new TextEncoder();

/** A server that serves each connection with the script, and a client. */
function server(script: (line: Line, number: number) => Promise<void>, hostname = "127.0.0.1") {
  const listener = Deno.listen({ hostname, port: 0 });
  const client = httpClient();
  const lines: Line[] = [];
  const running: Promise<void>[] = [];
  const accepting = accept();

  async function accept() {
    for await (const connection of listener) {
      const line = openLine(connection);
      lines.push(line);
      running.push(script(line, lines.length));
    }
  }

  return {
    port: listener.addr.port,
    url: `http://127.0.0.1:${listener.addr.port}/v1`,
    client,
    connections: () => lines.length,
    async [Symbol.asyncDispose]() {
      client.close();
      listener.close();
      await accepting;
      for (const line of lines) line.close();
      await Promise.all([...running, ...lines.map((line) => line.quiet())]);
    },
  };
}

/** Answers every request of a connection. */
function answering(answer: (request: ReceivedRequest, count: number) => string) {
  return async (line: Line) => {
    for (let count = 1;; count++) {
      const request = await readRequest(line.read);
      if (request === null) return;
      await line.write(encoder.encode(answer(request, count)));
    }
  };
}

function post(body: string | null, more: Partial<Outgoing> = {}): Outgoing {
  return {
    method: body === null ? "GET" : "POST",
    headers: {},
    body,
    signal: () => new AbortController().signal,
    onAbort() {},
    ...more,
  };
}

async function textOf({ body }: Incoming): Promise<string> {
  if (body === null || body instanceof ReadableStream) return "";
  let text = "";
  for (;;) {
    const bytes = await body.read();
    if (bytes === null) return text;
    text += new TextDecoder().decode(bytes);
  }
}

function plain(text: string, more = ""): string {
  return `HTTP/1.1 200 OK\r\n${more}content-length: ${encoder.encode(text).length}\r\n\r\n${text}`;
}

const ECHO = ({ method, path, body }: ReceivedRequest) =>
  plain(`${method} ${path} ${body.length} ${body.slice(0, 3)}`);

Deno.test("requests of any size use one connection, one after the other", async () => {
  await using served = server(answering(ECHO));
  for (const length of [0, 3, 40_000, 300_000]) {
    const answer = await served.client.send(`${served.url}?a=b`, post("x".repeat(length)));
    assertEquals(await textOf(answer), `POST /v1?a=b ${length} ${"x".repeat(length).slice(0, 3)}`);
  }
  assertEquals(await textOf(await served.client.send(served.url, post(null))), "GET /v1 0 ");
  assertEquals(served.connections(), 1);
});

Deno.test("requests at the same time have a connection each", async () => {
  await using served = server(answering(ECHO));
  const answers = await Promise.all(
    ["one", "two", "six"].map(async (text) => await served.client.send(served.url, post(text))),
  );
  const texts = await Promise.all(answers.map(textOf));
  assertEquals(texts, ["one", "two", "six"].map((text) => `POST /v1 3 ${text}`));
  assertEquals(served.connections(), 3);
});

Deno.test("a connection that is to be closed is not used again", async () => {
  const closing = ["connection: close\r\n", "Connection: x, Close\r\n"];
  for (const more of closing) {
    await using served = server(answering(() => plain("a", more)));
    for (let count = 0; count < 2; count++) {
      assertEquals(await textOf(await served.client.send(served.url, post("x"))), "a");
    }
    assertEquals(served.connections(), 2);
  }
});

Deno.test("a body that is given up is not read to its end", async () => {
  await using served = server(answering(() => plain("abc")));
  const { body } = await served.client.send(served.url, post("x"));
  await body?.cancel();
  assertEquals(await textOf(await served.client.send(served.url, post("x"))), "abc");
  assertEquals(served.connections(), 2);
});

Deno.test("an answer that comes before the body is taken is the answer", async () => {
  await using served = server(async (line) => {
    await line.read();
    await line.write(encoder.encode("HTTP/1.1 413 No\r\ncontent-length: 0\r\n\r\n"));
    await line.halfClose();
    while (await line.read() !== null);
  });
  const answer = await served.client.send(served.url, post("x".repeat(8_000_000)));
  assertEquals([answer.status, await textOf(answer)], [413, ""]);
});

Deno.test("a request that is aborted is given up at once", async () => {
  const came = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  await using served = server(async (line) => {
    await readRequest(line.read);
    came.resolve();
    assertEquals(await line.read(), null);
    left.resolve();
  });
  let abort = () => {};
  const sending = served.client.send(served.url, post("x", { onAbort: (task) => abort = task }));
  const outcome = sending.then(() => "answered", () => "given up");
  await came.promise;
  abort();
  assertEquals(await outcome, "given up");
  await left.promise;
});

Deno.test("headers are sent as bytes; those that frame the request are the client's own", async () => {
  await using served = server(
    answering(({ headers }) => plain(JSON.stringify(Object.entries(headers).toSorted()))),
  );
  const headers = { "x-name": "caf\xe9", host: "evil", "transfer-encoding": "chunked" };
  const answer = await served.client.send(served.url, post("{}", { headers }));
  assertEquals(JSON.parse(await textOf(answer)), [
    ["accept", "*/*"],
    ["accept-language", "*"],
    ["content-length", "2"],
    ["host", `127.0.0.1:${served.port}`],
    ["x-name", "caf\xe9"],
  ]);
});

Deno.test("the user that an address names is sent where no header says another", async () => {
  await using served = server(answering(({ headers }) => plain(headers["authorization"] ?? "")));
  const url = served.url.replace("//", "//us%20er:pa%3Ass@");
  const answer = await served.client.send(url, post("x"));
  assertEquals(await textOf(answer), `Basic ${encoder.encode("us er:pa:ss").toBase64()}`);
  const other = await served.client.send(
    url,
    post("x", { headers: { authorization: "Bearer y" } }),
  );
  assertEquals(await textOf(other), "Bearer y");
});

Deno.test("a header that would end its line is not sent", async () => {
  await using served = server(answering(ECHO));
  const wrong = [{ "x-a": "1\r\nx-b: 2" }, { "x a": "1" }, { "x-a": "\u{1f600}" }, { "x-a": "\0" }];
  for (const headers of wrong) {
    const sending = served.client.send(served.url, post("x", { headers }));
    assert(await sending.then(() => false, () => true), JSON.stringify(headers));
  }
});

Deno.test("of several addresses one that answers is enough", async () => {
  await using served = server(answering(ECHO));
  const answer = await served.client.send(`http://localhost:${served.port}/v1`, post("x"));
  assertEquals(await textOf(answer), "POST /v1 1 x");
});
