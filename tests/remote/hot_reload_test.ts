import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { type Collected, startDashboard } from "../support/dashboard.ts";
import { startUpstream } from "../support/upstream.ts";
import { outboundGateway } from "./outbound_gateway.ts";
import { answering, chat, eventsIn, sharingConfig } from "./dashboard_events.ts";

function typesIn(collected: Collected): unknown[] {
  return eventsIn(collected).map(({ type }) => type);
}

Deno.test("each switch of data sharing applies from the next call on", async () => {
  await using upstream = startUpstream(answering);
  await using one = startDashboard();
  await using two = startDashboard();
  const config = (board: string, switches: Record<string, boolean>) =>
    sharingConfig(upstream.url, board, switches);
  await using gateway = await outboundGateway(config(one.url, {}));
  await chat(gateway);

  gateway.reload(config(one.url, { enabled: true }));
  await chat(gateway);
  assertEquals(typesIn(await one.collection(1)), ["metric"]);

  gateway.reload(config(one.url, { enabled: true, share_prompts: true }));
  await chat(gateway);
  const [, log] = eventsIn(await one.collection(2));
  const data = isObject(log?.data) ? log.data : {};
  assertEquals(["prompt" in data, "response" in data], [true, false]);

  gateway.reload(config(two.url, { enabled: true }));
  await chat(gateway);
  assertEquals(typesIn(await two.collection(1)), ["metric"]);

  gateway.reload(config(two.url, { enabled: false }));
  await chat(gateway);
  await gateway.close();
  assertEquals([one.requests.length, two.requests.length], [2, 1]);
});

Deno.test("content captured before sharing was disabled is not sent afterwards", async () => {
  await using upstream = startUpstream(answering);
  await using dashboard = startDashboard();
  const on = { enabled: true, share_prompts: true };
  await using gateway = await outboundGateway(sharingConfig(upstream.url, dashboard.url, on));
  await chat(gateway);
  gateway.reload(sharingConfig(upstream.url, dashboard.url, { enabled: true }));
  assertEquals(await gateway.dropped(), 2);
  await gateway.close();
  assertEquals(dashboard.requests.length, 0);
});

Deno.test("remote control starts and stops with its switch and has the instance ID of the collector", async () => {
  await using upstream = startUpstream(answering);
  await using dashboard = startDashboard();
  const config = (switches: Record<string, boolean>) =>
    sharingConfig(upstream.url, dashboard.url, { enabled: true, ...switches });
  await using gateway = await outboundGateway(config({ remote_control: true }));
  const first = await dashboard.socket();
  const hello = await first.receive();
  await chat(gateway);
  // The collector is not touched by this switch: what waits is still sent.
  gateway.reload(config({ remote_control: false }));
  await first.closed;
  const { body } = await dashboard.collection(1);
  assert(isObject(hello) && isObject(body));
  assertEquals(hello.instance_id, body.instance_id);
  gateway.reload(config({ remote_control: true }));
  await dashboard.socket();
});

Deno.test("the calls of all workers are exported under the one instance ID of their gateway", async () => {
  await using upstream = startUpstream(answering);
  await using dashboard = startDashboard();
  const config = sharingConfig(upstream.url, dashboard.url, { enabled: true });
  for (const number of [1, 2]) {
    await using gateway = await outboundGateway(config, {
      number,
      port: 0,
      generation: 1,
      instanceId: "gateway-1",
      handed: [],
      demand: () => {},
      divide: (whole) => whole,
      scrape: () => Promise.resolve(""),
    });
    await chat(gateway);
    await gateway.close();
    const { body } = await dashboard.collection(number);
    assertEquals(isObject(body) && body.instance_id, "gateway-1");
  }
});

Deno.test("a command of the dashboard passes the gateway's own policies, without a client key", async () => {
  await using upstream = startUpstream(answering);
  await using dashboard = startDashboard();
  const config = JSON.parse(
    sharingConfig(upstream.url, dashboard.url, { enabled: true, remote_control: true }),
  );
  const security = { enabled: true, api_key: { keys: [{ name: "a", value: "k" }] } };
  const rate_limiting = { enabled: true, requests_per_minute: 1, burst_size: 1 };
  await using gateway = await outboundGateway(
    JSON.stringify({ ...config, security, rate_limiting }),
  );
  const socket = await dashboard.socket();
  await socket.receive();
  const statuses: unknown[] = [];
  for (const command_id of ["c-1", "c-2"]) {
    socket.send({
      type: "sandbox.execute",
      command_id,
      target: { mode: "route", value: "main" },
      request_type: "chat_completions",
      request: { model: "m", messages: [{ role: "user", content: "Hi" }] },
    });
    const answer = await socket.receive();
    assert(isObject(answer));
    statuses.push([answer.command_id, answer.ok, answer.status_code]);
  }
  assertEquals(statuses, [["c-1", true, 200], ["c-2", false, 429]]);
  assert(gateway.terminal.written.err.includes('client="remote control"'));
});

Deno.test("a reload that revokes nothing keeps the queued events", async () => {
  await using upstream = startUpstream(answering);
  await using dashboard = startDashboard();
  const config = (switches: JsonObject) =>
    sharingConfig(upstream.url, dashboard.url, { enabled: true, ...switches });
  await using gateway = await outboundGateway(config({}));
  await chat(gateway);
  gateway.reload(config({ share_responses: true, gateway_lat: 1 }));
  await chat(gateway);
  gateway.reload(config({ share_responses: true, gateway_lat: 2 }));
  await chat(gateway);
  assertEquals(await gateway.dropped(), 0);
  await gateway.close();
  const shared = dashboard.collected.flatMap(eventsIn).map(({ type, data }) => {
    const tags = isObject(data) && isObject(data.tags) ? data.tags : {};
    return [type, tags.gateway_lat];
  });
  assertEquals(shared, [
    ["metric", undefined],
    ["metric", 1],
    ["request_log", undefined],
    ["metric", 2],
    ["request_log", undefined],
  ]);
});

Deno.test("queued events lose coordinates that a reload removes", async () => {
  await using upstream = startUpstream(answering);
  await using dashboard = startDashboard();
  const on = { enabled: true, gateway_lat: 1, gateway_lon: 2 };
  await using gateway = await outboundGateway(sharingConfig(upstream.url, dashboard.url, on));
  await chat(gateway);
  gateway.reload(
    sharingConfig(upstream.url, dashboard.url, { enabled: true, gateway_lat: 1 }),
  );
  assertEquals(await gateway.dropped(), 1);
  await gateway.close();
  assertEquals(dashboard.requests.length, 0);
});

Deno.test("the dashboard is greeted again when a reload changes the routes, and only then", async () => {
  await using upstream = startUpstream(answering);
  await using dashboard = startDashboard();
  const on = { enabled: true, remote_control: true };
  const first = sharingConfig(upstream.url, dashboard.url, on);
  const renamed = first.replace('"name":"main"', '"name":"other"');
  await using gateway = await outboundGateway(first);
  const socket = await dashboard.socket();
  await socket.receive();
  gateway.reload(first);
  gateway.reload(renamed);
  gateway.reload(renamed);
  // The response is logged after everything that the reloads logged.
  socket.send({ type: "sandbox.execute", command_id: "mark" });
  const shared: unknown[] = [];
  for (let more = true; more;) {
    const message = await socket.receive();
    assert(isObject(message));
    shared.push([message.type, message.routes]);
    more = message.type !== "sandbox.response";
  }
  assertEquals(shared, [["hello", ["other"]], ["sandbox.response", undefined]]);
  assertEquals(dashboard.requests.length, 1);
});
