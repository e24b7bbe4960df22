import { isObject } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";
import { COMPLETION, MESSAGES } from "../support/chat_call.ts";
import { startDashboard } from "../support/dashboard.ts";
import { startUpstream } from "../support/upstream.ts";
import { outboundGateway } from "./outbound_gateway.ts";
import { sharingConfig } from "./dashboard_events.ts";

Deno.test("a command that runs at shutdown still gets its response", async () => {
  const released = Promise.withResolvers<void>();
  await using upstream = startUpstream(async (exchange) => {
    await released.promise;
    await exchange.json(200, COMPLETION);
  });
  await using dashboard = startDashboard();
  const switches = { enabled: true, remote_control: true };
  const gateway = await outboundGateway(sharingConfig(upstream.url, dashboard.url, switches));
  const socket = await dashboard.socket();
  await socket.receive();
  socket.send({
    type: "sandbox.execute",
    command_id: "c-1",
    target: { mode: "route", value: "main" },
    request_type: "chat_completions",
    request: { model: "m", ...MESSAGES },
  });
  await upstream.next();
  const closed = gateway.close();
  released.resolve();
  const answer = await socket.receive();
  await closed;
  const { command_id, status_code } = isObject(answer) ? answer : {};
  assertEquals([command_id, status_code], ["c-1", 200]);
  assertEquals(await socket.receive(), null);
});
