import { DEFAULT_TRANSPORT } from "../../src/core/transport.ts";
import type { Clock } from "../../src/http_client/connection_pool.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { releasedSockets } from "../support/held_sockets.ts";
import type { Line } from "../support/line.ts";
import { readRequest } from "../support/received_request.ts";
import { textOf } from "./heard.ts";
import { answering, encoder, plain, post, type Served, server } from "./server.ts";

/** One whole exchange. */
async function ask({ client, url }: Served, body = "x", keepAliveMs?: number): Promise<string> {
  const more = keepAliveMs === undefined
    ? {}
    : { transport: { ...DEFAULT_TRANSPORT, keepAliveMs } };
  return await textOf(await client.send(url, post(body, more)));
}

async function outcomeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(() => "answered", () => "broken");
}

/** A time that passes when the test says so. */
function handClock() {
  let now = 0;
  let tick: (() => void) | null = null;
  const clock: Clock = {
    now: () => now,
    every(_ms, task) {
      tick = task;
      return () => void (tick = null);
    },
    // No dial takes long here.
    after: () => () => {},
  };
  return {
    clock,
    isRunning: () => tick !== null,
    pass(ms: number) {
      now += ms;
      tick?.();
    },
  };
}

Deno.test("a connection with Connection: close is not reused", async () => {
  for (const more of ["connection: close\r\n", "Connection: x, Close\r\n"]) {
    await using served = server(answering(() => plain("a", more)));
    assertEquals([await ask(served), await ask(served)], ["a", "a"]);
    assertEquals(served.connections(), 2);
  }
});

Deno.test("a cancelled body is not read to its end", async () => {
  await using served = server(answering(() => plain("abc")));
  const { body } = await served.client.send(served.url, post("x"));
  await body?.cancel();
  assertEquals(await ask(served), "abc");
  assertEquals(served.connections(), 2);
});

Deno.test("an unrequested response is never used as the next response", async () => {
  const extra = plain("evil");
  await using served = server(
    answering((_request, count) => plain("a") + (count === 1 ? extra : "")),
  );
  assertEquals([await ask(served), await ask(served)], ["a", "a"]);
  assertEquals(served.connections(), 2);
});

Deno.test("a response on an idle connection closes the connection", async () => {
  const late = Promise.withResolvers<void>();
  await using served = server(async (line, number) => {
    await readRequest(line.read);
    await line.write(encoder.encode(plain(`from ${number}`)));
    if (number > 1) return;
    await late.promise;
    await line.write(encoder.encode(plain("evil")));
    // The client has received it when it hangs up.
    assertEquals(await line.read(), null);
    seen.resolve();
  });
  const seen = Promise.withResolvers<void>();
  assertEquals(await ask(served), "from 1");
  late.resolve();
  await seen.promise;
  assertEquals(await ask(served), "from 2");
});

Deno.test("a response that arrives in the moment of the next request is not taken for the next response", async () => {
  for (const descriptors of ["found", "not found"]) {
    using _hidden = descriptors === "found" ? null : withoutDescriptors();
    const lines: Line[] = [];
    await using served = server(async (line, number) => {
      lines.push(line);
      await answering(() => plain(`from ${number}`))(line);
    });
    assertEquals(await ask(served), "from 1");
    // The bytes are in the kernel when the next request is written: no other task runs between the
    // two.
    void lines[0]?.write(encoder.encode(plain("evil")));
    const next = ask(served);
    // The event loop is busy for so long that a timer of the request is due after it.
    const end = performance.now() + 5;
    while (performance.now() < end);
    assertEquals(await next, "from 2", descriptors);
    assertEquals(await ask(served), "from 2", descriptors);
    assertEquals(served.connections(), 2, descriptors);
  }
});

/** Hides the C library, as on systems where the sockets of the process cannot be reached. */
function withoutDescriptors(): Disposable {
  const { dlopen } = Deno;
  const released = releasedSockets();
  Deno.dlopen = () => {
    throw new Error("no library");
  };
  return {
    [Symbol.dispose]() {
      Deno.dlopen = dlopen;
      released[Symbol.dispose]();
    },
  };
}

Deno.test("a connection that the server closes while it is idle is not reused", async () => {
  const closed = Promise.withResolvers<void>();
  await using served = server(async (line, number) => {
    await readRequest(line.read);
    await line.write(encoder.encode(plain(`from ${number}`)));
    if (number > 1) return;
    await line.halfClose();
    assertEquals(await line.read(), null);
    closed.resolve();
  });
  assertEquals(await ask(served), "from 1");
  await closed.promise;
  assertEquals(await ask(served), "from 2");
});

Deno.test("a request is written once, on a new connection and on a reused one", async () => {
  for (const body of ["small", "x".repeat(300_000)]) {
    const came: string[] = [];
    await using served = server(async (line: Line) => {
      for (let count = 1;; count++) {
        const request = await readRequest(line.read);
        if (request === null) return;
        came.push(request.path);
        if (!request.path.endsWith("fine")) return line.close();
        await line.write(encoder.encode(plain("a")));
      }
    });
    const { client, url } = served;
    assertEquals(await outcomeOf(client.send(`${url}/new`, post(body))), "broken");
    assertEquals(await textOf(await client.send(`${url}/fine`, post(body))), "a");
    assertEquals(await outcomeOf(client.send(`${url}/used`, post(body))), "broken");
    assertEquals(came, ["/v1/new", "/v1/fine", "/v1/used"]);
    assertEquals(served.connections(), 2);
  }
});

Deno.test("a connection on which the request was not fully written is not reused", async () => {
  await using served = server(async (line, number) => {
    if (number > 1) return await answering(() => plain("b"))(line);
    await line.read();
    await line.write(encoder.encode(plain("too much")));
    await done.promise;
  });
  const done = Promise.withResolvers<void>();
  assertEquals(await ask(served, "x".repeat(30_000_000)), "too much");
  assertEquals(await ask(served), "b");
  assertEquals(served.connections(), 2);
  done.resolve();
});

Deno.test("an idle connection is closed after 4 s, also without further requests", async () => {
  const { clock, pass, isRunning } = handClock();
  const closed = Promise.withResolvers<void>();
  await using served = server(async (line, number) => {
    await answering(() => plain(`from ${number}`))(line);
    closed.resolve();
  }, clock);
  assert(!isRunning());
  assertEquals(await ask(served), "from 1");
  pass(3_999);
  assertEquals(await ask(served), "from 1");
  pass(4_000);
  assert(!isRunning());
  await closed.promise;
  assertEquals(await ask(served), "from 2");
});

Deno.test("at most 256 idle connections to one origin are pooled", async () => {
  await using served = server(answering(() => plain("a")));
  const all = async () => await Promise.all(Array.from({ length: 260 }, () => ask(served)));
  await all();
  assertEquals(served.connections(), 260);
  await all();
  assertEquals(served.connections(), 264);
});

Deno.test("nothing is open once the client is closed", async () => {
  const { clock, isRunning } = handClock();
  const came = Promise.withResolvers<void>();
  await using served = server(async (line, number) => {
    const request = await readRequest(line.read);
    if (number === 1) await line.write(encoder.encode(plain("a")));
    if (number === 2) await line.write(encoder.encode(plain("part").slice(0, -1)));
    if (number === 3 && request !== null) came.resolve();
    assertEquals(await line.read(), null);
  }, clock);
  const { client, url } = served;
  const idle = await client.send(url, post("x"));
  const partly = await client.send(url, post("x"));
  const waiting = outcomeOf(client.send(url, post("x")));
  await came.promise;
  assertEquals(await textOf(idle), "a");
  const reading = outcomeOf(textOf(partly));
  assert(isRunning());
  client.close();
  client.close();
  assertEquals([await waiting, await reading, isRunning()], ["broken", "broken", false]);
  assertEquals(await outcomeOf(client.send(url, post("x"))), "broken");
});

Deno.test("an empty line before the head of a response is skipped", async () => {
  await using served = server(answering(() => `\r\n\r\n${plain("a")}`));
  assertEquals(await ask(served), "a");
});

Deno.test("a connection is reused until one second before the server's Keep-Alive timeout", async () => {
  for (
    const [parameters, rest] of [["timeout=5, max=9", 4_000], ["timeout=900", 60_000]] as const
  ) {
    const hand = handClock();
    await using served = server(
      answering(() => plain("a", `keep-alive: ${parameters}\r\n`)),
      hand.clock,
    );
    await ask(served);
    hand.pass(rest - 1);
    await ask(served);
    assertEquals(served.connections(), 1, parameters);
    hand.pass(rest);
    await ask(served);
    assertEquals(served.connections(), 2, parameters);
  }
  await using brief = server(answering(() => plain("a", "Keep-Alive: timeout=1\r\n")));
  assertEquals([await ask(brief), await ask(brief), brief.connections()], ["a", "a", 2]);
});

Deno.test("a connection that the server closed while the event loop was busy is not reused after a long idle time", async () => {
  const hand = handClock();
  const closed = Promise.withResolvers<void>();
  await using served = server(async (line) => {
    await readRequest(line.read);
    await line.write(encoder.encode(plain("a")));
    if (served.connections() > 1) return void await line.read();
    line.close();
    closed.resolve();
  }, hand.clock);
  await ask(served);
  hand.pass(1_000);
  await closed.promise;
  assertEquals(await ask(served), "a");
  assertEquals(served.connections(), 2);
});

Deno.test("an idle connection is pooled for the configured time, or for the server's Keep-Alive timeout instead", async () => {
  const cases: readonly (readonly [number, string, number])[] = [
    [90_000, "", 90_000],
    [90_000, "timeout=5", 4_000],
    [1_000, "timeout=9", 8_000],
  ];
  for (const [keepAliveMs, parameters, rest] of cases) {
    const hand = handClock();
    const header = parameters === "" ? "" : `keep-alive: ${parameters}\r\n`;
    await using served = server(answering(() => plain("a", header)), hand.clock);
    await ask(served, "x", keepAliveMs);
    hand.pass(rest - 1);
    await ask(served, "x", keepAliveMs);
    assertEquals(served.connections(), 1, `${keepAliveMs} ${parameters}`);
    hand.pass(rest);
    await ask(served, "x", keepAliveMs);
    assertEquals(served.connections(), 2, `${keepAliveMs} ${parameters}`);
  }
});

Deno.test("with a keep-alive of 0 no connection is reused, and requests carry Connection: close", async () => {
  const named: (string | undefined)[] = [];
  await using served = server(answering(({ headers }) => {
    named.push(headers.connection);
    return plain("a", "keep-alive: timeout=60\r\n");
  }));
  await ask(served, "x", 0);
  await ask(served, "x", 0);
  await ask(served);
  assertEquals([named, served.connections()], [["close", "close", undefined], 3]);
});
