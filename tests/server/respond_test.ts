import type { ErrorFormat } from "../../src/core/failure/error_format.ts";
import { statusOf } from "../../src/core/failure/failure.ts";
import { messageOf } from "../../src/core/failure/openai_error.ts";
import { fault, refuse, success } from "../../src/core/failure/result.ts";
import { utf8Bytes } from "../../src/formats/utf8.ts";
import type { Capture } from "../../src/call/call.ts";
import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import { newCall } from "../../src/server/new_call.ts";
import { respond } from "../../src/server/respond.ts";
import { configOf } from "../config/parse.ts";
import { endpointAt } from "../observe/reports.ts";
import { assertEquals } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

/** Errors as one line of text. */
const plainErrors: ErrorFormat = {
  whole: (failure) => ({
    status: statusOf(failure),
    headers: { "content-type": "text/plain" },
    body: utf8Bytes(`${failure.kind}: ${messageOf(failure)}`),
  }),
};

/** A call of an API with such errors, and what is captured of it. */
function callOf() {
  const captured: string[] = [];
  const capture: Capture = {
    request() {},
    upstreamRequest() {},
    reply(reply) {
      const { kind } = reply;
      captured.push(reply.kind === "whole" ? new TextDecoder().decode(reply.response.body) : kind);
      return reply;
    },
    end: ({ report }) => void captured.push(`end ${report.status}`),
  };
  const config = configOf(oneProvider("http://up.test"));
  const gateway = newGateway(compile(config, 1), scriptedWorld(), [], {
    newCapture: () => capture,
  });
  const facts = { ...endpointAt("/v1/chat/completions"), errors: plainErrors };
  const call = newCall(gateway, new Request("http://localhost/"), "/v1/chat/completions", facts);
  const rim = { ended: gateway.ended, flusher: { soon() {}, cancel() {} }, pace: runNow };
  return { call, rim, captured };
}

function runNow(task: () => void): void {
  task();
}

Deno.test("a failure is written in the error format of the endpoint's API, and captured as that", async () => {
  const failures = [
    refuse("invalid_value", "No."),
    fault("upstream_timeout", "Late."),
    fault("upstream_rejected", "Ours.", {
      upstream: { status: 418, headers: {}, error: { message: "Theirs." }, raw: null },
    }),
  ];
  const seen: unknown[] = [];
  for (const failed of failures) {
    const { call, rim, captured } = callOf();
    const response = respond(call, failed, rim);
    const text = await response.text();
    seen.push([response.status, text]);
    assertEquals(response.headers.get("content-type"), "text/plain");
    assertEquals(captured, [text, `end ${response.status}`]);
  }
  assertEquals(seen, [
    [400, "invalid_value: No."],
    [504, "upstream_timeout: Late."],
    [418, "upstream_rejected: Ours."],
  ]);
});

Deno.test("a stream is captured, and its call ends when its last byte is out", async () => {
  const { call, rim, captured } = callOf();
  const groups = ReadableStream.from([[{ event: null, data: "{}", raw: null }]]);
  const reply = success({ kind: "stream" as const, headers: {}, records: groups });
  const response = respond(call, reply, rim);
  assertEquals(captured, ["stream"]);
  assertEquals(await response.text(), "data: {}\n\n");
  assertEquals(captured, ["stream", "end 200"]);
});
