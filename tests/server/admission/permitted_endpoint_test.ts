import { clientApis } from "../../../src/api/registry.ts";
import { ENDPOINT_NAMES } from "../../../src/core/endpoint.ts";
import { isObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { got } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";
import { scriptedWorld } from "../../support/world.ts";

const KEY = { authorization: "Bearer sk-a" };

/** A gateway whose only key may use these endpoints. */
function config(...endpoints: readonly string[]): string {
  return `security:
  enabled: true
  api_key: {keys: [{name: a, value: sk-a, endpoints: [${endpoints.join(", ")}]}]}
${oneProvider("http://up.test")}`;
}

/** Every endpoint that requires a key, with its API. */
const ENDPOINTS = clientApis.flatMap(({ name, endpoints }) =>
  name === null ? [] : endpoints.map((endpoint) => ({ name, ...endpoint }))
);

function requestOf({ method, path }: (typeof ENDPOINTS)[number]): Request {
  const url = `http://x${path.replace(/:\w+(?:\{[^}]*\})?/g, "id_1")}`;
  return new Request(url, { method, headers: KEY, body: method === "POST" ? "{}" : null });
}

Deno.test("every name of an endpoint is that of a client API, and every client API has a name", () => {
  const names = clientApis.flatMap(({ name }) => name ?? []);
  assertEquals(new Set<string>(names), new Set<string>(ENDPOINT_NAMES));
});

for (const permitted of ENDPOINT_NAMES) {
  Deno.test(`a key for ${permitted} is refused by every endpoint of any other name before its body is read`, async () => {
    const { app } = testGateway(
      config(permitted),
      scriptedWorld({
        fetch: () => Promise.reject(new Error("no upstream")),
      }),
    );
    for (const endpoint of ENDPOINTS) {
      const answer = await got(await app(requestOf(endpoint)));
      const place = `${endpoint.method} ${endpoint.path}`;
      if (endpoint.name === permitted) {
        assert(answer.status !== 403, `${place}: ${answer.text}`);
        continue;
      }
      assertEquals([answer.status, answer.error.type], [403, "permission_error"], place);
      if (endpoint.name === "messages") {
        const { details } = answer.error;
        assert(isObject(details) && details.error_code === "endpoint_not_allowed", answer.text);
      } else {
        assertEquals(
          [answer.error.code, answer.error.param],
          ["endpoint_not_allowed", null],
          place,
        );
      }
    }
  });
}

Deno.test("a key without responses opens no socket, and a reload takes the endpoint from an open one", async () => {
  const upstream = wordStreams(() => saying("yes"));
  await using served = socketGateway(config("responses"), upstream);
  await using open = await served.open(KEY);
  assertEquals((await open.turn(create())).output, "yes");
  served.reload(config("models"));
  const { end, error } = await open.turn(create());
  assertEquals<unknown>(
    [end.status, error.type, error.code, error.param],
    [403, "permission_error", "endpoint_not_allowed", null],
  );
  const handshake = await got(
    await fetch(`${served.url}/v1/responses`, {
      headers: { ...KEY, connection: "upgrade", upgrade: "websocket" },
    }),
  );
  assertEquals([handshake.status, handshake.error.code], [403, "endpoint_not_allowed"]);
  served.reload(config("responses"));
  assertEquals((await open.turn(create())).output, "yes");
  assertEquals(upstream.sent.length, 2);
});

Deno.test("paths outside the client APIs need no permission", async () => {
  const { app } = testGateway(config("models"), scriptedWorld());
  for (const path of ["/health", "/ready", "/metrics"]) {
    assertEquals((await got(await app(new Request(`http://localhost${path}`)))).status, 200, path);
  }
  const unknown = await got(await app(new Request("http://x/v1/nowhere", { headers: KEY })));
  assertEquals([unknown.status, unknown.error.code], [404, "unknown_url"]);
});
