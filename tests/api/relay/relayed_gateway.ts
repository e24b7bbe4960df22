import type { JsonObject } from "../../../src/core/json/json.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { streamOf } from "../../support/pieces.ts";
import { type ScriptedWorld, scriptedWorld } from "../../support/world.ts";

/** Providers with different capabilities, and prices by image, minute and character. */
export const CONFIG = `
providers:
  none: {type: compat, base_url: "http://none"}
  local: {type: local, base_url: "http://local", default_model: l}
  able: {type: compat, base_url: "http://able", default_model: chat, capabilities: {relay: [moderations, images, audio]}}
  spare: {type: compat, base_url: "http://spare", capabilities: {relay: [moderations, audio]}}
routing:
  routes:
    - {name: forced, match: {headers: {x-gateway-request-type: /v1/audio/speech}}, targets: [{provider: spare}]}
    - {name: main, targets: [{provider: none, model: x}, {provider: local}, {provider: able}], fallback: [{provider: spare, model: other}]}
pricing:
  able/image: {per_image: 0.04}
  able/tokens: {input: 1, output: 2, per_image: 9}
  able/heard: {per_minute: 0.6}
  spare/said: {per_million_characters: 1000000}
retry: {initial_delay: 1s, jitter_factor: 0}
circuit_breaker: {enabled: false}
`;

/** A request that an upstream received. */
export interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly text: string;
}

/** A gateway whose upstreams answer with the JSON of the script. */
export function relayedGateway(
  script: (sent: Sent) => JsonObject | Response,
  config = CONFIG,
): TestGateway & { readonly sent: readonly Sent[]; readonly world: ScriptedWorld } {
  const sent: Sent[] = [];
  const world = scriptedWorld({
    async fetch(url, { headers, body }) {
      const one = { url, headers: new Headers(headers), text: await new Response(body).text() };
      sent.push(one);
      const says = script(one);
      const response = says instanceof Response ? says : Response.json(says);
      return new Response(streamOf([await response.bytes()]), response);
    },
  });
  return { ...testGateway(config, world), sent, world };
}

/** A POST with a JSON or multipart body. */
export function post(path: string, body: JsonObject | FormData, headers = {}): Request {
  return new Request(`http://gateway${path}`, {
    method: "POST",
    headers,
    body: body instanceof FormData ? body : JSON.stringify(body),
  });
}
