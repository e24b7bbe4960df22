import { isObject, parseJson } from "../../src/core/json/json.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { streamOf } from "./pieces.ts";
import type { Sent, WordStreams } from "./word_stream.ts";
import { scriptedWorld } from "./world.ts";

/**
 * One provider of each type in front of the simulator: `native`, `stored`, `compat`, `messages` and
 * `local`.
 */
export const EVERY_TYPE = `
providers:
  native: {type: compat, base_url: "http://sim.test/compat/v1", api_key: k1}
  stored:
    type: compat
    base_url: "http://sim.test/compat/v1"
    api_key: k2
    capabilities: {responses_lifecycle: true, conversations: true}
  compat: {type: compat, base_url: "http://sim.test/compat/v1", api_key: k3}
  messages:
    type: messages
    base_url: "http://sim.test/messages"
    api_key: k
    capabilities: {reasoning_effort: true}
  local: {type: local, base_url: "http://sim.test/local", capabilities: {reasoning_effort: true}}
routing:
  routes:
    - name: main
      targets:
        - {provider: native, upstream_request_type: responses}
        - {provider: stored, upstream_request_type: responses}
        - {provider: compat}
        - {provider: messages}
        - {provider: local}
retry: {enabled: false}
circuit_breaker: {enabled: false}
`;

/** Those of them that have the Responses API themselves, and those that are translated for. */
export const NATIVE = ["native", "stored"] as const,
  TRANSLATED = ["compat", "messages", "local"] as const;

/** The simulator in the process, for models that do not wait. */
export function simulated(): WordStreams {
  const answer = newSimulator(scriptedWorld());
  const all: Sent[] = [];
  return {
    sent: all,
    async fetch(url, init) {
      const { signal = null, method = "POST", body: given = null } = init;
      const text = await new Response(given).text();
      const body = parseJson(text);
      const headers = new Headers(init.headers);
      all.push({
        url,
        headers,
        body: isObject(body) ? body : {},
        signal: signal ?? new AbortController().signal,
      });
      const sent = { method, headers, body: method === "GET" ? null : text };
      const response = await answer(new Request(url, sent));
      const bytes = await response.bytes();
      return new Response(streamOf([bytes]), response);
    },
  };
}
