import { configFile, testClient } from "../../cli/test_terminal.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { NOTICES_EARLY_LEAVE } from "../../support/runtime.ts";
import { startUpstream } from "../../support/upstream.ts";
import { started } from "./running.ts";

// Small where the runtime does not report that the client of a larger request disconnects.
const SIZE = NOTICES_EARLY_LEAVE ? 100_000 : 100;

const CALL = JSON.stringify({
  model: "any",
  stream: true,
  messages: [{ role: "user", content: "x".repeat(SIZE) }],
});

function configOver(upstream: string, route = "main"): string {
  return `
server: {port: 0}
providers: {up: {type: compat, base_url: "${upstream}"}}
routing: {routes: [{name: ${route}, targets: [{provider: up}]}]}
retry: {enabled: false}
`;
}

Deno.test("the program reloads a changed file by itself and on SIGHUP", async () => {
  using file = await configFile(configOver("http://127.0.0.1:9"));
  await using gateway = await started(["--config", file.path]);
  const { child, err } = gateway;

  const beside = `${file.path}.next`;
  await Deno.writeTextFile(beside, configOver("http://127.0.0.1:9", "second"));
  await Deno.rename(beside, file.path);
  assert(await err.until(/configuration reloaded.*second added/) !== null);

  await Deno.writeTextFile(file.path, `${configOver("http://127.0.0.1:9", "third")}\nno: key\n`);
  assert(await err.until(/no: is not a known key/) !== null);

  await Deno.writeTextFile(file.path, configOver("http://127.0.0.1:9", "fourth"));
  assert(await err.until(/configuration reloaded.*fourth added/) !== null);

  child.kill("SIGHUP");
  assertEquals((await gateway.ended())[0], 0);
});

Deno.test("a client that leaves ends the upstream call of the program", async () => {
  using client = testClient();
  await using upstream = startUpstream(async ({ head, chunk, closedByPeer }) => {
    await head(200, { "content-type": "text/event-stream" });
    const delta = { content: "word" };
    await chunk(`data: ${
      JSON.stringify({
        id: "c",
        object: "chat.completion.chunk",
        created: 1,
        model: "any",
        choices: [{ index: 0, delta, finish_reason: null }],
      })
    }\n\n`);
    await closedByPeer;
  });
  using file = await configFile(configOver(upstream.url));
  await using gateway = await started(["--config", file.path]);
  const leaving = new AbortController();
  const response = await client.fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    body: CALL,
    signal: leaving.signal,
  });
  assertEquals(response.status, 200);
  const texts = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assertMatch((await texts?.read())?.value ?? "", /word/);
  leaving.abort();
  const { closedByPeer } = await upstream.next();
  await closedByPeer;
  assert(await gateway.err.until(/path=\/v1\/chat\/completions .*end=client_gone/) !== null);
  await texts?.cancel().catch(() => {});
});

Deno.test("a client that leaves before the answer ends the upstream call of the program", async () => {
  using client = testClient();
  await using upstream = startUpstream(({ closedByPeer }) => closedByPeer);
  using file = await configFile(configOver(upstream.url));
  await using gateway = await started(["--config", file.path]);
  const leaving = new AbortController();
  const left = client.fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    body: CALL,
    signal: leaving.signal,
  }).then(() => "answered", () => "left");
  const { closedByPeer } = await upstream.next();
  leaving.abort();
  assertEquals(await left, "left");
  await closedByPeer;
  assert(await gateway.err.until(/path=\/v1\/chat\/completions .*end=client_gone/) !== null);
});

Deno.test("the program sends spans to a collector before it ends", async () => {
  using client = testClient();
  const received: string[] = [];
  await using collector = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      received.push(`${new URL(request.url).pathname} ${await request.text()}`);
      return Response.json({});
    },
  );
  await using upstream = startUpstream(({ json }) => json(404, { error: { message: "no" } }));
  using file = await configFile(configOver(upstream.url));
  await using gateway = await started(["--config", file.path], {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
  });
  const response = await client.fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    body: CALL,
  });
  assertEquals([response.status, (await response.text()).includes("no")], [404, true]);
  const [code, log] = await gateway.ended();
  assertEquals([code, log.includes("spans are lost")], [0, false]);
  assertEquals(received.length, 1);
  assertMatch(received[0] ?? "", /^\/v1\/traces .*"POST \/v1\/chat\/completions"/);
});
