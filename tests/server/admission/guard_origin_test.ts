import { assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION, got, verdictOf } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";

const REFUSED = [403, "permission_error", "origin_not_allowed"];

const AUTHORIZED = { authorization: "Bearer k" };

/** A gateway that any host name may lead to, because it has keys, with these allowed origins. */
function gatewayOf(...allowed: readonly string[]) {
  const server = `server: {host: 0.0.0.0, allowed_origins: ${JSON.stringify(allowed)}}
security: {enabled: true, api_key: {keys: [{name: a, value: k}]}}
`;
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  return testGateway(server + oneProvider("http://up"), world);
}

/** Whether a page of this origin may call the gateway at this host. */
async function isAllowed(
  { app }: ReturnType<typeof gatewayOf>,
  origin: string,
  host = "gateway.example:8080",
): Promise<boolean> {
  const answer = await got(await app(chatRequest({ headers: { ...AUTHORIZED, origin, host } })));
  const shown = answer.headers.get("access-control-allow-origin");
  if (answer.status === 200) {
    assertEquals(shown, origin);
    return true;
  }
  assertEquals(verdictOf(answer), REFUSED, origin);
  assertEquals(shown, null, origin);
  return false;
}

async function assertAllowed(
  gateway: ReturnType<typeof gatewayOf>,
  origins: readonly string[],
  expected: boolean,
  host?: string,
) {
  for (const origin of origins) {
    assertEquals(await isAllowed(gateway, origin, host), expected, `${origin} at ${host}`);
  }
}

Deno.test("pages of this machine and apps may call", async () => {
  await assertAllowed(gatewayOf(), [
    "http://localhost",
    "http://localhost:3000",
    "https://localhost:1",
    "http://LOCALHOST:3000",
    "http://app.localhost:5173",
    "http://127.0.0.1:8080",
    "http://127.9.9.9",
    "http://[::1]:3000",
    "http://[0:0:0:0:0:0:0:1]",
    "app://obsidian.md",
    "file://",
    "tauri://localhost",
    "vscode-webview://1a2b",
    "vscode-file://vscode-app",
    "chrome-extension://abcdef",
    "moz-extension://0-1",
  ], true);
});

Deno.test("pages of the web may not call, whatever their origin looks like", async () => {
  await assertAllowed(gatewayOf(), [
    "https://evil.example",
    "http://evil.example:8080",
    "null",
    "",
    "*",
    "localhost",
    "localhost:3000",
    "http://localhost.evil.example",
    "http://evillocalhost",
    "http://127.0.0.1.evil.example",
    "http://127.0.0.1@evil.example",
    "http://localhost:3000@evil.example",
    "http://evil.example#localhost",
    "http://evil.example/localhost",
    "http://localhost/",
    "http://localhost:99999",
    "http://localhost:",
    "http://localhost:80:80",
    "http://[::1",
    "http://[::1]evil.example",
    "http://[::2]",
    "http://128.0.0.1",
    "http://127.0.0",
    "http://0.0.0.0",
    "ftp://localhost",
    "http://localhost, http://evil.example",
    "http://app://obsidian.md",
    "xapp://a",
  ], false);
});

Deno.test("the gateway's own pages may call, also behind something that ends TLS", async () => {
  const own: readonly (readonly [origin: string, host: string])[] = [
    ["http://gateway.example:8080", "gateway.example:8080"],
    ["http://gateway.example", "gateway.example"],
    ["http://gateway.example", "gateway.example:80"],
    ["https://gateway.example", "gateway.example"],
    ["https://gateway.example", "gateway.example:443"],
    ["https://Gateway.example.", "GATEWAY.EXAMPLE"],
    ["http://192.168.0.7:8080", "192.168.0.7:8080"],
    ["http://[fd00::7]:8080", "[FD00:0::7]:8080"],
  ];
  for (const [origin, host] of own) await assertAllowed(gatewayOf(), [origin], true, host);
  const foreign: readonly (readonly [origin: string, host: string])[] = [
    ["http://gateway.example:3000", "gateway.example:8080"],
    ["http://gateway.example", "gateway.example:8080"],
    ["https://gateway.example", "gateway.example:80"],
    ["http://gateway.example.evil", "gateway.example"],
    ["gopher://gateway.example", "gateway.example"],
  ];
  for (const [origin, host] of foreign) await assertAllowed(gatewayOf(), [origin], false, host);
  for (const host of ["evil.example@gateway.example", ""]) {
    const headers = { ...AUTHORIZED, origin: "http://evil.example", host };
    const answer = await got(await gatewayOf().app(chatRequest({ headers })));
    assertEquals(verdictOf(answer), [400, "invalid_request_error", "invalid_host"]);
  }
});

Deno.test("an allowed origin is compared as written", async () => {
  const gateway = gatewayOf("https://Chat.example:443", "http://a.example:3000", "capacitor://x");
  await assertAllowed(gateway, [
    "https://chat.example",
    "https://CHAT.example",
    "http://a.example:3000",
    "capacitor://x",
  ], true);
  await assertAllowed(gateway, [
    "http://chat.example",
    "https://chat.example:8443",
    "https://www.chat.example",
    "https://chat.example.evil",
    "https://chatXexample",
    "http://a.example",
    "http://a.example:30001",
  ], false);
});

Deno.test("a star matches a part of a host and never more", async () => {
  const gateway = gatewayOf("https://*.example.com", "http://dev-*.example.com:*");
  await assertAllowed(gateway, [
    "https://a.example.com",
    "https://a.b.example.com",
    "https://A-1.example.com",
    "http://dev-7.example.com",
    "http://dev-7.example.com:3000",
  ], true);
  await assertAllowed(gateway, [
    "https://example.com",
    "https://.example.com",
    "http://a.example.com",
    "https://a.example.com:8443",
    "https://evil.com/.example.com",
    "https://evil.com#.example.com",
    "https://evil.com?.example.com",
    "https://evil.com:1.example.com",
    "https://evil.com@a.example.com",
    "https://a.example.com.evil.com",
    "https://aexample.com",
    "http://dev-.example.com",
    "http://dev-7.example.com:3000.evil.com",
  ], false);
});

Deno.test("the pattern * matches every origin except null", async () => {
  const gateway = gatewayOf("*");
  await assertAllowed(gateway, ["https://any.example", "http://any.example:81"], true);
  await assertAllowed(gateway, ["null", "", "https://a/b"], false);
});

Deno.test("a client that sends no origin needs none", async () => {
  const { app } = gatewayOf();
  for (const site of ["none", "cross-site"]) {
    const headers = { ...AUTHORIZED, host: "gateway.example", "sec-fetch-site": site };
    const answer = await got(await app(chatRequest({ headers })));
    assertEquals(answer.status, 200);
    assertEquals(answer.headers.get("access-control-allow-origin"), null);
    assertEquals(answer.headers.get("vary"), null);
  }
});

Deno.test("a refusal names the setting to change and comes before all else, on every path", async () => {
  const { app, reports } = gatewayOf();
  const calls: readonly (readonly [path: string, method: string])[] = [
    ["/health", "GET"],
    ["/v1/models", "GET"],
    ["/v1/responses", "GET"],
    ["/v1/chat/completions", "POST"],
    ["/v1/chat/completions", "PUT"],
    ["/nowhere", "DELETE"],
    ["/v1/models", "OPTIONS"],
  ];
  for (const [path, method] of calls) {
    const headers = {
      origin: "https://evil.example",
      upgrade: "websocket",
      connection: "upgrade",
      "access-control-request-method": "POST",
    };
    const answer = await got(
      await app(new Request(`http://localhost${path}`, { method, headers })),
    );
    assertEquals(verdictOf(answer), REFUSED, path);
    assertEquals(answer.error.param, null);
    assertStringIncludes(String(answer.error.message), "server.allowed_origins");
    assertEquals(answer.headers.get("x-gateway-request-id"), reports.at(-1)?.id ?? null);
    assertEquals(answer.headers.get("vary"), "origin");
  }
});

Deno.test("a gateway for the network without keys takes no page for its own by a foreign name", async () => {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const server = "server: {host: 0.0.0.0, allowed_hosts: [gateway.example]}\n";
  const { app } = testGateway(server + oneProvider("http://up"), world);
  const ask = async (host: string, origin = `http://${host}`) =>
    await got(await app(chatRequest({ headers: { host, origin } })));
  const rebound = await ask("rebound.example:8080");
  assertEquals(verdictOf(rebound), [403, "permission_error", "host_not_allowed"]);
  assertEquals(rebound.headers.get("access-control-allow-origin"), null);
  assertEquals((await ask("gateway.example:8080")).status, 200);
  assertEquals((await ask("192.168.0.7:8080")).status, 200);
  assertEquals(verdictOf(await ask("gateway.example", "http://evil.example")), REFUSED);
  assertEquals(verdictOf(await ask("192.168.0.7", "http://192.168.0.8")), REFUSED);
});

Deno.test("the admin page may call the gateway of the same host while it is on, and no page at its port of another host", async () => {
  const world = () => scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const keys = "security: {enabled: true, api_key: {keys: [{name: a, value: k}]}}\n";
  const admin = "admin: {enabled: true, host: 0.0.0.0, password: correct-horse, port: 8081}\n";
  const config = `server: {host: 0.0.0.0}\n${keys}${oneProvider("http://up")}`;
  const on = testGateway(admin + config, world());
  const off = testGateway(config, world());
  const host = "10.0.0.5:8080";
  await assertAllowed(on, ["http://10.0.0.5:8081"], true, host);
  await assertAllowed(off, ["http://10.0.0.5:8081"], false, host);
  const foreign = ["http://10.0.0.6:8081", "http://evil.example:8081", "http://10.0.0.5:8082"];
  await assertAllowed(on, [...foreign, "app2://10.0.0.5:8081", "null"], false, host);
});
