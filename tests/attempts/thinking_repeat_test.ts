import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { answers } from "../support/chat_call.ts";
import { messagesAnswer, shortAnswer } from "../support/growth/spoken.ts";
import { heldTurns } from "../support/held_turns.ts";
import { type Answer, type PoolGateway, poolGateway, TWO_KEYS } from "../support/pool_gateway.ts";

const MISSING =
  "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found " +
  "`tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.";

const TOOL = { name: "look", input_schema: { type: "object" } };
const CALL = { type: "tool_use", id: "c1", name: "look", input: {} };
const RESULT = { type: "tool_result", tool_use_id: "c1", content: "sunny" };
const ASKED = { role: "user", content: "Weather?" };
const TURN = { role: "assistant", content: "Let me see." };
const CALLED = { role: "assistant", content: [CALL] };
const FUNCTION = { name: "look", parameters: { type: "object" } };

/** A tool loop without thinking, as the clients of each API send its second step. */
const LOOPS: Readonly<Record<string, JsonObject>> = {
  "/chat/completions": {
    tools: [{ type: "function", function: FUNCTION }],
    messages: [
      ASKED,
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "sunny" },
    ],
  },
  "/responses": {
    tools: [{ type: "function", ...FUNCTION, strict: false }],
    input: [
      ASKED,
      { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "sunny" },
    ],
  },
  "/messages": {
    max_tokens: 64,
    tools: [TOOL],
    messages: [ASKED, CALLED, { role: "user", content: [RESULT] }],
  },
};

const ADAPTIVE = { model: "m", ...LOOPS["/messages"], thinking: { type: "adaptive" } };

/** A gateway before a provider of type `messages` with these keys, and a second one. */
function gatewayOf(
  answer: Answer,
  more = "retry: {enabled: false}",
  keys = "{name: a, value: sk-a}",
) {
  return poolGateway(
    `
providers:
  up: {type: messages, base_url: "http://up", api_keys: [${keys}], timeout: 60s, capabilities: {adaptive_thinking: true, reasoning_effort: true, reasoning_effort_levels: [low, high, xhigh, max]}}
  spare: {type: messages, base_url: "http://spare", api_key: sk-spare}
routing: {routes: [{name: main, targets: [{provider: up}], fallback: [{provider: spare}]}]}
${more}
`,
    answer,
  );
}

function isOff({ body: { thinking } }: { readonly body: JsonObject }): boolean {
  return isObject(thinking) && thinking.type === "disabled";
}

function refuse(message = MISSING, status = 400): Promise<Response> {
  const error = { type: "invalid_request_error", message };
  return answers(status, { type: "error", error });
}

/** A model that wants the thinking of a loop unless thinking is off. */
const wanting: Answer = (request) =>
  isOff(request)
    ? answers(200, shortAnswer("messages", request.body.stream === true).body)
    : refuse();

/** The member of a request with its dialogue. */
function listOf(path: string): string {
  return path === "/responses" ? "input" : "messages";
}

/** Whether thinking was off in each request so far. */
function offs({ requests }: PoolGateway): readonly boolean[] {
  return requests.map(isOff);
}

for (const [path, loop] of Object.entries(LOOPS)) {
  for (const stream of [false, true]) {
    Deno.test(`a loop that a model refuses for want of thinking is repeated once with thinking off, ${path}, ${stream ? "streamed" : "whole"}`, async () => {
      const pool = gatewayOf(wanting, "circuit_breaker: {failure_threshold: 1}");
      const asked: readonly (readonly [JsonObject, string | null])[] = [
        [{}, null],
        ...path === "/responses" ? [] : [[{ thinking: { type: "adaptive" } }, "thinking"] as const],
      ];
      for (const [more, lossy] of asked) {
        const before = pool.requests.length;
        const reply = await pool.post(path, { model: "m", stream, ...loop, ...more });
        assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, lossy]);
        assertStringIncludes(reply.text, "Hi");
        assertEquals(offs(pool).slice(before), [false, true]);
        const [first, second] = pool.requests.slice(before);
        assertEquals({ ...first?.body, thinking: null }, { ...second?.body, thinking: null });
        const report = await pool.reported(pool.reports.length);
        assertEquals(report.attempts.map(({ provider, outcome }) => [provider, outcome]), [
          ["up", "upstream_rejected"],
          ["up", "success"],
        ]);
        assertEquals(report.fallbacks, 0);
      }
      const lines = pool.log.filter((line) => line.includes('"tries"'));
      assertEquals(lines.length, asked.length);
      for (const line of lines) assertStringIncludes(line, '"retries":0');
    });
  }

  Deno.test(`a model that continues refusing a loop gets no third request, ${path}`, async () => {
    const pool = gatewayOf(() => refuse());
    const reply = await pool.post(path, { model: "m", ...loop });
    assertEquals([reply.status, offs(pool)], [400, [false, true]]);
    assertStringIncludes(reply.text, "Expected `thinking`");
  });

  Deno.test(`if a model rejects a loop with thinking off too, the client gets its refusal of what it has sent, ${path}`, async () => {
    const pool = gatewayOf((request) =>
      isOff(request) ? refuse("thinking.type: disabled is not supported by this model.") : refuse()
    );
    const asked = path === "/responses" ? {} : { thinking: { type: "adaptive" } };
    const reply = await pool.post(path, { model: "m", ...loop, ...asked });
    assertEquals([reply.status, offs(pool)], [400, [false, true]]);
    assertStringIncludes(reply.text, "Expected `thinking`");
    assertEquals((await pool.reported(1)).lossy, []);
    const long = gatewayOf((request) =>
      isOff(request) ? refuse("prompt is too long: 9 tokens > 8 maximum") : refuse()
    );
    const failed = await long.post(path, { model: "m", ...loop });
    assertStringIncludes(failed.text, "prompt is too long");
  });

  Deno.test(`a request without calls, or with thinking off, keeps its refusal, ${path}`, async () => {
    const pool = gatewayOf(() => refuse());
    await pool.post(path, { model: "m", ...loop, [listOf(path)]: [ASKED, TURN, ASKED] });
    assertEquals(offs(pool), [false]);
    if (path === "/responses") return;
    await pool.post(path, { model: "m", ...loop, thinking: { type: "disabled" } });
    assertEquals(offs(pool), [false, true]);
  });

  Deno.test(`a loop that a text of the user has interrupted is repeated too, ${path}`, async () => {
    const list = loop[listOf(path)];
    assert(Array.isArray(list));
    for (const more of [[ASKED], [TURN, ASKED]]) {
      const pool = gatewayOf(wanting);
      const body = { model: "m", ...loop, [listOf(path)]: [...list, ...more] };
      assertEquals([(await pool.post(path, body)).status, offs(pool)], [200, [false, true]]);
      const later = { ...body, [listOf(path)]: [...list, TURN, ASKED, TURN, ASKED] };
      assertEquals([(await pool.post(path, later)).status, offs(pool)], [400, [
        false,
        true,
        false,
      ]]);
    }
  });
}

/** A model that refuses a high effort while thinking is off. */
const unthinking: Answer = (request) =>
  isOff(request) && /"effort":"(?:xhigh|max)"/.test(JSON.stringify(request.body))
    ? refuse("thinking.type: disabled is not supported with this effort.")
    : wanting(request);

const EFFORTS: Readonly<Record<string, readonly [(effort: string) => JsonObject, string]>> = {
  "/chat/completions": [(reasoning_effort) => ({ reasoning_effort }), "reasoning_effort"],
  "/responses": [(effort) => ({ reasoning: { effort } }), "reasoning.effort"],
  "/messages": [(effort) => ({ output_config: { effort } }), "output_config.effort"],
};

for (const [path, [effortOf, name]] of Object.entries(EFFORTS)) {
  Deno.test(`with thinking off the effort is one that every model takes, and named, ${path}`, async () => {
    for (
      const [effort, sent, lossy] of [["xhigh", "high", name], ["max", "high", name], [
        "low",
        "low",
        null,
      ]] as const
    ) {
      const pool = gatewayOf(unthinking);
      const reply = await pool.post(path, { model: "m", ...LOOPS[path], ...effortOf(effort) });
      assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, lossy]);
      assertEquals(pool.requests.map(({ body }) => body.output_config), [{ effort }, {
        effort: sent,
      }]);
    }
  });
}

Deno.test("with thinking off the efforts of system messages are lowered too, and nothing else of them", async () => {
  const pool = gatewayOf(unthinking);
  const note = { role: "system", content: "Note.", output_config: { effort: "max", a: 1 } };
  const low = { ...note, output_config: { effort: "low" } };
  const dialogue = [ASKED, note, CALLED, { role: "user", content: [RESULT] }, low];
  const body = { model: "m", ...LOOPS["/messages"], messages: dialogue };
  const reply = await pool.post("/messages?beta=true", body);
  const lossy = reply.headers.get("x-gateway-lossy");
  assertEquals([reply.status, lossy], [200, "messages.1.output_config.effort"]);
  const lowered = { ...note, output_config: { effort: "high", a: 1 } };
  assertEquals(pool.requests[1]?.body.messages, [ASKED, lowered, ...dialogue.slice(2)]);
});

Deno.test("with thinking off the effort of a named model is lowered without a lossy field", async () => {
  for (const path of ["/chat/completions", "/messages"]) {
    const pool = gatewayOf(
      unthinking,
      "models: {deep: {targets: [{provider: up, model: m}], parameters: {effort: max}}}",
    );
    const reply = await pool.post(path, { model: "deep", ...LOOPS[path] });
    assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, null]);
    const sent = pool.requests.map(({ body }) => body.output_config);
    assertEquals(sent, [{ effort: "max" }, { effort: "high" }]);
  }
});

Deno.test("other errors of a loop without thinking are not repeated", async () => {
  const others = [[`Note: ${MISSING}`, 400], [MISSING, 422], ["Expected `text`", 400]] as const;
  for (const [message, status] of others) {
    const pool = gatewayOf(() => refuse(message, status));
    const reply = await pool.post("/messages", { model: "m", ...LOOPS["/messages"] });
    assertEquals([reply.status, offs(pool)], [status, [false]]);
  }
});

Deno.test("a loop of a Messages client with signed thinking keeps its refusal", async () => {
  const pool = gatewayOf(() => refuse());
  const thought = { type: "thinking", thinking: "Hm.", signature: "sig" };
  const messages = [
    ASKED,
    { role: "assistant", content: [thought, CALL] },
    { role: "user", content: [RESULT] },
    { role: "assistant", content: [{ ...CALL, id: "c2" }] },
    { role: "user", content: [{ ...RESULT, tool_use_id: "c2" }] },
  ];
  const reply = await pool.post("/messages", { model: "m", ...LOOPS["/messages"], messages });
  assertEquals([reply.status, offs(pool)], [400, [false]]);
});

Deno.test("once a model has refused a loop, retries and other keys send it with thinking off", async () => {
  const failing: Answer = (request) =>
    pool.requests.length === 2 ? refuse("No.", 503) : wanting(request);
  const pool = gatewayOf(failing, "retry: {initial_delay: 0s, max_attempts: 2}");
  const asking = pool.post("/messages", { model: "m", ...LOOPS["/messages"] });
  await pool.world.advance(60_000);
  assertEquals([(await asking).status, offs(pool)], [200, [false, true, true]]);
  const limited: Answer = (request) =>
    keyed.requests.length === 2 ? refuse("No.", 429) : wanting(request);
  const keyed = gatewayOf(limited, "retry: {enabled: false}", TWO_KEYS);
  const reply = await keyed.post("/chat/completions", {
    model: "m",
    ...LOOPS["/chat/completions"],
  });
  assertEquals([reply.status, offs(keyed)], [200, [false, true, true]]);
  const [, refused, served] = keyed.keys();
  assert(refused !== served);
});

Deno.test("a model that is silent after its refusal comes last, with thinking off", async () => {
  const silent: Answer = (request) =>
    request.key === "sk-spare"
      ? refuse("No.", 503)
      : pool.requests.length === 2
      ? new Promise((_, reject) =>
        void pool.world.after(90_000, () => reject(new TypeError("late")))
      )
      : wanting(request);
  const pool = gatewayOf(silent, "retry: {initial_delay: 0s, max_attempts: 2}");
  const asking = pool.post("/messages", ADAPTIVE);
  await pool.world.advance(600_000);
  const { status, headers } = await asking;
  const own = pool.requests.filter(({ key }) => key === "sk-a");
  assertEquals([status, own.map(isOff)], [200, [false, true, true]]);
  assertEquals(headers.get("x-gateway-lossy"), "thinking");
});

Deno.test("if the fallbacks reject a loop too, the client gets the failure with thinking off, and its lossy field", async () => {
  const answer: Answer = (request) =>
    request.key === "sk-spare"
      ? refuse("Not here.")
      : isOff(request)
      ? refuse("Out of order.", 503)
      : refuse();
  const pool = gatewayOf(answer);
  const reply = await pool.post("/messages", ADAPTIVE);
  assertEquals([reply.status, offs(pool)], [503, [false, true, false]]);
  const { provider, lossy } = await pool.reported(1);
  assertEquals([provider, lossy], ["up", ["thinking"]]);
});

Deno.test("a response with thinking off is not cached as that of a request with thinking", async () => {
  const pool = gatewayOf(wanting, "retry: {enabled: false}\ncaching: {enabled: true}");
  const body = { model: "m", ...LOOPS["/chat/completions"], thinking: { type: "adaptive" } };
  for (let n = 0; n < 2; n++) {
    const { headers } = await pool.post("/chat/completions", body);
    const seen = [headers.get("x-gateway-cache-status"), headers.get("x-gateway-lossy")];
    assertEquals(seen, ["MISS", "thinking"]);
  }
  assertEquals(offs(pool), [false, true, false, true]);
});

Deno.test("a loop that continues a stored response at its owner is repeated too, also with a pool of keys", async () => {
  const calling: Answer = (request) => {
    const { messages } = request.body;
    const isFirst = Array.isArray(messages) && messages.length === 1;
    return isFirst ? answers(200, messagesAnswer([CALL], "tool_use").body) : wanting(request);
  };
  for (const keys of ["{name: a, value: sk-a}", TWO_KEYS]) {
    const pool = gatewayOf(calling, "", keys);
    const { tools } = LOOPS["/responses"] ?? {};
    const first = await pool.post("/responses", { model: "m", input: "Weather?", tools });
    const reply = await pool.post("/responses", {
      model: "m",
      previous_response_id: JSON.parse(first.text).id,
      input: [{ type: "function_call_output", call_id: "c1", output: "sunny" }],
      tools,
    });
    assertEquals([reply.status, offs(pool)], [200, [false, false, true]], reply.text);
    assertEquals(new Set(pool.keys()).size, 1);
  }
});

Deno.test("the tokens of a loop that a model refuses are counted with thinking off", async () => {
  const pool = gatewayOf((request) =>
    isOff(request) ? answers(200, { input_tokens: 7 }) : refuse()
  );
  const { max_tokens: _, ...counted }: JsonObject = ADAPTIVE;
  const reply = await pool.post("/messages/count_tokens", {
    ...counted,
    output_config: { effort: "max" },
  });
  assertEquals([reply.status, offs(pool)], [200, [false, true]], reply.text);
  assertEquals(reply.headers.get("x-gateway-lossy"), "thinking, output_config.effort");
  assertEquals(pool.requests[1]?.body.output_config, { effort: "high" });
});

Deno.test("a client that permits no retry gets its loop repeated with thinking off", async () => {
  const pool = gatewayOf(wanting);
  const headers = { "x-gateway-no-retry": "true", "x-gateway-no-fallback": "true" };
  const { status } = await pool.post("/messages", { model: "m", ...LOOPS["/messages"] }, headers);
  assertEquals([status, offs(pool)], [200, [false, true]]);
});

Deno.test("a large loop waits for its turn before it is translated with thinking off", async () => {
  const pool = gatewayOf(wanting);
  const held = heldTurns("entering");
  Object.assign(pool.gateway.state, { turns: held.turns });
  const tool = { type: "function", function: { ...FUNCTION, description: "x".repeat(40_000) } };
  const body = { ...LOOPS["/chat/completions"], tools: [tool] };
  const call = pool.ask({ body });
  for (const sent of [[], [false]]) {
    await held.waits(1);
    assertEquals(offs(pool), sent);
    held.begin();
  }
  assertEquals((await call).status, 200);
  assertEquals(offs(pool), [false, true]);
});
