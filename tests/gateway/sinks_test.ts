import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import type { CallReport, Sink } from "../../src/observe/report.ts";
import { createApp } from "../../src/server/app.ts";
import { configOf } from "../config/parse.ts";
import { assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { oneProvider } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const throwing: Sink = () => {
  throw new RangeError("a sink is broken");
};

Deno.test("a sink or a capture that throws affects neither other sinks nor the response", async () => {
  const reports: Readonly<CallReport>[] = [];
  const bugs: unknown[] = [];
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const last: Sink = (report) => void reports.push(report);
  const gateway = newGateway(
    compile(configOf(oneProvider("http://up.test")), 1),
    world,
    [throwing, last, throwing],
    {
      newCapture: () => ({
        request() {},
        upstreamRequest() {},
        reply: (reply) => reply,
        end() {
          throw new TypeError("the capture is broken");
        },
      }),
      onBug: (error) => void bugs.push(error),
    },
  );
  const app = createApp(gateway);
  const unknown = new Request("http://localhost/v1/unknown");
  const statuses = [await app(chatRequest()), await app(unknown)].map(({ status }) => status);
  assertEquals(statuses, [200, 404]);
  assertEquals(reports.map(({ status }) => status), [200, 404]);
  const once = ["TypeError", "RangeError", "RangeError"];
  assertEquals(bugs.map((bug) => bug instanceof Error ? bug.name : ""), [...once, ...once]);
  assertEquals(gateway.state.inFlight.count, 0);
});
