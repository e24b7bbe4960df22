import type { WireName } from "../../src/wires/wire.ts";
import { assertEquals } from "./assert.ts";
import type { GoldenAnswer, GoldenCase } from "./golden.ts";
import { connectionBodyOf, pieces, streamOf } from "./pieces.ts";
import { type ScriptedWorld, scriptedWorld } from "./world.ts";

/**
 * Every capability is on: the cases show what is carried, tables elsewhere show what is refused.
 */
const CAPABILITIES =
  "structured_outputs: true, reasoning_effort: true, adaptive_thinking: true, embeddings_base64: true";

const encoder = new TextEncoder();

/** Request that the upstream of a golden case received. */
export interface GoldenSent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A gateway before one provider of this protocol, called `p`. */
export function goldenConfig(wire: WireName): string {
  const type = wire === "responses" ? "compat" : wire;
  const api = wire === "responses" ? "responses" : "chat_completions";
  const hosted = type === "compat" ? "hosted_tools: [web_search], " : "";
  return `
providers:
  p: {type: ${type}, base_url: "http://up.test", api_key: key, capabilities: {${hosted}${CAPABILITIES}}}
routing:
  routes: [{name: main, targets: [{provider: p, upstream_request_type: ${api}}]}]
retry: {enabled: false}
`;
}

/**
 * A world whose upstream gives this answer in reads of this size. A body that takes one read comes
 * as that of a `Response`, every other one as that of a connection.
 */
export function goldenWorld(
  answer: GoldenAnswer,
  body: string,
  size: number,
  seen: GoldenSent[],
): ScriptedWorld {
  return scriptedWorld({
    async fetch(url, init) {
      const headers = new Headers(init.headers);
      seen.push({ url, headers, body: await new Response(init.body ?? null).text() });
      const parts = pieces(encoder.encode(body), size);
      const { status, headers: fields } = answer;
      return parts.length > 1
        ? { status, headers: new Headers(fields), body: connectionBodyOf(parts) }
        : new Response(streamOf(parts), { status, headers: fields });
    },
  });
}

/** Fails unless the upstream was sent what the case says, once. */
export function assertSent({ upstreamRequest }: GoldenCase, seen: readonly GoldenSent[]): void {
  const [sent] = seen;
  assertEquals(seen.length, 1);
  assertEquals(sent?.url, `http://up.test${upstreamRequest.path}`);
  assertEquals(sent?.body, upstreamRequest.body);
  for (const [name, value] of Object.entries(upstreamRequest.headers)) {
    assertEquals(sent?.headers.get(name), value, name);
  }
}
