import { FAULTS, REFUSALS } from "../../src/core/failure/failure.ts";
import { fault, refuse } from "../../src/core/failure/result.ts";
import { utf8Bytes } from "../../src/formats/utf8.ts";
import { eventCount, type ExportSettings, newEvents } from "../../src/remote/export.ts";
import { endpointAt, tryOf, USAGE } from "../observe/reports.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { capturedOf, FIELDS } from "./captured.ts";

const ENDED_MS = 1_700_000_000_250;
const FIGURES: ExportSettings = { share_prompts: false, share_responses: false };
const ALL: ExportSettings = { share_prompts: true, share_responses: true };

Deno.test("a metric holds the figures of a call, and nothing else", () => {
  const call = capturedOf({
    session: "s-1",
    usage: USAGE,
    cost: 0.25,
    cache: "MISS",
    stream: true,
    fallbacks: 1,
    attempts: [tryOf({ outcome: "upstream_timeout" }), tryOf({ number: 2 })],
    ms: { earlyHead: null, firstByte: 1_900, firstToken: 1_900.04, upstream: 1_890, total: 2_000 },
  });
  assertEquals(newEvents(call, FIGURES, ENDED_MS), [{
    type: "metric",
    data: {
      request_id: "id-1",
      timestamp: "2023-11-14T22:13:18.250Z",
      client_request_type: "chat_completions",
      upstream_request_type: "chat_completions",
      provider: "up",
      model: "m",
      route: "main",
      status: 200,
      error_class: null,
      user_id: null,
      session_id: "s-1",
      duration_ms: 2_000,
      time_to_first_token_ms: 1_900,
      time_to_last_token_ms: 2_000,
      input_tokens: 1_000,
      output_tokens: 50,
      total_tokens: 1_050,
      reasoning_tokens: 0,
      prompt_cache_read_tokens: 300,
      prompt_cache_write_tokens: 200,
      estimated_cost_usd: 0.25,
      cache_hit: false,
      fallback: true,
      retry: true,
      target_index: 1,
      circuit_breaker_state: "half-open",
      tags: {
        client_request_type: "chat_completions",
        upstream_request_type: "chat_completions",
        provider: "up",
        model: "m",
        stream: true,
        upstream_base_url: "https://up.example/v1",
        temperature: 0.5,
      },
    },
  }]);
});

Deno.test("a stream that never began has no token times", () => {
  const [event] = newEvents(capturedOf({ stream: true }), FIGURES, ENDED_MS);
  assertEquals(
    [event?.data.time_to_first_token_ms, event?.data.time_to_last_token_ms],
    [null, null],
  );
});

Deno.test("caller headers and gateway location are exported as tags", () => {
  const headers = { "x-team": "blue", "x-gateway-user": "ada", "x-gateway-client-lat": "1.5" };
  const call = capturedOf({}, { fields: () => ({ ...FIELDS, headers, topP: 0.25, topK: 40 }) });
  const [metric] = newEvents(call, { ...FIGURES, gateway_lat: -33.5, gateway_lon: 0 }, ENDED_MS);
  const { tags, user_id } = metric?.data ?? {};
  assertEquals(user_id, "ada");
  assertEquals(tags, {
    team: "blue",
    gateway_user: "ada",
    gateway_client_lat: "1.5",
    client_request_type: "chat_completions",
    upstream_request_type: "chat_completions",
    gateway_lat: -33.5,
    gateway_lon: 0,
    provider: "up",
    model: "m",
    stream: false,
    upstream_base_url: "https://up.example/v1",
    temperature: 0.5,
    top_p: 0.25,
    top_k: 40,
  });
});

Deno.test("names that clients choose are truncated", () => {
  const long = "n".repeat(10_000);
  const headers = { "x-team": long, "x-gateway-user": long };
  const call = capturedOf(
    { model: long, session: long },
    { fields: () => ({ ...FIELDS, headers }) },
  );
  assert(JSON.stringify(newEvents(call, FIGURES, ENDED_MS)).length < 3_000);
});

Deno.test("a failure has a class from a closed list, and no text of the provider", () => {
  const error = { message: "mark-of-provider", code: "mark-of-provider" };
  const raw = { format: "openai", body: utf8Bytes(JSON.stringify({ error })) } as const;
  const upstream = { status: 400, headers: { "x-mark": "mark-of-provider" }, error, raw };
  const { failure } = fault("upstream_rejected", "mark-of-provider", { upstream });
  const call = capturedOf({ failure, status: 400 });
  const [metric, ...others] = newEvents(call, FIGURES, ENDED_MS);
  assertEquals([metric?.data.error_class, others], ["upstream_rejected", []]);
  assert(!JSON.stringify(metric).includes("mark-of-provider"));
  const refused = capturedOf({ failure: refuse("invalid_type", "mark").failure });
  const classOf = newEvents(refused, FIGURES, ENDED_MS)[0]?.data.error_class;
  assert(typeof classOf === "string" && (classOf in REFUSALS || classOf in FAULTS));
});

Deno.test("prompts and responses are shared only by their own switches", () => {
  const call = capturedOf({}, {
    prompt: "the prompt",
    response: utf8Bytes('{"id":"the answer"}'),
  });
  const logs = [[false, false], [true, false], [false, true], [true, true]] as const;
  const logged = logs.map(([share_prompts, share_responses]) => {
    const [, log] = newEvents(call, { share_prompts, share_responses }, ENDED_MS);
    return log === undefined ? null : [log.type, log.data.prompt, log.data.response];
  });
  assertEquals<unknown>(logged, [
    null,
    ["request_log", "the prompt", undefined],
    ["request_log", undefined, '{"id":"the answer"}'],
    ["request_log", "the prompt", '{"id":"the answer"}'],
  ]);
});

Deno.test("a request log holds the provider's error, shortened", () => {
  const message = "m".repeat(5_000);
  const error = { message, type: "t", code: "bad_thing" };
  const { failure } = fault("upstream_rejected", "Ours.", {
    upstream: { status: 400, headers: {}, error, raw: null },
  });
  const [metric, log] = newEvents(
    capturedOf({ failure, status: 400 }),
    { share_prompts: true, share_responses: false },
    ENDED_MS,
  );
  assertEquals(log?.data, {
    request_id: "id-1",
    timestamp: "2023-11-14T22:13:18.250Z",
    client_request_type: "chat_completions",
    upstream_request_type: "chat_completions",
    provider: "up",
    model: "m",
    route: "main",
    status: 400,
    error_class: "upstream_rejected",
    user_id: null,
    session_id: null,
    upstream_error_code: "bad_thing",
    upstream_error_message: "m".repeat(1_000),
  });
  assert(!JSON.stringify(metric).includes("mmm"));
});

Deno.test("content above 1 MiB is truncated at a whole character, and the event is marked", () => {
  const most = 1024 * 1024;
  const call = capturedOf({}, {
    prompt: "p".repeat(most + 1),
    response: utf8Bytes(`${"a".repeat(most - 1)}é`),
  });
  const { prompt, prompt_cut, response, response_cut } = newEvents(call, ALL, ENDED_MS)[1]?.data ??
    {};
  assertEquals([prompt, prompt_cut], ["p".repeat(most), true]);
  assertEquals([response, response_cut], ["a".repeat(most - 1), true]);
  const whole = capturedOf({}, { prompt: "p".repeat(most), response: "a" });
  const log = newEvents(whole, ALL, ENDED_MS)[1]?.data ?? {};
  assertEquals(["prompt_cut" in log, "response_cut" in log], [false, false]);
});

Deno.test("operational endpoints give no events", () => {
  for (const path of ["", "/health", "/ready", "/metrics"]) {
    const endpoint = endpointAt(path, "GET");
    assertEquals(newEvents(capturedOf({ endpoint }), ALL, ENDED_MS), []);
  }
  const endpoints = [
    endpointAt("/v1/responses/:response_id", "GET"),
    endpointAt("/v1/embeddings"),
    endpointAt("/v1/models", "GET"),
    endpointAt("/v1/conversations"),
  ];
  const types = endpoints.map((endpoint) =>
    newEvents(capturedOf({ endpoint }), FIGURES, ENDED_MS)[0]?.data
  );
  assertEquals(types.map((data) => data?.client_request_type), [
    "responses",
    "embeddings",
    "models",
    "conversations",
  ]);
});

Deno.test("events are counted without building them", () => {
  const unmade = () => {
    throw new Error("it was asked for");
  };
  for (const settings of [ALL, FIGURES]) {
    for (const path of ["/v1/chat/completions", "/v1/responses/compact", "/metrics", ""]) {
      const endpoint = endpointAt(path);
      const made = newEvents(capturedOf({ endpoint }), settings, ENDED_MS);
      assertEquals(eventCount(capturedOf({ endpoint }, { fields: unmade }), settings), made.length);
    }
  }
});
