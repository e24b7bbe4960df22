import type { JsonObject } from "../../src/core/json/json.ts";
import { privacyConfig } from "../privacy/rules.ts";
import { recordingGateway, recordSection, withFolder } from "../record/support.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { callLate, failing, streaming, STREAMS } from "../support/late_upstreams.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";

const VALUE = "bob.miller@example.com";
const TOKEN = /qz[a-z]{16}email/;

const MISSING = {
  type: "invalid_request_error",
  message: "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found " +
    "`tool_use`. When `thinking` is enabled, a final `assistant` message must start with a " +
    "thinking block.",
};

const ASKED = { role: "user", content: `Who is ${VALUE}?` };
const FUNCTION = { name: "look", parameters: { type: "object" } };

/** A tool loop without thinking, with a value that must not reach providers. */
const LOOPS: Readonly<Record<"chat" | "messages" | "responses", JsonObject>> = {
  chat: {
    thinking: { type: "adaptive" },
    tools: [{ type: "function", function: FUNCTION }],
    messages: [
      ASKED,
      {
        role: "assistant",
        tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: VALUE },
    ],
  },
  messages: {
    thinking: { type: "adaptive" },
    tools: [{ name: "look", input_schema: { type: "object" } }],
    messages: [
      ASKED,
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: VALUE }] },
    ],
  },
  responses: {
    tools: [{ type: "function", ...FUNCTION, strict: false }],
    input: [
      ASKED,
      { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: VALUE },
    ],
  },
};

/**
 * A gateway that records, has a privacy rule and sends an early head. Its model refuses a loop for
 * want of thinking, and says the token of the request without it, each after `ms`.
 */
async function gatewayIn(folder: string, ms: number) {
  const sent: string[] = [];
  const fetch: Fetch = async (_url, { body, signal }) => {
    assert(signal instanceof AbortSignal);
    const text = await new Response(body ?? null).text();
    sent.push(text);
    const isOff = text.includes('"thinking":{"type":"disabled"}');
    const [token = "nothing"] = TOKEN.exec(text) ?? [];
    const pieces = (STREAMS.messages ?? []).map((piece) => piece.replace("Alpha", token));
    return await (isOff ? streaming(pieces, ms) : failing(400, ms, MISSING))(world, signal);
  };
  const world = scriptedWorld({ fetch });
  const config = `
providers:
  up: {type: messages, base_url: "http://up", api_key: k, timeout: 3m, capabilities: {adaptive_thinking: true}}
routing: {routes: [{name: main, early_head: 20s, targets: [{provider: up}]}]}
retry: {enabled: false}
security: {enabled: true, api_key: {keys: [{name: x, value: kx}]}}
`;
  const rules = privacyConfig(["find: [email], action: replace"]);
  const gateway = await recordingGateway(recordSection(folder) + config + rules, world);
  return { ...gateway, world, sent };
}

function assertNoValue(...parts: readonly unknown[]): void {
  assert(!JSON.stringify(parts).includes("bob.miller"));
}

for (const api of ["chat", "messages", "responses"] as const) {
  for (const ms of [1_000, 25_000]) {
    Deno.test(`a repeat with thinking off has tokens for values, is recorded with its refusal, and is charged once, ${api} after ${ms} ms`, () =>
      withFolder(async (folder) => {
        const gateway = await gatewayIn(folder, ms);
        const { status, headers, text, headAt } = await callLate(gateway, api, {
          members: LOOPS[api],
          headers: { authorization: "Bearer kx" },
        });
        const isEarly = ms > 20_000;
        assertEquals([status, headAt], [200, isEarly ? 20 : 2]);
        assertEquals(headers.get("x-gateway-early"), isEarly ? "true" : null);
        // The client gets its value back, and no token.
        assertStringIncludes(text, VALUE);
        assert(!TOKEN.test(text));
        const lossy = api === "responses" ? [] : ["thinking"];
        if (lossy.length > 0) {
          if (isEarly) assertStringIncludes(text, "x-gateway-lossy=thinking");
          else assertEquals(headers.get("x-gateway-lossy"), "thinking");
        }

        // Both requests have the same token, and differ in their thinking only.
        const [first = "", second = ""] = gateway.sent;
        assertEquals(gateway.sent.length, 2);
        assertMatch(first, TOKEN);
        const [plain, off] = [JSON.parse(first), JSON.parse(second)];
        assertEquals(off.thinking, { type: "disabled" });
        assertEquals({ ...plain, thinking: null }, { ...off, thinking: null });

        const attempts = [["up", "upstream_rejected"], ["up", "success"]];
        const report = await gateway.reported(1);
        const made = report.attempts.map(({ provider, outcome }) => [provider, outcome]);
        assertEquals(made, attempts);
        assertEquals([report.charge?.tokens, report.fallbacks], [3, 0]);

        const records = await gateway.finish();
        assertEquals(records.length, 1);
        const [{ head, request, response } = {}] = records;
        const recorded = head?.attempts.map(({ provider, outcome }) => [provider, outcome]);
        assertEquals(recorded, attempts);
        assertEquals(head?.lossy, lossy);
        assertEquals([head?.usage?.input, head?.usage?.output], [1, 2]);
        assertMatch(request?.body ?? "", TOKEN);
        assertMatch(response?.events ?? "", TOKEN);
        assertNoValue(gateway.sent, records, gateway.thread.requests, gateway.log, gateway.lines);
      }));
  }
}
