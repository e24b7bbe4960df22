import { assertEquals } from "../../support/assert.ts";
import { keyOf, twoKeys } from "../../support/client_keys.ts";
import { CONFIG, post, relayedGateway } from "./relayed_gateway.ts";

const RERANK = CONFIG.replaceAll("[moderations,", "[rerank, moderations,");
const BODY = { model: "able/m", query: "x", documents: ["a", "b"] };
const PATHS = ["/v1/rerank", "/v2/rerank", "/rerank"];

Deno.test("rerank is served on the paths of the Cohere SDK and of vLLM, by the routes for /v1/rerank", async () => {
  const config = RERANK.replace(/match: \{headers.*?\}\}/, "match: {path: /v1/rerank}")
    .replace("targets: [{provider: spare}]", "targets: [{provider: able}]");
  for (const path of PATHS) {
    const calls = relayedGateway(() => ({ results: [] }), config);
    const response = await calls.app(post(path, { ...BODY, model: "m" }));
    assertEquals([response.status, response.headers.get("x-gateway-route")], [200, "forced"], path);
    assertEquals(await response.json(), { results: [] });
    assertEquals(calls.sent.map(({ url }) => url), ["http://able/rerank"]);
    const { endpoint } = await calls.reported(1);
    assertEquals([endpoint.path, endpoint.api], [path, "rerank"]);
  }
});

Deno.test("rerank needs a client key, its permission and a place on every path", async () => {
  const keys = twoKeys().replace("value: key-of-ada", "value: key-of-ada, endpoints: [audio]");
  for (const path of PATHS) {
    const calls = relayedGateway(() => ({ results: [] }), keys + RERANK);
    const codeOf = async (headers: Record<string, string>) => {
      const response = await calls.app(post(path, BODY, headers));
      return [response.status, (await response.json()).error?.code];
    };
    assertEquals(await codeOf({}), [401, "missing_api_key"], path);
    assertEquals(await codeOf(keyOf("ada")), [403, "endpoint_not_allowed"], path);
    assertEquals(await codeOf(keyOf("bob")), [200, undefined], path);
    assertEquals(calls.sent.length, 1);
    const full = relayedGateway(() => ({}), `server: {max_concurrent_requests: 1}\n${RERANK}`);
    full.gateway.state.admission.admit("another");
    assertEquals((await full.app(post(path, BODY))).status, 503, path);
  }
});

Deno.test("a rerank response that is a list is the client's byte for byte, and a list is no answer elsewhere", async () => {
  const short = '[ {"index":1,"score":0.90}, {"index":0,"score":0.1} ]';
  const long = `[{"index":0,"text":"${"x".repeat(1_200_000)}"}]`;
  for (
    const [list, type] of [
      [short, "application/json"],
      [short, "text/plain"],
      [long, "application/json"],
    ] as const
  ) {
    const answer = () => new Response(list, { headers: { "content-type": type } });
    const config = RERANK.replace("{initial_delay: 1s, jitter_factor: 0}", "{enabled: false}");
    const calls = relayedGateway(answer, config);
    const response = await calls.app(post("/v1/rerank", BODY));
    assertEquals([response.status, await response.text()], [200, list]);
    assertEquals(response.headers.get("content-type"), "application/json");
    const other = await calls.app(post("/v1/moderations", { model: "able/m", input: "x" }));
    assertEquals(other.status, 502);
    await other.body?.cancel();
  }
});
