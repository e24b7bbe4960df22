import { ConnectionError } from "../../src/core/failure/connection_error.ts";
import { newHttpClient } from "../../src/http_client/client.ts";
import type { Clock } from "../../src/http_client/connection_pool.ts";
import type { Outgoing } from "../../src/core/world.ts";
import { assertEquals } from "../support/assert.ts";
import type { Line } from "../support/line.ts";
import { readRequest } from "../support/received_request.ts";
import { textOf } from "./heard.ts";
import { abortable, encoder, plain, post, type Served, server } from "./server.ts";

/** Behaviour of a server on a connection that was used before. */
type Second = (line: Line) => unknown;

/** Serves the first request of each connection, and calls the test's behaviour for the second. */
function stale(second: Second, clock?: Clock) {
  const paths: string[] = [];
  const served = server(async (line, number) => {
    for (let count = 1;; count++) {
      const request = await readRequest(line.read);
      if (request === null) return;
      paths.push(`${number} ${request.path}`);
      if (count > 1) return void await second(line);
      await line.write(encoder.encode(plain(`from ${number}`)));
    }
  }, clock);
  return { served, paths };
}

async function kindOf(work: Promise<unknown>): Promise<string> {
  return await work.then(() => "answered", (error: unknown) => {
    if (!(error instanceof ConnectionError)) return "?";
    return `${error.kind}${error.isAnswered ? ", answered" : ""}${
      error.mayHaveRun ? "" : ", not run"
    }`;
  });
}

async function used({ client, url }: Served): Promise<void> {
  await textOf(await client.send(`${url}/first`, post("x")));
}

/** A request that may be repeated, and how often it was. */
function repeatable(body: string | null = "x", more: Partial<Outgoing> = {}) {
  let repeats = 0;
  const onRepeat = () => void repeats++;
  return { request: post(body, { isRepeatable: true, onRepeat, ...more }), repeats: () => repeats };
}

const ENDS: Readonly<Record<string, Second>> = {
  "closed": (line) => line.close(),
  "half closed": async (line) => {
    await line.halfClose();
    while (await line.read() !== null);
  },
  "reset": (line) => line.reset(),
};

Deno.test("a reused connection that fails before any byte of the response is replaced by a new one, once", async () => {
  for (const [way, end] of Object.entries(ENDS)) {
    for (const body of [null, "x", "x".repeat(300_000)]) {
      const { served, paths } = stale(end);
      await using _closed = served;
      await used(served);
      const { request, repeats } = repeatable(body);
      const answer = await textOf(await served.client.send(`${served.url}/second`, request));
      assertEquals([answer, repeats()], ["from 2", 1], way);
      assertEquals(paths, ["1 /v1/first", "1 /v1/second", "2 /v1/second"], way);
    }
  }
});

Deno.test("a request is not sent again if its reused connection fails more than 1 s after the write", async () => {
  for (const [way, end] of Object.entries(ENDS)) {
    for (const [waitedMs, expected] of [[1_000, "answered"], [1_001, way]] as const) {
      let now = 0;
      const clock = { now: () => now, every: () => () => {}, after: () => () => {} };
      const { served, paths } = stale((line) => {
        now += waitedMs;
        return end(line);
      }, clock);
      await using _closed = served;
      await used(served);
      const { request, repeats } = repeatable();
      const kind = await kindOf(served.client.send(`${served.url}/second`, request));
      assertEquals(kind, expected === "half closed" ? "closed" : expected, `${way} ${waitedMs}`);
      const isRepeated = expected === "answered";
      assertEquals([repeats(), paths.length], isRepeated ? [1, 3] : [0, 2], `${way} ${waitedMs}`);
    }
  }
});

Deno.test("a request that is not repeatable is written once, whatever ends its reused connection", async () => {
  for (const [way, end] of Object.entries(ENDS)) {
    const { served, paths } = stale(end);
    await using _closed = served;
    await used(served);
    const kind = await kindOf(served.client.send(`${served.url}/second`, post("x")));
    assertEquals(kind, way === "reset" ? "reset" : "closed", way);
    assertEquals(paths, ["1 /v1/first", "1 /v1/second"], way);
  }
});

Deno.test("a new connection that fails is not replaced, also not the one that replaced another", async () => {
  const paths: string[] = [];
  await using served = server(async (line) => {
    for (let count = 1;; count++) {
      const request = await readRequest(line.read);
      if (request === null) return;
      paths.push(request.path);
      if (request.path !== "/v1/first") return line.close();
      await line.write(encoder.encode(plain("a")));
    }
  });
  const { request, repeats } = repeatable();
  assertEquals(await kindOf(served.client.send(`${served.url}/new`, request)), "closed");
  assertEquals(repeats(), 0);
  await used(served);
  assertEquals(await kindOf(served.client.send(`${served.url}/used`, request)), "closed");
  assertEquals(repeats(), 1);
  assertEquals(paths, ["/v1/new", "/v1/first", "/v1/used", "/v1/used"]);
});

Deno.test("a request is not sent again after its response has begun", async () => {
  for (const begin of ["H", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-le"]) {
    const { served, paths } = stale(async (line) => {
      await line.write(encoder.encode(begin));
      line.close();
    });
    await using _closed = served;
    await used(served);
    const { request, repeats } = repeatable();
    const kind = await kindOf(served.client.send(`${served.url}/second`, request));
    assertEquals([kind, repeats()], ["closed, answered", 0], begin);
    assertEquals(paths.length, 2);
  }
});

Deno.test("a request is not sent again after a malformed response on a reused connection", async () => {
  const { served } = stale((line) => line.write(encoder.encode("no HTTP\r\n\r\n")));
  await using _closed = served;
  await used(served);
  const { request, repeats } = repeatable();
  const kind = await kindOf(served.client.send(`${served.url}/second`, request));
  assertEquals([kind, repeats()], ["malformed, answered", 0]);
});

Deno.test("a request is not repeated after cancellation or after the client is closed", async () => {
  for (const way of ["abort", "close"]) {
    const came = Promise.withResolvers<void>();
    const { served, paths } = stale(async (line) => {
      came.resolve();
      while (await line.read() !== null);
    });
    await using _closed = served;
    await used(served);
    const { request, abort } = abortable("x");
    let repeats = 0;
    const onRepeat = () => void repeats++;
    const kind = kindOf(
      served.client.send(`${served.url}/second`, { ...request, isRepeatable: true, onRepeat }),
    );
    await came.promise;
    if (way === "abort") abort();
    else served.client.close();
    assertEquals([await kind, repeats, paths.length], ["aborted", 0, 2], way);
  }
});

Deno.test("a repeated request ends on cancellation, and its connection is closed", async () => {
  const { served, paths } = stale((line) => line.close());
  await using _closed = served;
  await used(served);
  const { request, abort } = abortable("x");
  const sent = served.client.send(`${served.url}/second`, {
    ...request,
    isRepeatable: true,
    onRepeat: abort,
  });
  // The first connection may have carried it.
  assertEquals(await kindOf(sent), "aborted");
  assertEquals(paths, ["1 /v1/first", "1 /v1/second"]);
});

Deno.test("a closed client connects to nothing", async () => {
  const client = newHttpClient();
  client.close();
  assertEquals(await kindOf(client.send("http://127.0.0.1:1/", post("x"))), "aborted, not run");
});
