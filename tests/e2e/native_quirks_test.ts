import { NATIVE_QUIRKS, type NativeQuirk, STORED_QUIRKS } from "../../src/simulator/quirks.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { MESSAGES } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { type Reply, stateCalls } from "../support/state_call.ts";
import { scriptedWorld } from "../support/world.ts";

/** A gateway before one simulator, in the process; `sent` is what the simulator sent last. */
function startQuirky() {
  const upstream = newSimulator(scriptedWorld());
  const sent = { text: "" };
  const world = scriptedWorld({
    async fetch(url, init) {
      const body = init.method === "POST" ? await new Response(init.body).text() : null;
      const { method = "GET", headers = {} } = init;
      const answer = await upstream(new Request(url, { method, headers, body }));
      const bytes = await answer.bytes();
      sent.text = new TextDecoder().decode(bytes);
      return new Response(streamOf([bytes]), answer);
    },
  });
  const { app } = testGateway(
    `
providers:
  sim:
    type: compat
    base_url: http://sim/compat/v1
    capabilities: {chat_completions_lifecycle: true, responses_lifecycle: true}
routing:
  routes:
    - {name: chat, match: {path: /v1/chat}, targets: [{provider: sim}]}
    - {name: main, targets: [{provider: sim, upstream_request_type: responses}]}
retry: {enabled: false}
circuit_breaker: {enabled: false}
`,
    world,
  );
  return { ...stateCalls(app), sent };
}

/** Quirks whose stream the client receives whole; others fail in the stream or before it. */
const WHOLE: readonly NativeQuirk[] = ["gaps", "comments", "failed", "cancelled", "later-id"];
const REFUSED: readonly NativeQuirk[] = ["sequence-negative", "too-many-comments", "status-202"];

function assertFails(reply: Reply, quirk: string): void {
  assertEquals(reply.status, 200, quirk);
  const terminals = reply.text.match(
    /^event: response\.(completed|incomplete|failed|cancelled)$/gm,
  );
  assertEquals(terminals, ["event: response.failed"], quirk);
}

function create(quirk: string) {
  const calls = startQuirky();
  const body = { model: `sim-native-${quirk}`, input: "x", stream: true };
  return { calls, reply: calls.post("/responses", body) };
}

for (const quirk of WHOLE) {
  Deno.test(`a native stream with the quirk ${quirk} is within the rules and passes whole`, async () => {
    const { calls, reply } = create(quirk);
    assertEquals((await reply).text, calls.sent.text);
  });
}

for (const quirk of NATIVE_QUIRKS.filter((name) => !WHOLE.includes(name))) {
  Deno.test(`a native stream with the quirk ${quirk} breaks a rule and reaches no client`, async () => {
    const { calls, reply } = create(quirk);
    const { status, text } = await reply;
    if (REFUSED.includes(quirk)) assertEquals(status, 502);
    else if (quirk === "status-503") assertEquals(status, 503);
    else if (quirk !== "two-terminals") assertFails(await reply, quirk);
    else assert(text.length < calls.sent.text.length && calls.sent.text.startsWith(text));
    const early = await create(`${quirk}-first`).reply;
    // Not every quirk can show in the first event; the simulator then knows no such model.
    if (early.status !== 404) assertEquals(early.status, 502, early.text);
  });
}

Deno.test("a retrieved response with a different ID is a 502", async () => {
  const calls = startQuirky();
  const { json } = await calls.post("/responses", { model: "sim-native-later-id", input: "x" });
  for (const send of [calls.get, calls.delete]) {
    const answer = await send(`/responses/${String(json.id)}`);
    assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"]);
  }
});

for (const quirk of STORED_QUIRKS) {
  Deno.test(`a completion with the quirk ${quirk} is never a stored one`, async () => {
    const calls = startQuirky();
    const body = { model: `sim-stored-${quirk}`, ...MESSAGES, store: true };
    if (quirk !== "changing-id") {
      assertEquals((await calls.post("/chat/completions", body)).status, 502);
    }
    const { status, text } = await calls.post("/chat/completions", { ...body, stream: true });
    assert(status === 502 || text.includes("upstream_stream_error"), text);
    const plain = await calls.post("/chat/completions", { ...body, store: false, stream: true });
    assert(plain.text.endsWith("data: [DONE]\n\n") && !plain.text.includes("error"), plain.text);
  });
}
