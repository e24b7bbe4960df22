import type { World } from "../src/core/world.ts";
import type { WireName } from "../src/wires/wire.ts";
import { assert, assertEquals } from "./support/assert.ts";
import { testGateway } from "./support/gateway.ts";
import { type GoldenAnswer, type GoldenCase, goldenCases, withCrlf } from "./support/golden.ts";
import { pieces, streamOf } from "./support/pieces.ts";
import { scriptedWorld } from "./support/world.ts";

/** Every capability is on: the cases show what is carried, tables elsewhere show what is refused. */
const CAPABILITIES =
  "{structured_outputs: true, reasoning_effort: true, adaptive_thinking: true, embeddings_base64: true}";

/** One folder each: what the client speaks, and the protocol of the upstream. */
const FOLDERS = {
  chat_over_compat: "compat",
  chat_over_messages: "messages",
  chat_over_local: "local",
  chat_over_responses: "responses",
  responses_over_compat: "compat",
  responses_over_messages: "messages",
  responses_over_local: "local",
} as const;

const encoder = new TextEncoder();

interface Seen {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

function config(wire: WireName): string {
  const type = wire === "responses" ? "compat" : wire;
  const api = wire === "responses" ? "responses" : "chat_completions";
  return `
providers:
  p: {type: ${type}, base_url: "http://up.test", api_key: key, capabilities: ${CAPABILITIES}}
routing:
  routes: [{name: main, targets: [{provider: p, upstream_request_type: ${api}}]}]
retry: {enabled: false}
`;
}

/** A world whose upstream gives this answer in reads of this size. */
function worldOf(answer: GoldenAnswer, body: string, size: number, seen: Seen[]): World {
  return scriptedWorld({
    async fetch(url, init) {
      const headers = new Headers(init.headers);
      seen.push({ url, headers, body: await new Response(init.body ?? null).text() });
      return new Response(streamOf(pieces(encoder.encode(body), size)), {
        status: answer.status,
        headers: answer.headers,
      });
    },
  });
}

async function play(one: GoldenCase, wire: WireName, body: string, size: number): Promise<void> {
  const seen: Seen[] = [];
  const gateway = testGateway(config(wire), worldOf(one.upstreamAnswer, body, size, seen));
  const answer = await gateway.app(
    new Request(`http://gateway.test${one.clientRequest.path}`, {
      method: one.clientRequest.method,
      headers: one.clientRequest.headers,
      body: one.clientRequest.body,
    }),
  );
  const text = await answer.text();
  const [sent] = seen;
  assertEquals(seen.length, 1);
  assertEquals(sent?.url, `http://up.test${one.upstreamRequest.path}`);
  assertEquals(sent?.body, one.upstreamRequest.body);
  for (const [name, value] of Object.entries(one.upstreamRequest.headers)) {
    assertEquals(sent?.headers.get(name), value, name);
  }
  assertEquals(answer.status, one.clientAnswer.status);
  assertEquals(answer.headers.get("content-type"), one.clientAnswer.headers["content-type"] ?? "");
  // A record that is relayed untouched keeps its line ends.
  assertEquals(text.replaceAll("\r\n", "\n"), one.clientAnswer.body);
}

for (const [folder, wire] of Object.entries(FOLDERS)) {
  const cases = goldenCases(new URL(`golden/${folder}`, import.meta.url).pathname);

  Deno.test(`${folder} has golden cases`, () => assert(cases.length > 0));

  for (const one of cases) {
    Deno.test(`${folder}: ${one.name}, read in pieces of 1, 7 and all bytes`, async () => {
      const body = one.upstreamAnswer.body;
      for (const size of [1, 7, Math.max(1, body.length * 3)]) {
        await play(one, wire, body, size);
        if (one.upstreamAnswer.headers["content-type"] !== "application/json") {
          await play(one, wire, withCrlf(body), size);
        }
      }
    });
  }
}
