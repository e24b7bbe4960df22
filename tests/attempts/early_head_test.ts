import { pageText } from "../docs/pages.ts";
import { assert, assertEquals } from "../support/assert.ts";
import {
  callLate,
  failing,
  lateGateway,
  type LateTarget,
  REQUESTS,
  silent,
  streaming,
  STREAMS,
} from "../support/late_upstreams.ts";

const COMMENT = ": keep-alive\n\n";
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';
const APIS = ["chat", "messages", "responses"] as const;
const TYPES = ["compat", "messages", "responses"] as const;

function late(type: LateTarget["type"], ms: number): LateTarget {
  return { type, answers: [streaming(STREAMS[type] ?? [], ms)] };
}

/** The types of the events of a Responses stream. */
function eventsOf(text: string) {
  return text.split("\n\n").flatMap((record) => {
    const data = /^data: (.*)$/m.exec(record)?.[1];
    return data === undefined || data === "[DONE]" ? [] : [JSON.parse(data)];
  });
}

Deno.test("without content for early_head a stream gets its head and signs of life, at their times and nothing else before the content", async () => {
  for (const api of APIS) {
    for (const type of TYPES) {
      const gateway = lateGateway([late(type, 50_500)], "early_head: 20s");
      const { status, headers, headAt, writes } = await callLate(gateway, api, { stepMs: 2_500 });
      assertEquals([status, headAt, headers.get("x-gateway-early")], [200, 20, "true"]);
      const before = writes.filter(([at]) => at < 50.5);
      assertEquals(before.map(([at]) => at), [20, 35, 50]);
      const texts = before.map(([, text]) => text);
      const isTranslated = api === "responses" && type !== "responses";
      if (!isTranslated) {
        assertEquals(texts, Array(3).fill(api === "messages" ? PING : COMMENT));
        continue;
      }
      const events = texts.flatMap(eventsOf);
      assertEquals(
        events.map(({ type, sequence_number, response: { model, status } }) =>
          `${type} ${sequence_number} ${model} ${status}`
        ),
        [
          "response.created 0 asked in_progress",
          "response.in_progress 1 asked in_progress",
          "response.in_progress 2 asked in_progress",
          "response.in_progress 3 asked in_progress",
        ],
      );
    }
  }
});

Deno.test("after an early head the stream continues as it would have begun, and a Responses stream with one ID and gapless numbers", async () => {
  for (const api of APIS) {
    for (const type of TYPES) {
      const plain = await callLate(lateGateway([late(type, 50_500)], "strategy: weighted"), api, {
        stepMs: 5_000,
      });
      const early = await callLate(lateGateway([late(type, 50_500)], "early_head: 20s"), api, {
        stepMs: 5_000,
      });
      assertEquals(plain.headAt > 50, true);
      const [, rest = ""] = early.text.split(/: x-gateway-route=main [^\n]*\n\n/);
      if (api === "responses" && type !== "responses") {
        const events = eventsOf(early.text);
        assertEquals(events.map((one) => one.sequence_number), [...events.keys()]);
        const ids = events.flatMap(({ response }) => response === undefined ? [] : [response.id]);
        assertEquals(new Set(ids).size, 1);
        assertEquals(events.filter((one) => one.type === "response.created").length, 1);
        assertEquals(
          eventsOf(rest).map((one) => one.type),
          eventsOf(plain.text).map((one) => one.type).slice(2),
        );
        assertEquals(events.at(-1).response.status, "completed");
      } else assertEquals(rest, plain.text);
    }
  }
});

Deno.test("the first record after the commit is a comment with the headers that came too late", async () => {
  const gateway = lateGateway([late("messages", 30_000)], "early_head: 20s");
  const members = { messages: [{ role: "user", content: "Hi", name: "Ada" }] };
  const { headers, text } = await callLate(gateway, "chat", { members });
  const [signs = "", comment = "", ...rest] = text.split(
    /(?<=^: x-gateway.*\n\n)|(?=^: x-gateway)/m,
  );
  assertEquals(signs, COMMENT);
  assertEquals(
    comment,
    ": x-gateway-route=main x-gateway-provider=up0 x-gateway-model=asked x-gateway-lossy=messages[0].name\n\n",
  );
  assert(rest.join("").startsWith("data: {"));
  assertEquals(headers.get("x-gateway-route"), "main");
  assert(headers.get("x-gateway-request-id") !== null);
  for (const late of ["provider", "model", "lossy", "latency-ms"]) {
    assertEquals(headers.get(`x-gateway-${late}`), null);
  }
});

Deno.test("retries, key changes and fallbacks go on after an early head, and message_start comes once from who responds", async () => {
  const gateway = lateGateway(
    [
      { type: "compat", answers: [failing(500, 25_000), failing(503, 5_000)] },
      late("messages", 10_000),
    ],
    "early_head: 20s",
    "retry: {max_attempts: 2, initial_delay: 1s, jitter_factor: 0}",
  );
  const { text, writes } = await callLate(gateway, "messages");
  assertEquals(gateway.asked, ["up0", "up0", "up1"]);
  assertEquals(text.match(/event: message_start/g)?.length, 1);
  assert(text.includes("x-gateway-provider=up1") && text.endsWith('{"type":"message_stop"}\n\n'));
  assertEquals(writes.map(([at]) => at).slice(0, 3), [20, 35, 41]);
  const { ms, status, attempts } = await gateway.reported(1);
  assertEquals([ms.earlyHead, ms.firstToken, status], [20_000, 41_000, 200]);
  assertEquals(attempts.length, 3);
});

/** Failures after an early head, and the terminal of each client API. */
const FAILURES = [
  [silent, "upstream_timeout", "overloaded_error", "server_error"],
  [failing(500, 21_000), null, "overloaded_error", "server_error"],
  [failing(529, 21_000), null, "overloaded_error", "server_error"],
  [
    streaming(["data: {\n\n"], 21_000),
    "invalid_upstream_response",
    "overloaded_error",
    "server_error",
  ],
  [failing(429, 21_000), null, "overloaded_error", "rate_limit_exceeded"],
  [
    failing(400, 21_000, { type: "invalid_request_error", message: "prompt is too long: 9 > 8" }),
    null,
    "invalid_request_error",
    "invalid_prompt",
  ],
  [
    failing(404, 21_000, { type: "not_found_error", message: "No." }),
    null,
    "not_found_error",
    "invalid_prompt",
  ],
  [
    failing(401, 21_000, { type: "authentication_error", message: "No." }),
    null,
    "authentication_error",
    "invalid_prompt",
  ],
] as const;

Deno.test("each failure after an early head ends the stream with exactly one terminal, in the words of the client API", async () => {
  for (const [answer, code, messagesType, responsesCode] of FAILURES) {
    for (const type of TYPES) {
      for (const api of APIS) {
        const gateway = lateGateway([{ type, answers: [answer] }], "early_head: 20s");
        const { status, text } = await callLate(gateway, api, { stepMs: 10_000 });
        assertEquals(status, 200);
        const events = eventsOf(text);
        const report = await gateway.reported(1);
        assertEquals([report.brokeOff, report.status, report.ms.firstToken], [false, 200, null]);
        assert(!text.includes("k-secret"));
        if (api === "chat") {
          assertEquals(events.map((one) => Object.keys(one)), [["error"]]);
          if (code !== null) assertEquals(events[0].error.code, code);
          assert(text.endsWith("data: [DONE]\n\n"));
        } else if (api === "messages") {
          const [error] = events.filter((one) => one.type !== "ping");
          assertEquals(events.at(-1), error);
          assertEquals([error.type, error.error.type], ["error", messagesType]);
          if (code !== null) assertEquals(error.error.details.error_code, code);
        } else {
          const terminal = events.at(-1);
          assertEquals(events.map((one) => one.sequence_number), [...events.keys()]);
          assertEquals(events.slice(0, -1).map((one) => one.type).slice(0, 2), [
            "response.created",
            "response.in_progress",
          ]);
          assertEquals(terminal.type, "response.failed");
          const { error: { code: shownCode, message }, id } = terminal.response;
          assertEquals([shownCode, id], [responsesCode, events[0].response.id]);
          if (code !== null) assert(message.startsWith(`[${code}] `), message);
          if (type === "messages" && messagesType === "invalid_request_error") {
            assertEquals(message, "prompt is too long: 9 > 8");
          }
        }
      }
    }
  }
});

Deno.test("attempts after the opening of a Responses stream have its ID", async () => {
  const gateway = lateGateway(
    [{ type: "compat", answers: [failing(503, 30_000)] }, late("messages", 5_000)],
    "early_head: 20s",
  );
  const events = eventsOf((await callLate(gateway, "responses")).text);
  const ids = new Set(
    events.flatMap(({ response }) => response === undefined ? [] : [response.id]),
  );
  assertEquals([ids.size, events.at(-1).type], [1, "response.completed"]);
});

Deno.test("the type of an error that a Messages provider has written stays, unless another request may not have it", async () => {
  for (const [status, expected] of [[400, "custom_error"], [500, "overloaded_error"]] as const) {
    const answers = [failing(status, 21_000, { type: "custom_error", message: "No." })];
    const gateway = lateGateway([{ type: "messages", answers }], "early_head: 20s");
    const { text } = await callLate(gateway, "messages");
    assertEquals(eventsOf(text).at(-1).error.type, expected);
  }
});

Deno.test("after the commit a stream has its usual signs of life, and a relayed Messages stream none", async () => {
  for (const [api, type, count] of [["chat", "compat", 1], ["messages", "messages", 0]] as const) {
    const answers = [streaming(STREAMS[type] ?? [], 30_000, 16_000)];
    const gateway = lateGateway([{ type, answers }], "early_head: 20s");
    const { text } = await callLate(gateway, api);
    const [, rest = ""] = text.split(/: x-gateway-route=main [^\n]*\n\n/);
    assert((rest.includes(COMMENT) ? 1 : 0) === count && !rest.includes(PING), rest);
  }
});

Deno.test("early_head counts from the begin of the call, however slowly its body arrives", async () => {
  const { app, world } = lateGateway([late("compat", 60_000)], "early_head: 20s");
  const { path, body } = REQUESTS.chat;
  const text = JSON.stringify({ model: "asked", stream: true, ...body });
  const slow = new ReadableStream({
    start(controller) {
      world.after(7_000, () => {
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      });
    },
  });
  const answering = app(new Request(`http://localhost${path}`, { method: "POST", body: slow }));
  let headAt = 0;
  void answering.then(() => headAt = world.now());
  for (let at = 0; at < 25; at++) await world.advance(1_000);
  assertEquals(headAt, 20_000);
  await (await answering).body?.cancel();
  await world.advance(1);
});

Deno.test("a response that continues a native one has one candidate, its owner, and begins early with comments", async () => {
  const pieces = STREAMS.responses ?? [];
  const gateway = lateGateway(
    [{ type: "responses", answers: [streaming(pieces, 0), streaming(pieces, 30_000)] }],
    "early_head: 20s",
  );
  const first = await callLate(gateway, "responses", { members: { store: true } });
  assertEquals(first.headAt, 0);
  const members = { store: true, previous_response_id: "resp_native" };
  const { headAt, text } = await callLate(gateway, "responses", { members });
  assertEquals(headAt, 20);
  assert(text.startsWith(COMMENT) && text.endsWith(pieces.at(-1) ?? ""));
});

Deno.test("one native candidate among those left means comments only, and none is left once it has failed", async () => {
  const native = { type: "responses", answers: [failing(503, 30_000)] } as const;
  const both = lateGateway([native, late("compat", 10_000)], "early_head: 20s");
  const { text } = await callLate(both, "responses");
  assert(text.startsWith(COMMENT));
  assertEquals(eventsOf(text).map((one) => one.sequence_number), [...eventsOf(text).keys()]);
  const failed = { type: "responses", answers: [failing(503, 10_000)] } as const;
  const one = lateGateway([failed, late("compat", 30_000)], "early_head: 20s");
  assert((await callLate(one, "responses")).text.startsWith("event: response.created\n"));
});

Deno.test("a refusal, a failure before early_head, a whole response and a fast stream are as without the key", async () => {
  const targets = [late("compat", 1_000)];
  const cases = [
    [
      lateGateway([{ type: "compat", answers: [failing(400, 19_000)] }], "early_head: 20s"),
      {},
      400,
    ],
    [lateGateway(targets, "early_head: 20s"), { n: 2, model: 7 }, 400],
    [lateGateway(targets, "early_head: 20s"), {}, 200],
    [
      lateGateway([{
        type: "compat",
        answers: [(world, signal) => failing(500, 60_000)(world, signal)],
      }], "early_head: 20s"),
      { stream: false },
      500,
    ],
  ] as const;
  for (const [gateway, members, expected] of cases) {
    const { status, headers, text } = await callLate(gateway, "chat", { members });
    assertEquals([status, headers.get("x-gateway-early")], [expected, null]);
    assert(!text.includes(COMMENT));
    assertEquals(gateway.world.waiting, 0);
  }
});

Deno.test("a client that leaves after the head cancels the attempt, and its call says so", async () => {
  for (const api of APIS) {
    const gateway = lateGateway([{ type: "compat", answers: [silent] }], "early_head: 20s");
    const { path, body } = REQUESTS[api];
    const answering = gateway.app(
      new Request(`http://localhost${path}`, {
        method: "POST",
        body: JSON.stringify({ model: "asked", stream: true, ...body }),
      }),
    );
    await gateway.world.advance(20_000);
    const reader = (await answering).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await gateway.world.advance(1);
    assertEquals(gateway.aborted, ["up0"]);
    const { failure, ms } = await gateway.reported(1);
    assertEquals([failure?.kind, ms.firstToken], ["client_cancelled", null]);
    assertEquals(gateway.world.waiting, 0);
    const metrics = await gateway.gateway.metrics.scrape();
    const line = `gateway_early_heads_total{endpoint="${path}",end="client_gone"} 1`;
    assert(metrics.includes(line));
  }
});

Deno.test("a shutdown ends a stream that began early with one terminal, in the words of the errors page", async () => {
  const words: Record<string, string> = {};
  for (const api of APIS) {
    const gateway = lateGateway([{ type: "compat", answers: [silent] }], "early_head: 20s");
    const { path, body } = REQUESTS[api];
    const answering = gateway.app(
      new Request(`http://localhost${path}`, {
        method: "POST",
        body: JSON.stringify({ model: "asked", stream: true, ...body }),
      }),
    );
    await gateway.world.advance(20_000);
    const text = (await answering).text();
    gateway.gateway.state.inFlight.cancelAll();
    const ends = eventsOf(await text).filter((one) => !/ping|created|in_progress/.test(one.type));
    assertEquals(ends.length, 1);
    words[api] = ends[0].error?.type ?? ends[0].response.error.code;
  }
  const { chat, messages, responses } = words;
  const row = /^.*`draining`.*$/m.exec(pageText("docs/reference/errors.md"))?.[0];
  assertEquals(
    row,
    `| 503 | \`draining\` | \`${chat}\` | no | no | \`drained\` | \`${messages}\`, \`${responses}\` |`,
  );
});

Deno.test("early heads are in the log and the metrics, by how they ended", async () => {
  for (
    const [targets, end] of [[[late("compat", 30_000)], "content"], [[{
      type: "compat",
      answers: [failing(500, 30_000)],
    }], "failed"]] as const
  ) {
    const gateway = lateGateway(targets, "early_head: 20s");
    await callLate(gateway, "chat");
    const line = JSON.parse(gateway.log.find((one) => one.includes('"early_head_ms"')) ?? "{}");
    assertEquals(
      [line.early_head_ms, line.ttft_ms ?? null, line.status, line.end],
      end === "content"
        ? [20_000, 30_000, 200, "complete"]
        : [20_000, null, 200, "upstream_status"],
    );
    const metrics = await gateway.gateway.metrics.scrape();
    assert(
      metrics.includes(`gateway_early_heads_total{endpoint="/v1/chat/completions",end="${end}"} 1`),
    );
  }
});
