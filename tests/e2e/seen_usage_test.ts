import type { Usage } from "../../src/core/stream/events.ts";
import { endOf } from "../../src/observe/report.ts";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";
import { plainConfig } from "./chat_call.ts";
import { type HeldUpstream, heldUpstream } from "./held_upstream.ts";
import { HELLO, IDENTITY, ROLE, sse } from "./streamed.ts";

const PRICES = 'pricing: {"up/m": {input: 1000000, output: 10000000}}\n';

function counted(input: number, output: number): Usage {
  return { input, output, total: input + output, cached: 0, cacheWrite: 0, reasoning: 0 };
}

function spent(prompt_tokens: number, completion_tokens: number) {
  return { usage: { prompt_tokens, completion_tokens } };
}

function events(...all: readonly Readonly<Record<string, unknown>>[]): string {
  return all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

const MESSAGE_START = events({
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    usage: { input_tokens: 11, output_tokens: 2 },
  },
});
const MESSAGE_TEXT = events(
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
);
const MESSAGE_COUNT = events({
  type: "message_delta",
  delta: { stop_reason: null },
  usage: { output_tokens: 7 },
});
const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 5,
  model: "m",
  status: "in_progress",
  output: [],
  usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
};
const MESSAGE_ITEM = { id: "msg_1", type: "message", role: "assistant", content: [] };
const RESPONSE_BEGUN = events(
  { type: "response.created", sequence_number: 0, response: { ...RESPONSE, usage: null } },
  { type: "response.in_progress", sequence_number: 1, response: RESPONSE },
  {
    type: "response.output_item.added",
    sequence_number: 2,
    output_index: 0,
    item: MESSAGE_ITEM,
  },
  {
    type: "response.output_text.delta",
    sequence_number: 3,
    output_index: 0,
    content_index: 0,
    item_id: "msg_1",
    delta: "Hello",
  },
);

interface Begun {
  readonly wire: "compat" | "messages";
  readonly upstreamApi?: "responses";
  /** Bytes of the upstream before the stream ends early. */
  readonly text: string;
  readonly usage: Usage | null;
}

/** Streams with a usage before their end. */
const BEGUN: Readonly<Record<string, Begun>> = {
  "in every chunk of compat": {
    wire: "compat",
    text: sse({ ...ROLE, ...spent(11, 1) }, { ...HELLO, ...spent(11, 7) }),
    usage: counted(11, 7),
  },
  "in a chunk of its own of compat": {
    wire: "compat",
    text: sse(HELLO, { ...IDENTITY, choices: [], ...spent(11, 7) }),
    usage: counted(11, 7),
  },
  "nowhere": { wire: "compat", text: sse(ROLE, HELLO), usage: null },
  "at the beginning of messages": {
    wire: "messages",
    text: MESSAGE_START + MESSAGE_TEXT,
    usage: { ...counted(11, 2), isEarly: true },
  },
  "at the beginning and later on messages": {
    wire: "messages",
    text: MESSAGE_START + MESSAGE_TEXT + MESSAGE_COUNT,
    usage: counted(11, 7),
  },
  "in a response in progress": {
    wire: "compat",
    upstreamApi: "responses",
    text: RESPONSE_BEGUN,
    usage: counted(11, 7),
  },
};

interface Stage {
  readonly gateway: TestGateway;
  readonly upstream: HeldUpstream;
  readonly world: ScriptedWorld;
  readonly client: AbortController;
  readonly response: Promise<Response>;
}

function stage(
  { wire, upstreamApi = undefined }: Omit<Begun, "usage" | "text">,
  path: string,
): Stage {
  const upstream = heldUpstream();
  const config = PRICES + plainConfig(wire, "http://upstream.test").replace(
    "{provider: up}",
    `{provider: up, upstream_request_type: ${upstreamApi ?? "chat_completions"}}`,
  );
  const world = scriptedWorld({ fetch: upstream.fetch });
  const gateway = testGateway(config, world);
  const client = new AbortController();
  const response = gateway.app(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { host: "localhost" },
      body: JSON.stringify({
        model: "m",
        stream: true,
        ...path.endsWith("/responses")
          ? { input: "Hi" }
          : { messages: [{ role: "user", content: "Hi" }] },
      }),
      signal: client.signal,
    }),
  );
  return { gateway, upstream, world, client, response };
}

/** Fails unless access line, metrics and cost have the reported counts. */
async function assertCounted({ gateway }: Stage, usage: Usage | null): Promise<void> {
  const report = await gateway.reported(1);
  assertEquals(report.usage, usage);
  assertEquals(report.cost, usage === null ? null : usage.input + 10 * usage.output);
  const line = gateway.log.map(parseJson).filter(isObject).find(({ msg }) => msg === "request");
  assertEquals([line?.tokens_in, line?.tokens_out], [usage?.input, usage?.output]);
  // Not by a request: after a shutdown every further one is cut off.
  const metrics = await gateway.gateway.metrics.scrape();
  if (usage === null) return assert(!/^gateway_tokens_total\{/m.test(metrics));
  const tokens = (direction: string, count: number) =>
    new RegExp(`^gateway_tokens_total\\{[^}]*direction="${direction}"\\} ${count}$`, "m");
  assertMatch(metrics, tokens("input", usage.input));
  assertMatch(metrics, tokens("output", usage.output));
  assertMatch(metrics, new RegExp(`^gateway_cost_usd_total\\{[^}]*\\} ${report.cost}$`, "m"));
}

const PATHS = ["/v1/chat/completions", "/v1/responses"];

for (const [name, begun] of Object.entries(BEGUN)) {
  for (const path of PATHS) {
    Deno.test(`a stream of ${path} that its upstream breaks off counts the usage received ${name}`, async () => {
      const set = stage(begun, path);
      set.upstream.answer();
      set.upstream.send(begun.text);
      set.upstream.end();
      await (await set.response).text();
      assertEquals(endOf(await set.gateway.reported(1)), "stream_broken");
      await assertCounted(set, begun.usage);
    });

    Deno.test(`a stream of ${path} that its client leaves counts the usage received ${name}`, async () => {
      const set = stage(begun, path);
      set.upstream.answer();
      set.upstream.send(begun.text);
      const reader = (await set.response).body?.getReader();
      let seen = "";
      while (!seen.includes("Hello")) {
        seen += new TextDecoder().decode((await reader?.read())?.value);
      }
      await reader?.cancel();
      assertEquals(endOf(await set.gateway.reported(1)), "client_gone");
      await assertCounted(set, begun.usage);
    });

    Deno.test(`a stream of ${path} that the gateway's shutdown cuts off counts the usage received ${name}`, async () => {
      const set = stage(begun, path);
      set.upstream.answer();
      set.upstream.send(begun.text);
      const response = await set.response;
      set.gateway.gateway.state.inFlight.cancelAll();
      await response.text();
      assertEquals(endOf(await set.gateway.reported(1)), "drained");
      await assertCounted(set, begun.usage);
    });
  }
}

Deno.test("usage of the first record is counted for a client that disconnects before anything is delivered", async () => {
  const set = stage({ wire: "messages" }, "/v1/chat/completions");
  set.upstream.answer();
  set.upstream.send(MESSAGE_START);
  await set.world.advance(1);
  set.client.abort();
  assertEquals((await set.response).status, 499);
  assertEquals(endOf(await set.gateway.reported(1)), "client_gone");
  await assertCounted(set, { ...counted(11, 2), isEarly: true });
});

Deno.test("usage of an attempt that failed before delivery is not added to the next attempt", async () => {
  const texts = [MESSAGE_START, MESSAGE_START + MESSAGE_TEXT + MESSAGE_COUNT];
  const world = scriptedWorld({
    fetch: () =>
      Promise.resolve(
        new Response(new Blob([texts.shift() ?? ""]).stream(), {
          headers: { "content-type": "text/event-stream" },
        }),
      ),
  });
  const config = plainConfig("messages", "http://upstream.test").replace(
    "retry: {enabled: false}",
    "retry: {max_attempts: 2, initial_delay: 1ms}",
  );
  const gateway = testGateway(config, world);
  const answered = gateway.app(
    new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      headers: { host: "localhost" },
      body: '{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}',
    }),
  );
  while (texts.length > 0) await world.advance(1);
  await (await answered).text();
  const report = await gateway.reported(1);
  assertEquals(report.attempts.map(({ outcome }) => outcome), [
    "invalid_upstream_response",
    "success",
  ]);
  assertEquals(report.usage, counted(11, 7));
});

Deno.test("a call whose attempts all failed before delivery counts no usage", async () => {
  const set = stage({ wire: "messages" }, "/v1/chat/completions");
  set.upstream.answer();
  set.upstream.send(MESSAGE_START);
  set.upstream.end();
  assertEquals((await set.response).status, 502);
  await assertCounted(set, null);
});
