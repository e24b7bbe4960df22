import { fault, refuse } from "../../src/core/failure/result.ts";
import type { CallReport } from "../../src/observe/report.ts";
import { stripRequestEcho } from "../../src/remote/strip_request_echo.ts";
import { endpointAt } from "../observe/reports.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { startDashboard } from "../support/dashboard.ts";
import { startUpstream } from "../support/upstream.ts";
import { capturedOf } from "./captured.ts";
import { outboundGateway } from "./outbound_gateway.ts";
import { answering, eventsIn, sharingConfig } from "./dashboard_events.ts";

const RESOURCE = {
  id: "resp_1",
  output: [{ type: "message", content: [{ type: "output_text", text: "Hi.", annotations: [] }] }],
  usage: null,
};
const REPEATED = { instructions: "mark", metadata: { a: "mark" }, tools: [{ name: "mark" }] };

function alone(response: string, more: Partial<CallReport> = {}): string | null {
  return stripRequestEcho(
    capturedOf({ endpoint: endpointAt("/v1/responses"), ...more }, { response }),
  );
}

Deno.test("only the output of a Response is shared, in its events too", () => {
  const response = { ...RESOURCE, ...REPEATED };
  assertEquals(alone(JSON.stringify(response)), JSON.stringify(RESOURCE));
  const delta = { type: "response.output_text.delta", delta: "Hi." };
  const text = (whole: object) =>
    `event: response.created\ndata: ${
      JSON.stringify({ type: "response.created", response: whole })
    }` +
    `\n\ndata: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`;
  assertEquals(alone(text(response), { stream: true }), text(RESOURCE));
});

Deno.test("a stream that began early and failed is shared without what its Response repeats", () => {
  const response = { ...RESOURCE, ...REPEATED };
  const text = (whole: object) =>
    `data: ${JSON.stringify({ type: "response.failed", response: whole })}\n\n`;
  const ms = { earlyHead: 20, firstByte: 20, firstToken: null, upstream: 30, total: 40 };
  const { failure } = fault("upstream_timeout", "No.");
  assertEquals(alone(text(response), { stream: true, failure, ms }), text(RESOURCE));
});

Deno.test("only the output of a completion is shared, with its numbers unchanged", () => {
  const endpoint = endpointAt("/v1/chat/completions");
  const kept = '{"id":"c","choices":[{"index":0,"logprob":-1.0}]}';
  assertEquals(alone(`${kept.slice(0, -1)},"metadata":{"a":"mark"}}`, { endpoint }), kept);
  const chunk = '{"choices":[{"index":0,"delta":{"content":"Hi."}}]';
  const stream =
    `data: ${chunk},"prompt":"mark"}\r\n\r\n: mark\r\n\r\ndata: {"a":\r\ndata: "mark"}`;
  assertEquals(alone(stream, { endpoint, stream: true }), `data: ${chunk}}\n\n`);
});

Deno.test("data sharing never exports endpoints that echo client input, except their errors", () => {
  const below = "/v1/responses/:response_id/input_items";
  const echoing = [
    endpointAt(below, "GET"),
    endpointAt("/v1/responses/compact"),
    endpointAt("/v1/conversations"),
    endpointAt("/v1/chat/completions", "GET"),
  ];
  for (const endpoint of echoing) {
    assert(endpoint.path !== "");
    assertEquals(alone('{"data":["mark"]}', { endpoint }), null);
    const error = '{"error":{"message":"No."}}';
    assertEquals(alone(error, { endpoint, status: 404 }), error);
  }
});

Deno.test("an error of the gateway is shared unchanged, an error of a provider without its extra members", () => {
  const error = '{"error":{"message":"No."}}';
  const { failure } = refuse("invalid_value", "No.");
  assertEquals(alone(error, { status: 400, failure }), error);
  const upstream = { status: 400, headers: {}, error: { message: "No." }, raw: null };
  const theirs = fault("upstream_rejected", "No.", { upstream }).failure;
  const text = `${error.slice(0, -1)},"input":"mark"}`;
  assertEquals(alone(text, { status: 400, failure: theirs }), error);
});

Deno.test("a prompt is not shared inside a response while only responses are shared", async () => {
  await using upstream = startUpstream(answering);
  for (const share_prompts of [false, true]) {
    await using dashboard = startDashboard();
    const switches = { enabled: true, share_responses: true, share_prompts };
    const gateway = await outboundGateway(sharingConfig(upstream.url, dashboard.url, switches));
    const body = JSON.stringify({ model: "m", input: "mark", ...REPEATED, tools: [] });
    const created = await gateway.fetch("/v1/responses", { method: "POST", body });
    const { id } = await created.json();
    for (const below of ["", "/input_items"]) {
      await (await gateway.fetch(`/v1/responses/${id}${below}`)).bytes();
    }
    const items = [{ type: "message", role: "user", content: "mark" }];
    const made = await gateway.fetch("/v1/conversations", {
      method: "POST",
      body: JSON.stringify({ items, metadata: { a: "mark" } }),
    });
    await made.bytes();
    await gateway.close();
    const events = dashboard.collected.flatMap(eventsIn);
    assertEquals(events.length, 8);
    assertEquals(JSON.stringify(events).includes("mark"), share_prompts);
  }
});
