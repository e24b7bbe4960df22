import { assertEquals } from "../support/assert.ts";
import { textOf } from "./heard.ts";
import { answering, encoder, plain, post, server } from "./server.ts";

const ECHO = answering(({ method, path, body }) =>
  plain(`${method} ${path} ${body.length} ${body.slice(0, 3)}`)
);

Deno.test("requests of any size use one connection, one after the other", async () => {
  await using served = server(ECHO);
  for (const length of [0, 3, 40_000, 300_000]) {
    const answer = await served.client.send(`${served.url}?a=b`, post("x".repeat(length)));
    assertEquals(await textOf(answer), `POST /v1?a=b ${length} ${"x".repeat(length).slice(0, 3)}`);
  }
  assertEquals(await textOf(await served.client.send(served.url, post(null))), "GET /v1 0 ");
  assertEquals(served.connections(), 1);
});

Deno.test("requests at the same time have a connection each", async () => {
  await using served = server(ECHO);
  const answers = await Promise.all(
    ["one", "two", "six"].map(async (text) => await served.client.send(served.url, post(text))),
  );
  const texts = await Promise.all(answers.map(textOf));
  assertEquals(texts, ["one", "two", "six"].map((text) => `POST /v1 3 ${text}`));
  assertEquals(served.connections(), 3);
});

Deno.test("a response that arrives before the request body is sent is returned", async () => {
  await using served = server(async (line) => {
    await line.read();
    await line.write(encoder.encode("HTTP/1.1 413 No\r\ncontent-length: 0\r\n\r\n"));
    await line.halfClose();
    while (await line.read() !== null);
  });
  const answer = await served.client.send(served.url, post("x".repeat(8_000_000)));
  assertEquals([answer.status, await textOf(answer)], [413, ""]);
});
