import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { callLate, lateGateway, REQUESTS, streaming, STREAMS } from "../support/late_upstreams.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";
import { pieces, streamOf as streamOfBytes } from "../support/pieces.ts";
import { privacyConfig } from "../privacy/rules.ts";

const VALUE = "bob.miller@example.com", STRANGER = "jane.doe@example.org";

const REPLACES = "find: [email], action: replace";
const MASKS = "find: [email], phase: response, action: mask";
const REFUSES = "find: [email], phase: response, action: refuse";

type Api = "chat" | "messages" | "responses";
const APIS: readonly Api[] = ["chat", "messages", "responses"];
const WIRES = ["compat", "messages", "responses", "local"] as const;
type WireName = (typeof WIRES)[number];

function configOf(wire: WireName, rules: readonly string[], more = ""): string {
  const type = wire === "responses" ? "compat" : wire;
  const capabilities = wire === "responses" ? ", capabilities: {responses_lifecycle: true}" : "";
  const target = wire === "responses" ? ", upstream_request_type: responses" : "";
  return `
providers:
  up: {type: ${type}, base_url: "http://up.test", api_key: sk-x${capabilities}}
routing:
  routes: [{name: main, targets: [{provider: up${target}}]}]
circuit_breaker: {failure_threshold: 1}
${more}${privacyConfig(rules)}`;
}

const sse = (events: readonly (readonly [string | null, object | string])[]) =>
  events.map(([name, data]) =>
    `${name === null ? "" : `event: ${name}\n`}data: ${
      typeof data === "string" ? data : JSON.stringify(data)
    }\n\n`
  ).join("");

/** Returns the stream with which a provider says these pieces. */
function streamOf(wire: WireName, pieces: readonly string[]): string {
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
  switch (wire) {
    case "compat": {
      const chunk = (delta: object, finish_reason: string | null = null) =>
        [null, {
          id: "c",
          object: "chat.completion.chunk",
          created: 1,
          model: "m",
          choices: [{ index: 0, delta, finish_reason }],
        }] as const;
      return sse([
        ...pieces.map((content) => chunk({ content })),
        chunk({}, "stop"),
        [null, {
          id: "c",
          object: "chat.completion.chunk",
          created: 1,
          model: "m",
          choices: [],
          usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
        }],
        [null, "[DONE]"],
      ]);
    }
    case "messages": {
      const event = (type: string, members: object) => [type, { type, ...members }] as const;
      return sse([
        event("message_start", {
          message: {
            id: "msg_1",
            type: "message",
            role: "assistant",
            model: "m",
            content: [],
            usage: { input_tokens: 3, output_tokens: 1 },
          },
        }),
        event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
        ...pieces.map((text) =>
          event("content_block_delta", { index: 0, delta: { type: "text_delta", text } })
        ),
        event("content_block_stop", { index: 0 }),
        event("message_delta", {
          delta: { stop_reason: "end_turn", stop_sequence: null },
          usage: { output_tokens: 4 },
        }),
        event("message_stop", {}),
      ]);
    }
    case "responses": {
      let sequence_number = 0;
      const event = (type: string, members: object) =>
        [type, { type, sequence_number: sequence_number++, ...members }] as const;
      const text = pieces.join("");
      const part = { type: "output_text", text, annotations: [] };
      const item = {
        id: "msg_1",
        type: "message",
        role: "assistant",
        status: "completed",
        content: [part],
      };
      const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
      const response = {
        id: "resp_1",
        object: "response",
        created_at: 1,
        model: "m",
        status: "in_progress",
        output: [],
      };
      return sse([
        event("response.created", { response }),
        event("response.in_progress", { response }),
        event("response.output_item.added", {
          output_index: 0,
          item: { ...item, status: "in_progress", content: [] },
        }),
        event("response.content_part.added", { ...at, part: { ...part, text: "" } }),
        ...pieces.map((delta) => event("response.output_text.delta", { ...at, delta })),
        event("response.output_text.done", { ...at, text }),
        event("response.content_part.done", { ...at, part }),
        event("response.output_item.done", { output_index: 0, item }),
        event("response.completed", {
          response: { ...response, status: "completed", output: [item], usage },
        }),
      ]);
    }
    case "local":
      return [
        ...pieces.map((content) => ({
          model: "m",
          created_at: "2026-01-01T00:00:00Z",
          message: { role: "assistant", content },
          done: false,
        })),
        {
          model: "m",
          created_at: "2026-01-01T00:00:00Z",
          message: { role: "assistant", content: "" },
          done: true,
          done_reason: "stop",
          prompt_eval_count: 3,
          eval_count: 4,
        },
      ].map((line) => `${JSON.stringify(line)}\n`).join("");
  }
}

/** Returns the whole answer with which a provider says a text. */
function wholeOf(wire: WireName, text: string): object {
  switch (wire) {
    case "compat":
      return {
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{
          index: 0,
          message: { role: "assistant", content: text },
          finish_reason: "stop",
        }],
        usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
      };
    case "messages":
      return {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [{ type: "text", text }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 3, output_tokens: 4 },
      };
    case "responses":
      return {
        id: "resp_1",
        object: "response",
        created_at: 1,
        model: "m",
        status: "completed",
        output: [{
          id: "msg_1",
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text, annotations: [] }],
        }],
        usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
      };
    case "local":
      return {
        model: "m",
        created_at: "2026-01-01T00:00:00Z",
        message: { role: "assistant", content: text },
        done: true,
        done_reason: "stop",
        prompt_eval_count: 3,
        eval_count: 4,
      };
  }
}

const PATHS = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};

function numbersOf(text: string): number[] {
  return [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
}

function bodyOf(api: Api, content: string, fields: object): string {
  const body = api === "responses" ? { model: "m", input: content, store: false } : {
    model: "m",
    messages: [{ role: "user", content }],
    ...api === "messages" && { max_tokens: 99 },
  };
  return JSON.stringify({ ...body, ...fields });
}

/** A gateway whose provider answers with what `say` makes of the token in its request. */
function gatewayOf(config: string, answer: (token: string) => Response, readBytes = 100_000) {
  const sent: string[] = [];
  const fetch: Fetch = async (_url, { body }) => {
    const text = await new Response(body ?? "").text();
    sent.push(text);
    const { status, headers, body: written } = answer(
      /qz(?:[a-z]{2}){8}email/.exec(text)?.[0] ?? "no token",
    );
    const bytes = new Uint8Array(await new Response(written).arrayBuffer());
    return new Response(streamOfBytes(pieces(bytes, readBytes)), { status, headers });
  };
  const gateway = testGateway(config, scriptedWorld({ fetch }));
  return {
    ...gateway,
    sent,
    async ask(
      api: Api,
      fields: object = {},
      content = `Mail ${VALUE}`,
      headers: Readonly<Record<string, string>> = {},
    ) {
      const response = await gateway.app(
        new Request(`http://gateway.test${PATHS[api]}`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: bodyOf(api, content, fields),
        }),
      );
      return { response, text: await response.text() };
    },
  };
}

function piecesOf(text: string, size: number): string[] {
  return Array.from(
    { length: Math.ceil(text.length / size) },
    (_, at) => text.slice(at * size, (at + 1) * size),
  );
}

/** Returns the text of the answer in a stream of any client API. */
function streamedText(text: string): string {
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => {
    const { type, delta, choices } = JSON.parse(data);
    if (Array.isArray(choices)) return choices[0]?.delta?.content ?? "";
    if (type === "response.output_text.delta") return delta;
    return type === "content_block_delta" ? delta.text ?? "" : "";
  }).join("");
}

const STREAM_TYPES = {
  compat: "text/event-stream",
  messages: "text/event-stream",
  responses: "text/event-stream",
  local: "application/x-ndjson",
};

for (const api of APIS) {
  Deno.test(`an answer over ${api} has the values of its request, whole and in streams of every wire and cut`, async () => {
    for (const wire of WIRES) {
      for (const size of [1, 7, 1_000]) {
        const gateway = gatewayOf(
          configOf(wire, [REPLACES]),
          (token) =>
            new Response(streamOf(wire, piecesOf(`I wrote to ${token.toUpperCase()}.`, size)), {
              headers: { "content-type": STREAM_TYPES[wire] },
            }),
        );
        const { response, text } = await gateway.ask(api, { stream: true });
        assertEquals(response.status, 200, `${wire} ${text}`);
        assertEquals(streamedText(text), `I wrote to ${VALUE}.`, `${wire} ${size} ${text}`);
        assert(!/qz[a-z]{16}/i.test(text), `${wire} ${text}`);
        assertEquals(response.headers.get("x-gateway-redacted"), "r0=1");
        assert(!gateway.sent.join().includes("bob.miller"));
        assertEquals(gateway.reports[0]?.privacy?.restored, 1);
      }
      const gateway = gatewayOf(
        configOf(wire, [REPLACES]),
        (token) => Response.json(wholeOf(wire, `I wrote to ${token}.`)),
      );
      const { text } = await gateway.ask(api);
      assert(text.includes(`I wrote to ${VALUE}.`), text);
    }
  });

  Deno.test(`the own value of a caller comes back over ${api} where a response rule masks that of a stranger`, async () => {
    for (const wire of WIRES) {
      for (const size of [1, 7, 1_000]) {
        const gateway = gatewayOf(
          configOf(wire, [REPLACES, MASKS]),
          (token) =>
            new Response(streamOf(wire, piecesOf(`Not ${STRANGER} but ${token}.`, size)), {
              headers: { "content-type": STREAM_TYPES[wire] },
            }),
        );
        const { text } = await gateway.ask(api, { stream: true });
        assertEquals(streamedText(text), `Not [email] but ${VALUE}.`);
        assert(!text.includes("jane"));
        assertEquals(
          gateway.reports[0]?.privacy?.matches.map(({ phase, count }) => [phase, count]),
          [["request", 1], ["response", 1]],
        );
      }
      const gateway = gatewayOf(
        configOf(wire, [REPLACES, MASKS]),
        (token) => Response.json(wholeOf(wire, `Not ${STRANGER} but ${token}.`)),
      );
      const { text } = await gateway.ask(api);
      assert(text.includes(`Not [email] but ${VALUE}.`), text);
    }
  });

  Deno.test(`an answer over ${api} that a rule refuses is status 400 before its first text, charged and not repeated`, async () => {
    for (const wire of WIRES) {
      for (const stream of [false, true]) {
        const gateway = gatewayOf(
          configOf(wire, [REFUSES], "retry: {max_attempts: 3}\n"),
          () =>
            stream
              ? new Response(streamOf(wire, [`${STRANGER} `, "and more"]), {
                headers: { "content-type": STREAM_TYPES[wire] },
              })
              : Response.json(wholeOf(wire, STRANGER)),
        );
        for (let call = 0; call < 2; call++) {
          const { response, text } = await gateway.ask(api, { stream }, "Who?");
          assertEquals(response.status, 400, `${wire} ${text}`);
          assert(text.includes("response_refused") && !text.includes("jane"), text);
          assertEquals(response.headers.get("x-should-retry"), "false");
        }
        // The breaker that one failure opens has stayed closed.
        assertEquals(gateway.sent.length, 2);
        const [report] = gateway.reports;
        assertEquals(report?.failure?.kind, "response_refused");
        assertEquals(report?.attempts.length, 1);
        assert(gateway.log.some((line) => line.includes('"end":"blocked"')));
      }
    }
  });

  Deno.test(`a stream over ${api} that a rule refuses ends with exactly one failure after its first text`, async () => {
    for (const wire of WIRES) {
      const gateway = gatewayOf(
        configOf(wire, [REFUSES]),
        () =>
          new Response(
            streamOf(wire, ["Well, it is ", "well, ", ...piecesOf(STRANGER, 3), ". And so on"]),
            { headers: { "content-type": STREAM_TYPES[wire] } },
          ),
        7,
      );
      const { response, text } = await gateway.ask(api, { stream: true }, "Who?");
      assertEquals(response.status, 200);
      assertEquals(streamedText(text), "Well, it is well, ", wire);
      const failures = [...text.matchAll(/"(?:error|response\.failed)"|"error":\{/g)].length;
      assert(failures >= 1 && text.includes("response_refused"), text);
      assertEquals([...text.matchAll(/response_refused/g)].length, 1, text);
      assert(!text.includes("jane"), text);
      assert(!text.includes("message_stop") && !text.includes("response.completed"), text);
      const numbers = numbersOf(text);
      assertEquals(numbers, Array.from(numbers, (_, at) => at), `${api} over ${wire}`);
      assertEquals(numbers.length > 0, api === "responses");
      assertEquals(gateway.reports[0]?.failure?.kind, "response_refused");
      assertEquals(gateway.reports[0]?.brokeOff, true);
    }
  });
}

Deno.test("a refused stream ends for Codex with a code at which it does not repeat the request", async () => {
  for (const wire of WIRES) {
    const pieces = ["Well, ", "it is ", STRANGER, "."];
    const gateway = gatewayOf(
      configOf(wire, [REFUSES]),
      () =>
        new Response(streamOf(wire, pieces), { headers: { "content-type": STREAM_TYPES[wire] } }),
      7,
    );
    const codes = [];
    for (const headers of [{}, { "session-id": "one" }]) {
      const { text } = await gateway.ask("responses", { stream: true }, "Who?", headers);
      const [, data = ""] = /^data: (.*"response\.failed".*)$/m.exec(text) ?? [];
      const { code, message } = JSON.parse(data).response.error;
      codes.push([code, message]);
    }
    const message = "A rule of the gateway does not let this answer pass.";
    assertEquals(codes, [
      ["response_refused", message],
      ["invalid_prompt", `[response_refused] ${message}`],
    ]);
  }
});

Deno.test("the failure of a refused stream repeats no value of an event that was refused", async () => {
  const config = configOf("responses", [REFUSES]);
  const gateway = gatewayOf(config, () => {
    const [opening = "", ...rest] = streamOf("responses", ["Well, ", "well, ", "what"]).split(
      "event: response.output_text.done",
    );
    const response = { id: "resp_1", object: "response", created_at: 1, model: "m", output: [] };
    const progress = { ...response, status: "in_progress", metadata: { by: STRANGER, of: "me" } };
    const event = { type: "response.in_progress", sequence_number: 7, response: progress };
    const hostile = sse([[event.type, event]]);
    return new Response(
      opening + hostile + ["", ...rest].join("event: response.output_text.done"),
      { headers: { "content-type": "text/event-stream" } },
    );
  }, 7);
  const { text } = await gateway.ask("responses", { stream: true }, "Who?");
  assert(text.includes("response_refused") && text.includes("well, "), text);
  assert(!text.includes("jane"), text);
});

Deno.test("the error of a provider names the value for the client, and the token nowhere else", async () => {
  const gateway = gatewayOf(
    configOf("compat", [REPLACES]),
    (token) =>
      Response.json({
        error: { message: `unknown address ${token}`, type: "invalid_request_error", code: "x" },
      }, { status: 400 }),
  );
  for (const api of APIS) {
    const { text } = await gateway.ask(api);
    assert(text.includes(`unknown address ${VALUE}`), text);
  }
  assert(!/qz[a-z]{16}|bob\.miller/.test(gateway.log.join("\n")));
});

Deno.test("an answer without tokens and matches has the bytes that it has without a policy", async () => {
  for (const wire of WIRES) {
    const answer = () =>
      new Response(streamOf(wire, ["An FAQ", " about q", "uiz."]), {
        headers: { "content-type": STREAM_TYPES[wire] },
      });
    const plain = configOf(wire, [REPLACES]).replace("  default: p\n", "");
    const [off, on] = [gatewayOf(plain, answer), gatewayOf(configOf(wire, [REPLACES]), answer)];
    assertEquals(
      (await on.ask("chat", { stream: true })).text,
      (await off.ask("chat", { stream: true })).text,
    );
  }
});

Deno.test("rules for answers do not hold back an early head: signs of life come at their times, and a refusal is one terminal behind them", async () => {
  for (const api of ["chat", "messages", "responses"] as const) {
    for (const type of ["compat", "messages", "responses"] as const) {
      for (const hold of ["", ", hold: 60s"]) {
        const target = { type, answers: [streaming(STREAMS[type] ?? [], 40_500)] };
        const rule = "words: [beta], phase: response, action: refuse";
        const gateway = lateGateway([target], `early_head: 20s${hold}`, privacyConfig([rule]));
        const { status, headAt, writes, text } = await callLate(gateway, api, { stepMs: 500 });
        const what = `${REQUESTS[api].path} over ${type}${hold}`;
        assertEquals([status, headAt], [200, 20], what);
        assertEquals(writes.slice(0, 2).map(([at]) => at), [20, 35], what);
        assertEquals(text.includes("beta"), false, what);
        assertEquals(text.match(/response_refused/g)?.length, 1, what);
        assertEquals(gateway.reports[0]?.failure?.kind, "response_refused", what);
        const numbers = numbersOf(text);
        assertEquals(numbers, Array.from(numbers, (_, at) => at), what);
      }
    }
  }
});
