import type { FinishedCall, SecondView, Snapshot } from "../../src/admin/snapshot.ts";

/** Time of the scripted snapshots: noon of a day, in milliseconds since 1970. */
export const AT_MS = Date.UTC(2026, 10, 22, 12, 0, 0);

/** A gateway with a provider and a route that has served no call. */
export const EMPTY: Snapshot = {
  version: "1.0.0",
  atMs: AT_MS,
  uptimeMs: 3_723_000,
  generation: 1,
  isDraining: false,
  gatewayUrl: "http://127.0.0.1:8080",
  requiresKey: false,
  keyHeader: { name: "Authorization", prefix: "Bearer" },
  exampleModel: "openai/gpt-4o-mini",
  refusedReload: null,
  warnings: [],
  store: {
    engine: "memory",
    isUp: true,
    awaySinceMs: null,
    pingMs: null,
    pendingWrites: 0,
    objects: [],
  },
  seconds: [],
  providers: [{
    id: "openai",
    type: "compat",
    breaker: "closed",
    opensInMs: null,
    attempts: 0,
    outcomes: {},
    notSent: {},
    p50Ms: null,
    p95Ms: null,
    running: null,
    queued: null,
    maxConcurrent: null,
    keys: [],
  }],
  routes: [{
    name: "main",
    match: "any path, any model",
    strategy: "weighted",
    calls: 0,
    failed: 0,
    targets: [{
      provider: "openai",
      model: "gpt-4o-mini",
      share: 1,
      calls: 0,
      failed: 0,
      servedShare: null,
    }],
    fallbacks: [],
  }],
  runningCount: 0,
  running: [],
  finishedCount: 0,
  finished: [],
  notable: [],
  keys: [],
};

/** A finished call that succeeded. */
export function finishedCall(number: number, change: Partial<FinishedCall> = {}): FinishedCall {
  return {
    number,
    endedAtMs: AT_MS - 1000,
    access: {
      request_id: `0198e1c5-3f0e-4c0d-9a57-${String(number).padStart(12, "0")}`,
      method: "POST",
      path: "/v1/chat/completions",
      status: 200,
      client: "chat-bot",
      route: "main",
      provider: "openai",
      model: "gpt-4o-mini",
      stream: true,
      duration_ms: 1834.2,
      tokens_in: 1200,
      tokens_out: 85,
      end: "complete",
    },
    outcome: "complete",
    failure: null,
    targets: [{
      provider: "openai",
      model: "gpt-4o-mini",
      isFallback: false,
      isChosen: true,
      skipped: null,
    }],
    attempts: [{
      provider: "openai",
      model: "gpt-4o-mini",
      key: null,
      outcome: "success",
      beganMs: 2.1,
      endedMs: 1834,
    }],
    verified: [],
    lossy: [],
    usd: 0.000231,
    firstByteMs: 400,
    firstTokenMs: 412.7,
    totalMs: 1834.2,
    ...change,
  };
}

/** Seconds of 15 minutes with traffic that rises and falls, without chance. */
export function busySeconds(atMs: number): SecondView[] {
  const last = Math.floor(atMs / 1000) - 1;
  return Array.from({ length: 900 }, (_, at) => {
    const wave = Math.sin(at / 90) + Math.sin(at / 17) / 3;
    const calls = Math.max(0, Math.round(8 + 5 * wave + (at * 7919 % 5) - 2));
    const slow = at > 600 && at < 700 ? 3 : 1;
    return {
      second: last - 899 + at,
      calls,
      failures: at > 600 && at < 700 ? Math.round(calls / 3) : at % 61 === 0 ? 1 : 0,
      refusals: at > 300 && at < 420 ? 2 : 0,
      notSent: at > 620 && at < 690 ? 1 : 0,
      firstTokenP50Ms: 380 * slow + at * 31 % 40,
      firstTokenP95Ms: 900 * slow + at * 67 % 200,
      inputTokens: calls * 640,
      outputTokens: calls * 130,
      usd: calls * 0.0004,
      openStreams: Math.round(calls * 1.6),
    };
  });
}

/** A gateway in the middle of its work, with something in every view. */
export const BUSY: Snapshot = {
  ...EMPTY,
  uptimeMs: 93_784_000,
  generation: 4,
  requiresKey: true,
  warnings: [
    "security.api_key.keys[2].expires: has begun, so the key is refused (line 41, column 16)",
  ],
  store: {
    engine: "sqlite",
    isUp: true,
    awaySinceMs: null,
    pingMs: 0.21,
    pendingWrites: 0,
    objects: [
      { name: "responses", entries: 1204, bytes: 8_214_032 },
      { name: "conversations", entries: 88, bytes: 402_118 },
      { name: "bindings", entries: 5310, bytes: 611_904 },
    ],
  },
  seconds: busySeconds(AT_MS),
  providers: [
    {
      id: "openai",
      type: "compat",
      breaker: "closed",
      opensInMs: null,
      attempts: 5210,
      outcomes: { success: 5178, upstream_throttled: 21, upstream_unavailable: 11 },
      notSent: {},
      p50Ms: 412,
      p95Ms: 1260,
      running: 7,
      queued: 0,
      maxConcurrent: 16,
      keys: [
        { name: "main", isUsed: true, restsForMs: null, opensInMs: null },
        { name: "spare", isUsed: true, restsForMs: 24_500, opensInMs: null },
      ],
    },
    {
      id: "claude",
      type: "messages",
      breaker: "open",
      opensInMs: 17_300,
      attempts: 640,
      outcomes: { success: 402, upstream_unavailable: 190, upstream_timeout: 48 },
      notSent: { circuit_open: 95 },
      p50Ms: 980,
      p95Ms: 30_000,
      running: null,
      queued: null,
      maxConcurrent: null,
      keys: [],
    },
    {
      id: "office-gpu",
      type: "local",
      breaker: "half-open",
      opensInMs: null,
      attempts: 1733,
      outcomes: { success: 1733 },
      notSent: {},
      p50Ms: 188,
      p95Ms: 402,
      running: 4,
      queued: 3,
      maxConcurrent: 4,
      keys: [],
    },
  ],
  routes: [
    {
      name: "coding",
      match: "any path, model claude-*",
      strategy: "weighted",
      calls: 663,
      failed: 23,
      targets: [
        {
          provider: "claude",
          model: "claude-sonnet-4-5",
          share: 0.8,
          calls: 425,
          failed: 23,
          servedShare: 0.63,
        },
        {
          provider: "openai",
          model: "gpt-4o",
          share: 0.2,
          calls: 160,
          failed: 0,
          servedShare: 0.25,
        },
      ],
      fallbacks: [
        {
          provider: "office-gpu",
          model: "qwen3",
          share: null,
          calls: 78,
          failed: 0,
          servedShare: 0.12,
        },
      ],
    },
    {
      name: "main",
      match: "any path, any model",
      strategy: "least-latency",
      calls: 6673,
      failed: 0,
      targets: [
        { provider: "openai", model: null, share: null, calls: 5018, failed: 0, servedShare: 0.75 },
        {
          provider: "office-gpu",
          model: "qwen3",
          share: null,
          calls: 1655,
          failed: 0,
          servedShare: 0.25,
        },
      ],
      fallbacks: [],
    },
  ],
  runningCount: 12,
  running: [
    running("r1", "chat-bot", "main", "openai", "gpt-4o-mini", 312, "waiting", 0),
    running("r2", "search", "main", "office-gpu", "qwen3", 1240, "streaming", 31),
    running("r3", "nightly", "coding", "openai", "gpt-4o", 8_800, "streaming", 402),
  ],
  finishedCount: 7_583,
  finished: [
    finishedCall(7583),
    finishedCall(7582, {
      access: {
        ...finishedCall(7582).access,
        client: "nightly",
        route: "coding",
        provider: "office-gpu",
        model: "qwen3",
        session: "build-42",
        cache: "MISS",
        queued_ms: 120.5,
        tokens_in: 5210,
        tokens_out: 640,
        retries: 1,
        fallback: true,
      },
      requestedModel: "claude-sonnet-4-5",
      targets: [
        passed("claude", "claude-sonnet-4-5", "its circuit breaker is open, or all its keys rest"),
        { ...passed("openai", "gpt-4o", null), isChosen: true },
        { ...passed("office-gpu", "qwen3", null), isFallback: true },
        { ...passed("office-gpu", "gemma3", null), isFallback: true },
      ],
      attempts: [
        attempt("openai", "gpt-4o", "main", "upstream_throttled", 4, 220),
        attempt("openai", "gpt-4o", "spare", "upstream_unavailable", 221, 1_105),
        attempt("office-gpu", "qwen3", null, "success", 1_226, 4_870),
      ],
      verified: ["response_format"],
      lossy: ["reasoning_effort", "messages[2].content[1]"],
      usd: 0.0142,
      firstByteMs: 1_402,
      firstTokenMs: 1_448,
      totalMs: 4_870,
    }),
    finishedCall(7581, {
      access: {
        ...finishedCall(7581).access,
        client: "search",
        route: "coding",
        status: 503,
        end: "circuit_open",
        provider: "claude",
        model: "claude-sonnet-4-5",
        tokens_in: undefined,
        tokens_out: undefined,
      },
      outcome: "not_sent",
      code: "circuit_open",
      failure:
        "circuit_open: The circuit breaker of provider claude is open; try again in 17 seconds.",
      targets: [{ ...passed("claude", "claude-sonnet-4-5", null), isChosen: true }],
      attempts: [{
        ...attempt("claude", "claude-sonnet-4-5", null, "circuit_open", 0.6, 0.6),
        notSent: true,
      }],
      usd: null,
      firstByteMs: 0.7,
      firstTokenMs: null,
      totalMs: 0.8,
    }),
    finishedCall(7580, {
      access: {
        request_id: "0198e1c5-3f0e-4c0d-9a57-000000007580",
        method: "POST",
        path: "/v1/chat/completions",
        status: 404,
        client: "nightly",
        stream: false,
        duration_ms: 0.9,
        end: "refused",
      },
      outcome: "refused",
      code: "model_not_found",
      requestedModel: "gpt-9-mini",
      failure: "unknown_model: No route serves the requested model.",
      targets: [],
      attempts: [],
      usd: null,
      firstByteMs: 0.8,
      firstTokenMs: null,
      totalMs: 0.9,
    }),
    finishedCall(7579, {
      access: {
        ...finishedCall(7579).access,
        provider: "claude",
        model: "claude-sonnet-4-5",
        route: "coding",
        status: 504,
        end: "upstream_timeout",
        tokens_in: undefined,
        tokens_out: undefined,
      },
      outcome: "failed",
      code: "upstream_timeout",
      failure: "upstream_timeout: The provider sent no response within 30 seconds.",
      targets: [{ ...passed("claude", "claude-sonnet-4-5", null), isChosen: true }],
      attempts: [attempt("claude", "claude-sonnet-4-5", null, "upstream_timeout", 2, 30_002)],
      usd: null,
      firstByteMs: 30_003,
      firstTokenMs: null,
      totalMs: 30_003,
    }),
    finishedCall(7578, {
      access: { ...finishedCall(7578).access, cache: "HIT", stream: false },
      attempts: [],
      usd: null,
      firstByteMs: 1.2,
      firstTokenMs: null,
      totalMs: 1.3,
    }),
    finishedCall(7577, { isSlow: true, firstByteMs: 9_400, firstTokenMs: 9_400, totalMs: 12_100 }),
    ...Array.from({ length: 20 }, (_, at) => finishedCall(7576 - at)),
  ],
  keys: [
    {
      name: "chat-bot",
      group: "web",
      isDisabled: false,
      requestsPerMinute: 212,
      tokensPerMinute: 184_000,
      maxRequestsPerMinute: 600,
      maxTokensPerMinute: 500_000,
      groupRates: [{ scope: "web", tokensPerMinute: 276_000, maxTokensPerMinute: 800_000 }],
      running: 3,
      maxConcurrent: 20,
      budgets: [
        { scope: "chat-bot", period: "day", spentUsd: 12.4, limitUsd: 20 },
        { scope: "web", period: "month", spentUsd: 412.9, limitUsd: 500 },
      ],
      tokenBudgets: [],
      today: usage(18_204, 9_204_118, 1_882_004, 12_400_000_000),
    },
    {
      name: "nightly",
      group: "web",
      isDisabled: false,
      requestsPerMinute: 60,
      tokensPerMinute: 92_000,
      maxRequestsPerMinute: 60,
      maxTokensPerMinute: null,
      groupRates: [{ scope: "web", tokensPerMinute: 276_000, maxTokensPerMinute: 800_000 }],
      running: 1,
      maxConcurrent: 1,
      budgets: [{ scope: "nightly", period: "month", spentUsd: 50.01, limitUsd: 50 }],
      tokenBudgets: [{ scope: "nightly", period: "day", spent: 880_000, limit: 1_000_000 }],
      today: usage(402, 1_204_118, 82_004, 3_100_000_000),
    },
    {
      name: "old-laptop",
      group: null,
      isDisabled: true,
      requestsPerMinute: 0,
      tokensPerMinute: 0,
      maxRequestsPerMinute: null,
      maxTokensPerMinute: null,
      groupRates: [],
      running: 0,
      maxConcurrent: null,
      budgets: [],
      tokenBudgets: [],
      today: usage(0, 0, 0, 0),
    },
  ],
};

function running(
  id: string,
  client: string,
  route: string,
  provider: string,
  model: string,
  ageMs: number,
  phase: "waiting" | "streaming",
  records: number,
) {
  const path = "/v1/chat/completions";
  return { id, path, client, route, provider, model, ageMs, phase, records, tries: 1 };
}

function passed(provider: string, model: string, skipped: string | null) {
  return { provider, model, isFallback: false, isChosen: false, skipped };
}

function attempt(
  provider: string,
  model: string,
  key: string | null,
  outcome: string,
  beganMs: number,
  endedMs: number,
) {
  return { provider, model, key, outcome, beganMs, endedMs };
}

function usage(calls: number, input: number, output: number, nanoUsd: number) {
  return { calls, input, output, cached: 0, nanoUsd, estimated: 0 };
}
