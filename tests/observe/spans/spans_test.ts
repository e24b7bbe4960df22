import { UNKNOWN_ENDPOINT } from "../../../src/core/endpoint.ts";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { hrTimeToMilliseconds } from "@opentelemetry/core";
import { fault, refuse } from "../../../src/core/failure/result.ts";
import type { CallReport } from "../../../src/observe/report.ts";
import { AttemptFacts } from "../../../src/observe/spans/attempt_facts.ts";
import { spansTo } from "../../../src/observe/spans/spans.ts";
import { assertEquals } from "../../support/assert.ts";
import { oneProvider } from "../../support/gateway.ts";
import { parsedConfig } from "../../support/parsed_config.ts";
import { endpointAt, reportOf, tryOf, USAGE } from "../reports.ts";
import { collectedSpans, NOW_MS, scriptedExporter, SETTINGS } from "./traced.ts";

/** The spans of one call that began at NOW_MS: the request first. */
async function spansOf(
  changes: Partial<CallReport>,
  headers: Readonly<Record<string, string>> = {},
  config = CONFIG,
): Promise<readonly ReadableSpan[]> {
  const { spans, finished } = await collectedSpans(() => config);
  const report = reportOf(changes);
  spans.begin(report, new Headers(headers));
  spans.sink(report);
  return await finished();
}

const CONFIG = parsedConfig(oneProvider("http://127.0.0.1:9/v1"));

function timesOf(span: ReadableSpan | undefined) {
  return [span?.startTime, span?.endTime].map((time) =>
    hrTimeToMilliseconds(time ?? [0, 0]) - NOW_MS
  );
}

Deno.test("a call is a span of kind SERVER without attributes of the GenAI conventions", async () => {
  const [request, attempt] = await spansOf({ usage: USAGE, cost: 0.5, client: "team-a" });
  assertEquals(request?.name, "POST /v1/chat/completions");
  assertEquals<unknown>(request?.attributes, {
    "http.request.method": "POST",
    "http.route": "/v1/chat/completions",
    "http.response.status_code": 200,
    "url.scheme": "http",
    "url.path": "/v1/chat/completions",
    "switchyard.request_id": "id-1",
    "switchyard.route": "main",
    "switchyard.client": "team-a",
    "switchyard.stream": false,
    "switchyard.retries": 0,
    "switchyard.fallback": false,
    "switchyard.cost_usd": 0.5,
    "switchyard.end": "complete",
  });
  assertEquals(timesOf(request), [0, 2_000]);
  assertEquals(attempt?.name, "chat m");
  assertEquals(attempt?.parentSpanContext?.spanId, request?.spanContext().spanId);
  assertEquals(timesOf(attempt), [5, 1_895]);
  assertEquals(request?.resource.attributes["service.name"], "test");
});

Deno.test("the address of a provider has no brackets, also if it is one of IPv6", async () => {
  const config = parsedConfig(oneProvider("http://[::1]:9/v1"));
  const [, attempt] = await spansOf({}, {}, config);
  assertEquals(attempt?.attributes["server.address"], "::1");
});

Deno.test("a session is the conversation of an attempt, and the ID of a user is none", async () => {
  const idOf = async (changes: Partial<CallReport>) =>
    (await spansOf(changes))[1]?.attributes["gen_ai.conversation.id"];
  assertEquals(await idOf({ session: "build-1", sessionFrom: "header" }), "build-1");
  assertEquals(await idOf({ session: "user-1", sessionFrom: null }), undefined);
  const both = { session: "build-1", sessionFrom: "header", conversation: "conv_1" };
  assertEquals(await idOf(both), "conv_1");
});

Deno.test("the reasons of choices have the order of the choices, whichever ends first", () => {
  const facts = new AttemptFacts("1", "", { turn: () => null });
  for (const [index, finish_reason] of [[1, "length"], [0, "stop"]] as const) {
    const data = JSON.stringify({ choices: [{ index, finish_reason }] });
    facts.receivedRecords([{ event: null, data, raw: null }]);
  }
  assertEquals(facts.finishReasons, ["stop", "length"]);
});

Deno.test("each attempt is a child span, and a failed attempt is an error", async () => {
  const spans = await spansOf({
    attempts: [
      tryOf({ outcome: "upstream_timeout", began: 0, ended: 500 }),
      tryOf({ provider: "other", began: 600, ended: 1_900 }),
    ],
  });
  const shown = spans.slice(1).map(({ attributes, status }) =>
    [attributes["switchyard.provider"], attributes["error.type"], status.code] as const
  );
  assertEquals(shown, [["up", "upstream_timeout", 2], ["other", undefined, 0]]);
});

Deno.test("the attempt of a stream lasts as long as the stream and fails with it", async () => {
  const { failure } = fault("upstream_unreachable", "Broke.");
  const attempts = [tryOf({ began: 5, ended: 100 })];
  const [request, attempt] = await spansOf({ stream: true, brokeOff: true, failure, attempts });
  assertEquals(timesOf(attempt), [5, 2_000]);
  for (const span of [request, attempt]) {
    assertEquals(span?.status.code, 2);
    assertEquals(span?.attributes["error.type"], "upstream_unreachable");
  }
});

Deno.test("the last attempt of a stream that never began ends at its failure", async () => {
  const { failure } = fault("upstream_unreachable", "Refused.");
  const attempts = [tryOf({ outcome: "upstream_unreachable", began: 5, ended: 100 })];
  const [, attempt] = await spansOf({ stream: true, failure, status: 502, attempts });
  assertEquals(timesOf(attempt), [5, 100]);
});

Deno.test("an error of the client is no span error", async () => {
  const { failure } = refuse("invalid_json", "No.");
  const [request, ...others] = await spansOf({
    failure,
    status: 400,
    provider: null,
    model: null,
    attempts: [],
  });
  assertEquals(request?.status.code, 0);
  assertEquals(request?.attributes["error.type"], "invalid_json");
  assertEquals("gen_ai.operation.name" in (request?.attributes ?? {}), false);
  assertEquals(others, []);
});

Deno.test("a provider's refusal that the client gets is an error of the attempt alone", async () => {
  const { failure } = fault("upstream_rejected", "No.");
  const attempts = [tryOf({ outcome: "upstream_rejected" })];
  const [request, attempt] = await spansOf({ failure, status: 400, attempts });
  assertEquals([request?.status.code, attempt?.status.code], [0, 2]);
  const [broken] = await spansOf({ failure, status: 502, attempts });
  assertEquals(broken?.status.code, 2);
});

Deno.test("a valid traceparent is continued, and an invalid one is ignored", async () => {
  const trace = "0af7651916cd43dd8448eb211c80319c";
  const parent = "b7ad6b7169203331";
  const [request] = await spansOf({ traceparent: `00-${trace}-${parent}-01` });
  assertEquals(request?.spanContext().traceId, trace);
  assertEquals(request?.parentSpanContext?.spanId, parent);
  const valid = `00-${trace}-${parent}-01`;
  const later = `01-${trace}-${parent}-01-more`;
  const [ofLater] = await spansOf({ traceparent: later });
  assertEquals(ofLater?.spanContext().traceId, trace);
  const invalid = [
    ...[`${later}, ${later}`, `${later}${"e".repeat(5_000)}`],
    ...["", "nonsense", `${valid}, ${valid}`, `${valid}-more`, `${valid}\0`, "0".repeat(100_000)],
    ...[`ff-${trace}-${parent}-01`, `00-${trace.toUpperCase()}-${parent}-01`],
    ...[`00-${"0".repeat(32)}-${parent}-01`, `00-${trace}-${"0".repeat(16)}-01`],
  ];
  for (const traceparent of invalid) {
    const [own] = await spansOf({ traceparent });
    assertEquals(own?.parentSpanContext, undefined);
  }
});

Deno.test("a trace that the client does not sample is not sampled here", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  assertEquals(await spansOf({ traceparent }), []);
});

Deno.test("an attempt of a trace that is not sampled reads no body", async () => {
  const { spans } = await collectedSpans(() => CONFIG);
  const flags = (sampled: string) => {
    const traceparent = `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${sampled}`;
    const report = reportOf({ traceparent });
    spans.begin(report, new Headers());
    const span = report.span?.beginAttempt({ type: "compat", base_url: "http://up.test/v1" }, null);
    span?.sent("/chat/completions", new TextEncoder().encode('{"seed": 7}'));
    return [span instanceof AttemptFacts, span?.traceparent.slice(-3)];
  };
  assertEquals([flags("00"), flags("01")], [[false, "-00"], [true, "-01"]]);
  await spans.flush();
});

Deno.test("the scan of a large response ends with its span", async () => {
  let turns = 0;
  const turn = () => {
    turns += 1;
    facts.end();
    return Promise.resolve();
  };
  const facts = new AttemptFacts("", "", { turn });
  facts.receivedBody(new TextEncoder().encode(`{"id": "${"x".repeat(2_000_000)}"}`));
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  assertEquals(turns, 1);
});

Deno.test("the counts of an attempt are read once, when its span ends", () => {
  // Their source refers to all of the call, which is not to live as long as the report.
  let reads = 0;
  const facts = new AttemptFacts("", "", { turn: () => null });
  facts.uses(() => {
    reads += 1;
    return USAGE;
  });
  facts.end();
  assertEquals([facts.usage(), facts.usage(), reads], [USAGE, USAGE, 1]);
});

Deno.test("names that a client chose are truncated, and unknown methods become _OTHER", async () => {
  const [request, attempt] = await spansOf({
    method: "X".repeat(9_000),
    path: `/${"a".repeat(9_000)}`,
    endpoint: UNKNOWN_ENDPOINT,
    model: "m".repeat(9_000),
    attempts: [tryOf({ model: "m".repeat(9_000) })],
  });
  assertEquals(request?.name, "HTTP");
  assertEquals(request?.attributes["http.request.method"], "_OTHER");
  assertEquals(JSON.stringify(request?.attributes).length < 1_500, true);
  assertEquals(attempt?.name.length, 256);
});

Deno.test("a failing collector is logged once, and its recovery once", async () => {
  const logged: string[] = [];
  const results = [false, false, true];
  const log = {
    info: (text: string) => logged.push(text),
    warn: (text: string) => logged.push(text),
  };
  const { exporter } = scriptedExporter(() => results.shift() ?? true);
  const spans = await spansTo(exporter, { ...SETTINGS, log });
  // A batch has 512 spans, and a call with one try has two.
  for (let n = 0; n < 3 * 256; n++) {
    const report = reportOf();
    spans.begin(report, new Headers());
    spans.sink(report);
  }
  await spans.flush();
  assertEquals(logged, [
    "spans are lost: the collector does not accept them",
    "the collector accepts spans again",
  ]);
});

Deno.test("the time to the first chunk is that of its attempt, not of the call", async () => {
  const [, failed, served] = await spansOf({
    stream: true,
    attempts: [
      tryOf({ began: 0, ended: 4_000, outcome: "upstream_timeout" }),
      tryOf({ number: 2, began: 4_000, ended: 4_600, firstContentMs: 250 }),
    ],
  });
  const times = [failed, served].map((span) =>
    span?.attributes["gen_ai.response.time_to_first_chunk"]
  );
  assertEquals(times, [undefined, 0.25]);
});

Deno.test("a Responses call is a chat to the GenAI conventions", async () => {
  const [request, attempt] = await spansOf({ endpoint: endpointAt("/v1/responses") });
  assertEquals(request?.name, "POST /v1/responses");
  assertEquals(attempt?.attributes["gen_ai.operation.name"], "chat");
  assertEquals(attempt?.name, "chat m");
});

Deno.test("an early head is an event of the request's span, at its time", async () => {
  const ms = { earlyHead: 500, firstByte: 500, firstToken: 1_500, upstream: 1_400, total: 2_000 };
  const [request, attempt] = await spansOf({ stream: true, ms });
  const events = request?.events.map((
    { name, time },
  ) => [name, hrTimeToMilliseconds(time) - NOW_MS]);
  assertEquals(events, [["early_head", 500]]);
  assertEquals(attempt?.events, []);
});

Deno.test("a tracestate of a continued trace is kept up to 512 characters", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const stateOf = async (tracestate: string) =>
    (await spansOf({ traceparent }, { tracestate }))[0]?.spanContext().traceState?.serialize();
  assertEquals(await stateOf("vendor=1"), "vendor=1");
  assertEquals(await stateOf(`vendor=${"1".repeat(600)}`), undefined);
});

Deno.test("the turn of a WebSocket is linked to the span of the handshake", async () => {
  const handshake = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
  const [request] = await spansOf({ handshake });
  assertEquals(request?.links.map(({ context: { traceId, spanId } }) => ({ traceId, spanId })), [
    handshake,
  ]);
});

Deno.test("an attempt that was not sent is a span without facts of a response", async () => {
  const attempts = [tryOf({ outcome: "circuit_open", began: 5, ended: 5 })];
  const { failure } = fault("circuit_open", "Open.");
  const [, attempt] = await spansOf({ failure, status: 503, attempts });
  assertEquals(attempt?.attributes, {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "up",
    "gen_ai.request.model": "m",
    "server.address": "127.0.0.1",
    "server.port": 9,
    "error.type": "circuit_open",
    "switchyard.provider": "up",
    "switchyard.try": 1,
    "switchyard.route": "main",
  });
});
