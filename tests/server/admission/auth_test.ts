import { clientApis } from "../../../src/api/registry.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { chatRequest, COMPLETION, got, verdictOf } from "../../support/chat_call.ts";
import { oneProvider, serveGateway, testGateway } from "../../support/gateway.ts";
import { startUpstream } from "../../support/upstream.ts";
import { scriptedWorld } from "../../support/world.ts";
import { connectRaw } from "../raw_connection.ts";

const MISSING = [401, "authentication_error", "missing_api_key"];
const INVALID = [401, "authentication_error", "invalid_api_key"];
const KEYS = "keys: [{name: alice, value: sk-alice}, {name: bob, value: sk-bob}]";

function security(settings = ""): string {
  return `security: {enabled: true, api_key: {${settings}${KEYS}}}\n`;
}

/** The verdict on a call with these headers; `ok` and the client's name when it was let in. */
async function verdictFor(headers: Readonly<Record<string, string>>, settings = "") {
  const gateway = testGateway(security(settings) + oneProvider("http://up"), scriptedWorld());
  const answer = await got(await gateway.app(new Request("http://x/v1/nowhere", { headers })));
  const client = gateway.reports[0]?.client;
  if (answer.status === 404) return ["ok", client];
  assertEquals(client, null);
  assertEquals(answer.headers.get("www-authenticate"), 'Bearer realm="gateway"');
  assertEquals(answer.error.param, null);
  assert(!answer.text.includes("sk-"), answer.text);
  return verdictOf(answer);
}

Deno.test("a client key is read from Authorization or X-API-Key, and its name is known", async () => {
  assertEquals(await verdictFor({ authorization: "Bearer sk-alice" }), ["ok", "alice"]);
  assertEquals(await verdictFor({ authorization: "bearer  sk-bob" }), ["ok", "bob"]);
  assertEquals(await verdictFor({ authorization: "BEARER sk-bob " }), ["ok", "bob"]);
  assertEquals(await verdictFor({ "x-api-key": "sk-bob" }), ["ok", "bob"]);
  const both = { authorization: "Basic dTpw", "x-api-key": "sk-bob" };
  assertEquals(await verdictFor(both), ["ok", "bob"]);
});

Deno.test("a call without a key is refused with the header to send", async () => {
  const headers = [
    {},
    { authorization: "" },
    { authorization: "Bearer" },
    { authorization: "Bearer " },
    { authorization: "Bearersk-alice" },
    { authorization: "sk-alice" },
    { authorization: "Basic sk-alice" },
    { "x-api-key": "" },
    { cookie: "sk-alice" },
  ];
  for (const one of headers) assertEquals(await verdictFor(one), MISSING, JSON.stringify(one));
  const { app } = testGateway(security() + oneProvider("http://up"), scriptedWorld());
  const { error } = await got(await app(new Request("http://x/v1/models")));
  assertStringIncludes(String(error.message), "Authorization: Bearer KEY or X-API-Key: KEY");
});

Deno.test("a key that is not exactly a configured one is invalid", async () => {
  for (
    const key of ["sk", "sk-alice1", "sk-alic", "SK-ALICE", "sk-alice,sk-bob", "\u00e9", "null"]
  ) {
    assertEquals(await verdictFor({ authorization: `Bearer ${key}` }), INVALID, key);
    assertEquals(await verdictFor({ "x-api-key": key }), INVALID, key);
  }
  const both = { authorization: "Bearer wrong", "x-api-key": "sk-bob" };
  assertEquals(await verdictFor(both), INVALID, "the header that is configured decides");
});

Deno.test("header, prefix and X-API-Key are as configured", async () => {
  const own = "header: X-Token, prefix: '', ";
  assertEquals(await verdictFor({ "x-token": "sk-bob" }, own), ["ok", "bob"]);
  assertEquals(await verdictFor({ "x-token": "Bearer sk-bob" }, own), INVALID);
  assertEquals(await verdictFor({ authorization: "Bearer sk-bob" }, own), MISSING);
  const token = "prefix: Token, allow_x_api_key: false, ";
  assertEquals(await verdictFor({ authorization: "token sk-bob" }, token), ["ok", "bob"]);
  assertEquals(await verdictFor({ authorization: "Bearer sk-bob" }, token), MISSING);
  assertEquals(await verdictFor({ "x-api-key": "sk-bob" }, token), MISSING);
});

Deno.test("every path below /v1/ requires a client key before the request is read, other paths do not", async () => {
  const { app } = testGateway(security() + oneProvider("http://up"), scriptedWorld());
  const paths = clientApis.flatMap((api) => api.endpoints).map(({ path }) =>
    path.replace(/:\w+(\{.*?\})?/g, "some-id")
  );
  const inside = paths.filter((path) => path.startsWith("/v1/"));
  assert(inside.length > 0);
  for (const path of [...inside, "/v1/", "/v1/nowhere", "/%761/models"]) {
    for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"]) {
      const response = await app(new Request(`http://x${path}`, { method }));
      assertEquals(response.status, 401, `${method} ${path}`);
      await response.body?.cancel();
    }
  }
  for (const path of ["/health", "/ready", "/metrics", "/nowhere", "/v1", "/v2/models"]) {
    const response = await app(new Request(`http://x${path}`));
    assert(response.status !== 401, path);
    await response.body?.cancel();
  }
});

Deno.test("without security no key is required, and a key that is sent is ignored", async () => {
  for (const lines of ["", "security: {enabled: true, provider: none}\n"]) {
    const gateway = testGateway(lines + oneProvider("http://up"), scriptedWorld());
    const headers = { authorization: "Bearer sk-alice" };
    const response = await gateway.app(new Request("http://x/v1/nowhere", { headers }));
    assertEquals([response.status, gateway.reports[0]?.client], [404, null]);
    await response.body?.cancel();
  }
});

Deno.test("a refused call reads no body, sends no request to a provider and is logged as refused", async () => {
  await using gateway = serveGateway(security() + oneProvider("http://127.0.0.1:1"));
  await using connection = await connectRaw(gateway.url);
  await connection.send(
    "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{",
  );
  assertStringIncludes(await connection.receiveUntil("}}"), '"code":"missing_api_key"');
  const report = await gateway.reported(1);
  assertEquals([report.status, report.attempts.length, report.endpoint.path], [
    401,
    0,
    "/v1/chat/completions",
  ]);
  assertStringIncludes(gateway.log.join(""), '"end":"refused"');
});

Deno.test("the client's key never reaches a provider or the log; its name is logged", async () => {
  await using upstream = startUpstream((exchange) => exchange.json(200, COMPLETION));
  const forms = [
    ["", { authorization: "Bearer sk-alice" }],
    ["", { "x-api-key": "sk-alice" }],
    ["header: X-Token, prefix: '', ", { "x-token": "sk-alice" }],
  ] as const;
  for (const [settings, headers] of forms) {
    await using gateway = serveGateway(security(settings) + oneProvider(upstream.url));
    const answer = await got(await fetch(chatRequest({ url: gateway.url, headers })));
    assertEquals(answer.status, 200);
    const log = gateway.log.join("");
    assertStringIncludes(log, '"client":"alice"');
    assert(!log.includes("sk-alice"), log);
  }
  assertEquals(upstream.requests.length, forms.length);
  const sent = JSON.stringify(upstream.requests);
  assert(!sent.includes("sk-alice"), sent);
  assertStringIncludes(sent, "sk-upstream-secret");
});
