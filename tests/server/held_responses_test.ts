import { isObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got, verdictOf } from "../support/chat_call.ts";
import { oneProvider, type ServedGateway, serveGateway, testGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { storeUnderTest } from "../support/store_under_test.ts";
import { testOverStores } from "../support/over_stores.ts";
import { MAX_CLIENT_READS } from "../../src/store/read_turns.ts";
import { scriptedWorld } from "../support/world.ts";
import { until } from "../support/valkey_server.ts";
import { connectRaw } from "./raw_connection.ts";

const OVERLOADED = [503, "server_error", "overloaded"];

/** More than the system and the runtime take for a client that does not read. */
const LARGE_CHARS = 12_000_000;

/** An upstream whose responses have this many characters of text. */
function talking(chars: number) {
  const message = { role: "assistant", content: "x".repeat(chars) };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return startUpstream((exchange) => exchange.json(200, { ...COMPLETION, choices }));
}

function withServer(settings: string, url = "http://up.test"): string {
  return `${oneProvider(url)}server: {${settings}}`;
}

/** The bytes of a chat request on a connection. */
async function rawChat(): Promise<string> {
  const body = await chatRequest().text();
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** The reports of the chat calls that are over. */
function chats({ reports }: ServedGateway) {
  return reports.filter(({ path }) => path === "/v1/chat/completions");
}

/** Resolves when no call below `/v1/` is in flight. */
function idle({ gateway }: ServedGateway): Promise<void> {
  return until(() => Promise.resolve(gateway.state.admission.count() === 0));
}

/** Resolves when the gateway holds this many bytes of responses. */
function holding({ gateway }: ServedGateway, bytes: number): Promise<void> {
  return until(() => Promise.resolve(gateway.state.admission.responseBytes() >= bytes));
}

Deno.test("a call holds its place until its client has taken the whole response", async () => {
  await using upstream = talking(LARGE_CHARS);
  await using gateway = serveGateway(withServer("max_concurrent_requests: 1", upstream.url));
  await using slow = await connectRaw(gateway.url);
  await slow.send(await rawChat());
  await holding(gateway, LARGE_CHARS);
  assertEquals(verdictOf(await got(await fetch(chatRequest({ url: gateway.url })))), OVERLOADED);
  assertEquals(chats(gateway).map(({ status }) => status), [503]);
  await slow.receiveUntil('"finish_reason":"stop"}]}');
  await idle(gateway);
  assertEquals(gateway.gateway.state.admission.responseBytes(), 0);
  assertEquals(chats(gateway).map(({ status, failure }) => [status, failure?.kind]), [
    [503, "overloaded"],
    [200, undefined],
  ]);
});

Deno.test("the place of a call is free again when its client leaves in the middle of the response", async () => {
  await using upstream = talking(LARGE_CHARS);
  await using gateway = serveGateway(withServer("max_concurrent_requests: 1", upstream.url));
  {
    await using leaver = await connectRaw(gateway.url);
    await leaver.send(await rawChat());
    await holding(gateway, LARGE_CHARS);
  }
  await idle(gateway);
  const ends = chats(gateway).map(({ failure, brokeOff }) => [failure?.kind, brokeOff]);
  assertEquals(ends, [["client_cancelled", true]]);
  assertEquals(gateway.gateway.state.admission.responseBytes(), 0);
});

Deno.test("a client that reads each response and sends the next request never waits for its place", async () => {
  await using upstream = talking(300_000);
  await using gateway = serveGateway(withServer("max_concurrent_requests: 1", upstream.url));
  for (let count = 0; count < 20; count++) {
    const answer = await got(await fetch(chatRequest({ url: gateway.url })));
    assertEquals([answer.status, answer.text.length > 300_000], [200, true], String(count));
    assertEquals(answer.headers.get("content-length"), String(answer.text.length));
  }
});

Deno.test("a response that has arrived is sent above server.max_response_memory, and new calls are refused", async () => {
  await using upstream = talking(LARGE_CHARS);
  await using gateway = serveGateway(withServer("max_response_memory: 1000000", upstream.url));
  {
    await using client = await connectRaw(gateway.url);
    await client.send(await rawChat());
    await holding(gateway, LARGE_CHARS);
    const refused = await got(await fetch(`${gateway.url}/v1/models`));
    assertEquals(verdictOf(refused), OVERLOADED);
    assertEquals(refused.headers.get("retry-after"), "1");
    assertStringIncludes(refused.text, "server.max_response_memory");
    // The text of the metrics is held itself once it is on its way.
    const heldBytes = gateway.gateway.state.admission.responseBytes();
    const { text } = await got(await fetch(`${gateway.url}/metrics`));
    assertStringIncludes(text, 'gateway_overloaded_total{reason="response_memory"} 1\n');
    assertStringIncludes(text, `gateway_response_body_bytes ${heldBytes}\n`);
    assertStringIncludes(await client.receiveUntil('"finish_reason":"stop"}]}'), "200 OK");
    await idle(gateway);
  }
  assertEquals((await got(await fetch(`${gateway.url}/v1/models`))).status, 200);
});

Deno.test("a client that does not take its metrics gets no further ones, and no call is refused for them", async () => {
  await using gateway = serveGateway(withServer("max_response_memory: 1600000"));
  const { admission } = gateway.gateway.state;
  const scrape = "GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";
  assert(
    admission.admitScrape({ id: "unread", client: "address 127.0.0.1", bytes: 49_000, end() {} }),
  );
  // The text of the metrics is longer then.
  for (let at = 0; at < 30; at++) await got(await fetch(`${gateway.url}/v1/${"x".repeat(at)}`));
  await using refused = await connectRaw(gateway.url);
  await refused.send(scrape);
  const head = await refused.receiveUntil("\r\n\r\n");
  assertStringIncludes(head, "HTTP/1.1 503 ");
  assertStringIncludes(head.toLowerCase(), "retry-after: 1");
  assertEquals((await got(await fetch(`${gateway.url}/v1/models`))).status, 200);
  admission.release("unread");
  await using served = await connectRaw(gateway.url);
  await served.send(scrape);
  assertStringIncludes(await served.receiveUntil("\r\n\r\n"), "HTTP/1.1 200 ");
});

Deno.test("metrics of a further network end the oldest of the one with most, if all together have their part of the memory", async () => {
  const { app, gateway, reports } = testGateway(
    withServer("max_response_memory: 1600000"),
    scriptedWorld(),
  );
  const { admission } = gateway.state;
  // The text of the metrics is longer then.
  for (let at = 0; at < 30; at++) {
    const request = new Request(`http://localhost/v1/${"x".repeat(at)}`, {
      headers: { host: "localhost" },
    });
    await (await app(request)).body?.cancel();
  }
  const ended: string[] = [];
  const scrape = (hostname: string) => {
    const remoteAddr = { transport: "tcp", hostname, port: 1 } as const;
    const request = new Request("http://localhost/metrics", { headers: { host: "localhost" } });
    return app(request, {
      remoteAddr,
      whenTaken() {},
      abort: () => void ended.push(hostname),
    });
  };
  const hold = (hostname: string, bytes: number) =>
    admission.admitScrape({
      id: `${hostname} ${bytes}`,
      client: `address ${hostname}`,
      bytes,
      end: () => void ended.push(`${hostname} ${bytes}`),
    });
  const unread = await scrape("192.0.2.1");
  assert(hold("192.0.2.1", 25_000));
  for (let at = 2; at < 12; at++) assert(hold(`192.0.2.${at}`, 35_000));
  assertEquals([(await scrape("192.0.2.12")).status, ended], [200, ["192.0.2.1"]]);
  assertEquals(await unread.text().then(() => "whole", () => "broken off"), "broken off");
  assertEquals(reports.at(-1)?.failure?.kind, "overloaded");
  assertEquals([(await scrape("192.0.2.13")).status, ended.slice(1)], [200, ["192.0.2.2 35000"]]);
});

Deno.test("a client that takes nothing of a response is disconnected after server.write_timeout", async () => {
  await using upstream = talking(LARGE_CHARS);
  await using gateway = serveGateway(withServer("write_timeout: 1s", upstream.url));
  await using deaf = await connectRaw(gateway.url);
  await deaf.send(await rawChat());
  const report = await gateway.reported(1);
  assertEquals(report.failure?.kind, "client_cancelled");
  assert(report.ms.total >= 1_000, String(report.ms.total));
  assertEquals(gateway.gateway.state.admission.responseBytes(), 0);
});

Deno.test("a shutdown ends responses that their clients do not read, as draining", async () => {
  const message = { role: "assistant", content: "x".repeat(100_000) };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  const world = scriptedWorld({ fetch: () => answers(200, { ...COMPLETION, choices }) });
  const { app, gateway, reports } = testGateway(withServer("max_concurrent_requests: 5"), world);
  const response = await app(chatRequest());
  assertEquals(gateway.state.inFlight.count, 1);
  gateway.state.inFlight.cancelAll();
  assertEquals(reports.map(({ failure }) => failure?.kind), ["draining"]);
  assertEquals([gateway.state.inFlight.count, gateway.state.admission.responseBytes()], [0, 0]);
  assertEquals(await response.text().then(() => "whole", () => "broken off"), "broken off");
});

Deno.test("a response of 16 KiB is over when it is passed to the runtime, one byte more when it is taken", async () => {
  for (const [bytes, inFlight] of [[16 * 1024, 0], [16 * 1024 + 1, 1]] as const) {
    const chars = bytes - JSON.stringify(COMPLETION).length;
    const message = { role: "assistant", content: `Hi${"x".repeat(chars)}` };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const world = scriptedWorld({ fetch: () => answers(200, { ...COMPLETION, choices }) });
    const { app, gateway } = testGateway(oneProvider("http://up.test"), world);
    const response = await app(chatRequest());
    assertEquals(gateway.state.inFlight.count, inFlight);
    assertEquals((await response.text()).length, bytes);
    assertEquals(gateway.state.inFlight.count, 0);
  }
});

Deno.test("a call whose response the runtime has as a whole is in flight until the system says that it was taken", async () => {
  const message = { role: "assistant", content: "x".repeat(100_000) };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  const world = scriptedWorld({ fetch: () => answers(200, { ...COMPLETION, choices }) });
  const { app, gateway } = testGateway(oneProvider("http://up.test"), world);
  const tasks: (() => void)[] = [];
  const response = await app(chatRequest(), { whenTaken: (task) => void tasks.push(task) });
  await response.text();
  const { inFlight, admission } = gateway.state;
  assert(admission.responseBytes() > 100_000);
  assertEquals([inFlight.count, tasks.length], [1, 1]);
  for (const task of tasks) task();
  assertEquals([inFlight.count, admission.responseBytes()], [0, 0]);
});

/** A gateway with a conversation of this many items in the store under test. */
async function storedItems(count: number, chars: number, settings = "max_json_members: 200000") {
  const world = scriptedWorld();
  const { app, gateway } = testGateway(withServer(settings), world, storeUnderTest(world));
  const post = (path: string, body: unknown) =>
    app(new Request(`http://localhost${path}`, { method: "POST", body: JSON.stringify(body) }));
  const created = parseJson(await (await post("/v1/conversations", {})).text());
  const id = isObject(created) ? created.id : "";
  const content = "x".repeat(chars);
  for (let added = 0; added < count; added += 20) {
    const items = Array.from({ length: 20 }, () => ({ type: "message", role: "user", content }));
    await got(await post(`/v1/conversations/${id}/items`, { items }));
  }
  const request = () => new Request(`http://localhost/v1/conversations/${id}/items?limit=100`);
  return { read: () => app(request()), gateway };
}

Deno.test("a list is written item by item: only one is in memory as text, and the text is that of the whole", async () => {
  const { read, gateway } = await storedItems(100, 20_000);
  const response = await read();
  const text: string[] = [];
  let largest = 0;
  for await (const piece of response.body ?? []) {
    text.push(new TextDecoder().decode(piece));
    largest = Math.max(largest, gateway.state.admission.responseBytes());
  }
  assert(largest > 20_000 && largest < 60_000, String(largest));
  const list = parseJson(text.join(""));
  assert(isObject(list) && Array.isArray(list.data));
  assertEquals(list.data.length, 100);
  assertEquals(text.join(""), JSON.stringify(list));
  assertEquals([gateway.state.admission.responseBytes(), gateway.state.inFlight.count], [0, 0]);
});

Deno.test("a long text of a stored object is written in parts: none of them is in memory as a whole", async () => {
  const { read, gateway } = await storedItems(20, 400_000);
  const response = await read();
  assert(gateway.state.admission.responseBytes() > 0, "counted before the client takes anything");
  let largest = 0;
  for await (const _piece of response.body ?? []) {
    largest = Math.max(largest, gateway.state.admission.responseBytes());
  }
  assert(largest < 40_000, String(largest));
});

testOverStores(
  "stored objects outside the memory of the process are read in turn, and none once the memory is full",
  async () => {
    const { read, gateway } = await storedItems(20, 100_000, "max_response_memory: 1500000");
    const { conversations } = gateway.state.objects;
    const { find } = conversations;
    let running = 0, largest = 0, count = 0;
    Object.assign(conversations, {
      async find(id: string) {
        count++;
        largest = Math.max(largest, ++running);
        try {
          return await find(id);
        } finally {
          running--;
        }
      },
    });
    const responses = await Promise.all(Array.from({ length: 60 }, read));
    assert(gateway.state.admission.responseBytes() > 2_000_000);
    assertEquals(responses.filter(({ status }) => status === 200).length, 1);
    const refused = responses.find(({ status }) => status === 503);
    assertEquals(refused?.headers.get("retry-after"), "1");
    assertEquals([largest, count < 60 / 3], [MAX_CLIENT_READS, true], `${count} reads`);
    for (const { body } of responses) await body?.cancel();
    assertEquals(gateway.state.admission.responseBytes(), 0);
    assertEquals((await got(await read())).status, 200);
  },
  ["sqlite", "valkey"],
);

Deno.test("a short list has a length, and its call is over when it is passed to the runtime", async () => {
  const { read, gateway } = await storedItems(20, 100);
  const response = await read();
  assertEquals(gateway.state.inFlight.count, 0);
  assertEquals(response.headers.get("content-type"), "application/json");
  await response.body?.cancel();
});

Deno.test("reads of stored objects that were admitted together are refused once the memory is full", async () => {
  const { read, gateway } = await storedItems(20, 100_000, "max_response_memory: 150000");
  const responses = await Promise.all(Array.from({ length: 30 }, read));
  const held = responses.filter(({ status }) => status === 200);
  for (const { body } of held) {
    const reader = body?.getReader();
    await reader?.read();
    reader?.releaseLock();
  }
  const late = await got(await read());
  assertEquals(verdictOf(late), OVERLOADED);
  for (const { body } of responses) await body?.cancel();
  assertEquals(gateway.state.admission.responseBytes(), 0);
});
