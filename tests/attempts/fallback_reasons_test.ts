import { ConnectionError } from "../../src/core/failure/connection_error.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const TOO_LONG = {
  error: { message: "Too long.", type: "invalid_request_error", code: "context_length_exceeded" },
};

/** Response of a provider: a status with an error, or an answer. */
type Played = number | "too long" | "filtered" | "served" | (() => Promise<Response>);

interface Target {
  readonly plays: Played;
  readonly model?: string;
  readonly size?: number;
}

interface Setting {
  readonly targets: readonly Target[];
  readonly fallbackOn?: string;
  readonly provider?: string;
  readonly body?: JsonObject;
  readonly breaker?: string;
}

function play(played: Played): Promise<Response> {
  if (typeof played === "function") return played();
  if (played === "served") return answers(200, COMPLETION);
  if (played === "too long") return answers(400, TOO_LONG);
  if (played === "filtered") {
    return answers(400, { error: { message: "No.", code: "content_filter" } });
  }
  return answers(played, { error: { message: `It said ${played}.` } });
}

/** A gateway whose target `p0` has the fallbacks `p1`, `p2`, …, each with the model of its name. */
function gatewayOf({ targets, fallbackOn, provider = "", breaker = "enabled: false" }: Setting) {
  const sent: string[] = [];
  const world = scriptedWorld({
    fetch(url) {
      const { hostname } = new URL(url);
      sent.push(hostname);
      return play(targets[Number(hostname.slice(1))]?.plays ?? 500);
    },
  });
  const [first, ...others] = targets.map(({ model, size }, at) =>
    `{provider: p${at}, model: ${model ?? `m${at}`}${
      size === undefined ? "" : `, context_size: ${size}`
    }}`
  );
  const gateway = testGateway(
    `
providers:
${
      targets.map((_, at) => `  p${at}: {type: compat, base_url: "http://p${at}"${provider}}`).join(
        "\n",
      )
    }
routing:
  routes:
    - {name: r, targets: [${first}], fallback: [${others.join(", ")}]${
      fallbackOn === undefined ? "" : `, fallback_on: ${fallbackOn}`
    }}
retry: {max_attempts: 3, initial_delay: 1ms}
circuit_breaker: {${breaker}}
`,
    world,
  );
  return {
    sent,
    gateway,
    world,
    async ask(body: JsonObject = {}) {
      const waiting = gateway.app(chatRequest({ body: { model: "auto", ...body } })).then(got);
      let isOver = false;
      waiting.then(() => isOver = true);
      do await world.advance(100); while (!isOver);
      return await waiting;
    },
  };
}

/** Sends a call; returns its status, its error and the providers that were called. */
async function ask(setting: Setting) {
  const { ask, sent, gateway } = gatewayOf(setting);
  const { status, error, text } = await ask(setting.body);
  return { status, error, text, sent: sent.join(" "), report: gateway.reports[0] };
}

Deno.test("a prompt that is too long goes once to the next model", async () => {
  const { status, sent, report } = await ask({
    targets: [{ plays: "too long" }, { plays: "served" }],
  });
  assertEquals([status, sent], [200, "p0 p1"]);
  assertEquals(report?.attempts.map(({ outcome }) => outcome), [
    "context_length_exceeded",
    "success",
  ]);
});

Deno.test("prompts that are too long do not open the circuit breaker", async () => {
  const targets: readonly Target[] = [{ plays: "too long" }, { plays: "served" }];
  const { ask, sent } = gatewayOf({ targets, breaker: "failure_threshold: 1" });
  for (let count = 0; count < 3; count++) await ask();
  assertEquals(sent.filter((one) => one === "p0").length, 3);
});

Deno.test("models that are not known to be larger, and the same model, are skipped", async () => {
  const targets: readonly Target[] = [
    { plays: "too long", size: 8_000 },
    { plays: "served", size: 8_000 },
    { plays: "served", model: "m0" },
    { plays: "served", size: 16_000 },
  ];
  assertEquals((await ask({ targets })).sent, "p0 p3");
  const unknown: readonly Target[] = [{ plays: "too long" }, { plays: "served", size: 10 }];
  assertEquals((await ask({ targets: unknown })).sent, "p0 p1");
  const same: readonly Target[] = [
    { plays: "too long", model: "m", size: 8_000 },
    { plays: "served", model: "m", size: 16_000 },
  ];
  assertEquals((await ask({ targets: same })).sent, "p0 p1");
});

Deno.test("a model that fails otherwise leaves those that are too small skipped", async () => {
  const targets: readonly Target[] = [
    { plays: "too long", size: 8_000 },
    { plays: 501, size: 32_000 },
    { plays: "served", size: 4_000 },
    { plays: "served" },
  ];
  assertEquals((await ask({ targets })).sent, "p0 p1 p3");
});

Deno.test("if every model refuses the prompt the client sees the first refusal", async () => {
  const { status, error, sent, report } = await ask({
    targets: [{ plays: "too long" }, { plays: "too long" }, { plays: 503 }],
  });
  assertEquals([status, error], [400, TOO_LONG.error]);
  assertEquals(sent, "p0 p1 p2 p2 p2");
  assertEquals([report?.provider, report?.model], ["p0", "m0"]);
});

Deno.test("a fallback that refuses the request is skipped, and its refusal never shown", async () => {
  const served = await ask({ targets: [{ plays: 501 }, { plays: 400 }, { plays: "served" }] });
  assertEquals([served.status, served.sent], [200, "p0 p1 p2"]);
  const failed = await ask({ targets: [{ plays: 501 }, { plays: 400 }, { plays: 422 }] });
  assertEquals([failed.status, failed.error.message], [501, "It said 501."]);
  assertEquals((await ask({ targets: [{ plays: 400 }, { plays: "served" }] })).sent, "p0");
});

/** Plays one after the other, request by request. */
function inTurn(...all: readonly Played[]): Played {
  const left = [...all];
  return () => play(left.shift() ?? "served");
}

function unconnected(): Promise<Response> {
  const progress = { mayHaveRun: false, isAnswered: false };
  return Promise.reject(new ConnectionError("timeout", "It said nothing.", progress));
}

Deno.test("after outages alone the client sees the last failure, and after a rejection by any candidate that of the first", async () => {
  const seen = async (...plays: readonly Played[]) => {
    const { status, sent, report } = await ask({ targets: plays.map((one) => ({ plays: one })) });
    return [status, report?.provider, report?.model, sent];
  };
  assertEquals(await seen(501, 502), [502, "p1", "m1", "p0 p1 p1 p1"]);
  assertEquals(await seen(501, 505, 507), [507, "p2", "m2", "p0 p1 p2"]);
  assertEquals(await seen(501, 400, 505), [501, "p0", "m0", "p0 p1 p2"]);
  assertEquals(await seen(501, "too long", 505), [501, "p0", "m0", "p0 p1 p2"]);
  assertEquals(await seen(501, 505, 400), [501, "p0", "m0", "p0 p1 p2"]);
  assertEquals(await seen("too long", 501), [400, "p0", "m0", "p0 p1"]);
  assertEquals(await seen("too long", 501, 400), [400, "p0", "m0", "p0 p1 p2"]);
});

Deno.test("the failure of the first candidate is that of its last retry, also if it was retried last", async () => {
  const first = inTurn(unconnected, 501);
  const { status, sent } = await ask({ targets: [{ plays: first }, { plays: 400 }] });
  assertEquals([status, sent], [501, "p0 p1 p0"]);
  const rejecting = inTurn(unconnected, 422);
  const rejected = await ask({ targets: [{ plays: rejecting }, { plays: 501 }] });
  assertEquals([rejected.status, rejected.sent], [422, "p0 p1 p0"]);
});

Deno.test("a client that leaves after a candidate has rejected the request is in the log as gone", async () => {
  const client = new AbortController();
  const leaving: Played = () => {
    client.abort();
    return answers(503, {});
  };
  const { gateway, world, sent } = gatewayOf({
    targets: [{ plays: 501 }, { plays: 400 }, { plays: leaving }],
  });
  const waiting = gateway.app(chatRequest({ body: { model: "auto" }, signal: client.signal }));
  await world.advance(1_000);
  await got(await waiting);
  const report = await gateway.reported(1);
  assertEquals([sent, endOf(report), report.provider], [["p0", "p1", "p2"], "client_gone", "p2"]);
});

Deno.test("a prompt with side effects that was rejected for its length goes to the next model", async () => {
  const provider = ", capabilities: {chat_completions_lifecycle: true}";
  const body = { store: true };
  const targets: readonly Target[] = [{ plays: "too long" }, { plays: "served" }];
  assertEquals((await ask({ targets, provider, body })).sent, "p0 p1");
  const within = [{ plays: () => answers(200, TOO_LONG) }, { plays: "served" }] as const;
  assertEquals((await ask({ targets: within, provider, body })).sent, "p0");
});

Deno.test("fallback_on decides after which failures another candidate is tried", async () => {
  const after = async (plays: Played, fallbackOn: string) =>
    (await ask({ targets: [{ plays }, { plays: "served" }], fallbackOn })).sent;
  assertEquals(await after("too long", "[outage]"), "p0");
  assertEquals(await after(501, "[context_length]"), "p0");
  assertEquals(await after(503, "[]"), "p0 p0 p0");
  assertEquals(await after("filtered", "[outage, context_length]"), "p0");
  assertEquals(await after("filtered", "[content_filter]"), "p0 p1");
});

const chunk = (delta: JsonObject, finish: string | null) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
  }\n\n`;

const SSE = { "content-type": "text/event-stream" };

function filteredStream(content: string): Played {
  const text = chunk({ role: "assistant", content }, null) + chunk({}, "content_filter") +
    "data: [DONE]\n\n";
  return () => answers(200, text, SSE);
}

function filteredWhole(content: string | null): Played {
  const message = { role: "assistant", content };
  const choices = [{ index: 0, message, finish_reason: "content_filter" }];
  return () => answers(200, { ...COMPLETION, choices });
}

Deno.test("an answer that a filter ended before its content goes to the fallback only by the word", async () => {
  const served = () => answers(200, chunk({ content: "Hi" }, "stop") + "data: [DONE]\n\n", SSE);
  const forms = [
    { plays: filteredStream(""), body: { stream: true }, next: served },
    { plays: filteredWhole(null), body: {}, next: "served" },
  ] as const;
  for (const { plays, body, next } of forms) {
    const targets = [{ plays }, { plays: next }];
    const off = await ask({ targets, body });
    assertEquals([off.status, off.sent], [200, "p0"]);
    assert(off.text.includes("content_filter"));
    assertEquals((await ask({ targets, body, fallbackOn: "[content_filter]" })).sent, "p0 p1");
  }
});

Deno.test("an answer that a filter ended after its content is the answer", async () => {
  const forms = [
    { plays: filteredStream("Well"), body: { stream: true } },
    { plays: filteredWhole("Well"), body: {} },
  ];
  for (const { plays, body } of forms) {
    const setting = { targets: [{ plays }, { plays: "served" as const }], body };
    const { status, sent } = await ask({ ...setting, fallbackOn: "[content_filter]" });
    assertEquals([status, sent], [200, "p0"]);
  }
});

Deno.test("if all filters refuse the client gets a status 400 with the code of a filter", async () => {
  const targets = [{ plays: filteredWhole("") }, { plays: "filtered" as const }];
  const { status, error, sent } = await ask({ targets, fallbackOn: "[content_filter]" });
  assertEquals([status, error.code, sent], [400, "content_filter", "p0 p1"]);
});
