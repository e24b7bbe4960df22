import { assert, assertEquals } from "../support/assert.ts";
import { answers, COMPLETION } from "../support/chat_call.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const URL = "http://localhost";
const VERSION = { "anthropic-version": "2026-10-21" };

const SECURITY = `
security: {enabled: true, api_key: {keys: [{name: c, value: client-key}]}}
`;

/** Every kind of request of this API: its own paths, the shared ones, and those that no API has. */
const REQUESTS: readonly [method: string, path: string, headers: Record<string, string>][] = [
  ["POST", "/v1/messages", {}],
  ["POST", "/v1/messages?beta=true", VERSION],
  ["POST", "/v1/messages/count_tokens", {}],
  ["POST", "/v1/messages/count_tokens?beta=true", VERSION],
  ["GET", "/v1/messages", {}],
  ["GET", "/v1/messages/batches", {}],
  ["POST", "/v1/messages/batches/b/results", {}],
  ["GET", "/v1/models", VERSION],
  ["GET", "/v1/models?limit=1000", VERSION],
  ["GET", "/v1/models/p%2Fm", VERSION],
  ["DELETE", "/v1/models/p", VERSION],
  ["POST", "/v1/files", VERSION],
  ["GET", "/v1/skills", VERSION],
  ["POST", "/v1/complete", VERSION],
  ["GET", "/v1/organizations/o", VERSION],
];

/** Requests of other APIs, although some of them have the header or come close to a path. */
const OTHERS: readonly [method: string, path: string, headers: Record<string, string>][] = [
  ["POST", "/v1/chat/completions", VERSION],
  ["GET", "/v1/chat/completions/c", VERSION],
  ["PUT", "/v1/chat/completions", VERSION],
  ["POST", "/v1/responses", VERSION],
  ["GET", "/v1/models", { "x-api-key": "k" }],
  ["POST", "/v1/files", {}],
  ["POST", "/v1/messagesx", {}],
];

function gatewayOf(settings: string, world: ScriptedWorld = scriptedWorld()) {
  return testGateway(oneProvider("http://up") + settings, world);
}

function requestOf(
  [method, path, headers]: (typeof REQUESTS)[number],
  more: Record<string, string> = {},
): Request {
  const body = method === "POST" ? "{}" : null;
  return new Request(URL + path, { method, headers: { ...headers, ...more }, body });
}

/** Status, type and code of an error, whose envelope and headers are checked. */
async function errorOf(response: Response, what: string) {
  const { status, headers } = response;
  const body = await response.json();
  const id = headers.get("x-gateway-request-id");
  assertEquals(headers.get("content-type"), "application/json", what);
  assertEquals(headers.get("request-id"), id, what);
  assertEquals([Object.keys(body), body.type, body.request_id], [
    ["type", "error", "request_id"],
    "error",
    id,
  ], what);
  assert(body.error.message.length > 10, what);
  const { type, details } = body.error;
  return { status, type, code: details.error_code, retry: headers.get("x-should-retry") };
}

Deno.test("a request of the Messages API without a valid key gets 401 in its envelope, and is not repeated", async () => {
  const { app } = gatewayOf(SECURITY);
  for (const [key, code] of [["", "missing_api_key"], ["wrong", "invalid_api_key"]] as const) {
    for (const one of REQUESTS) {
      const response = await app(requestOf(one, key === "" ? {} : { "x-api-key": key }));
      assertEquals(await errorOf(response, one.join(" ")), {
        status: 401,
        type: "authentication_error",
        code,
        retry: "false",
      });
    }
  }
});

Deno.test("a client key is accepted in x-api-key and in Authorization", async () => {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const { app } = gatewayOf(SECURITY, world);
  const body = '{"max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"model":"m"}';
  for (const headers of [{ "x-api-key": "client-key" }, { authorization: "Bearer client-key" }]) {
    const response = await app(
      new Request(`${URL}/v1/messages`, { method: "POST", headers, body }),
    );
    const { type } = await response.json();
    assertEquals([response.status, type], [200, "message"]);
    assertEquals(response.headers.get("request-id"), response.headers.get("x-gateway-request-id"));
  }
});

Deno.test("a wrong host and a foreign web page get 403 in the envelope", async () => {
  const { app } = gatewayOf("");
  for (const one of REQUESTS) {
    for (
      const [headers, code] of [
        [{ host: "attacker.test" }, "host_not_allowed"],
        [{ origin: "https://attacker.test" }, "origin_not_allowed"],
      ] as const
    ) {
      const answer = await errorOf(await app(requestOf(one, headers)), one.join(" "));
      assertEquals(answer, { status: 403, type: "permission_error", code, retry: null });
    }
  }
});

Deno.test("too many requests get 429 in the envelope, with the time to wait", async () => {
  const { app } = gatewayOf(
    "rate_limiting: {enabled: true, requests_per_minute: 1, burst_size: 1}\n",
  );
  await (await app(new Request(`${URL}/v1/models`))).body?.cancel();
  for (const one of REQUESTS) {
    const response = await app(requestOf(one));
    assertEquals(response.headers.get("retry-after"), "60");
    assertEquals(await errorOf(response, one.join(" ")), {
      status: 429,
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      retry: null,
    });
  }
});

Deno.test("paths that are not offered get 404, and other methods 405 with the methods that are", async () => {
  const { app } = gatewayOf("");
  const expected: Readonly<Record<string, number>> = {
    "GET /v1/messages": 405,
    "GET /v1/messages/count_tokens": 405,
    "DELETE /v1/models/p": 405,
    "PUT /v1/models": 405,
    "POST /v1/messages/batches": 404,
    "GET /v1/messages/batches": 404,
    "POST /v1/messages/": 404,
    "POST /v1/files": 404,
    "GET /v1/skills": 404,
    "GET /v1/organizations/o/users": 404,
    "POST /v1/complete": 404,
    "POST /api/event_logging/batch": 404,
  };
  for (const [request, status] of Object.entries(expected)) {
    const [method = "", path = ""] = request.split(" ");
    const response = await app(requestOf([method, path, VERSION]));
    const body = await response.clone().json();
    assertEquals(response.headers.get("allow") === null, status === 404, request);
    if (status === 404) assert(body.error.message.includes("not offered"), body.error.message);
    assertEquals(await errorOf(response, request), {
      status,
      type: status === 404 ? "not_found_error" : "invalid_request_error",
      code: status === 404 ? "unknown_url" : "method_not_allowed",
      retry: null,
    });
  }
});

Deno.test("a body that cannot be read is refused in the envelope", async () => {
  const world = scriptedWorld();
  const { app } = gatewayOf("server: {max_json_members: 1000}\n", world);
  const send = async (headers: Record<string, string>, body: string) => {
    const answer = app(new Request(`${URL}/v1/messages`, { method: "POST", headers, body }));
    // The turn in which the rest of the body is discarded.
    await world.advance(0);
    return await answer;
  };
  const cases = [
    [
      { "content-length": String(33 * 1024 * 1024) },
      "{}",
      413,
      "request_too_large",
      "request_too_large",
    ],
    [{}, `[${"1,".repeat(2000)}1]`, 413, "request_too_large", "request_too_large"],
    [{}, "no json", 400, "invalid_request_error", "invalid_json"],
    [
      { "content-encoding": "gzip" },
      "{}",
      400,
      "invalid_request_error",
      "request_body_encoding_unsupported",
    ],
    [
      { "content-length": "2", "transfer-encoding": "chunked" },
      "{}",
      400,
      "invalid_request_error",
      "invalid_request_framing",
    ],
  ] as const;
  for (const [headers, body, status, type, code] of cases) {
    const answer = await errorOf(await send(headers, body), code);
    assertEquals(answer, { status, type, code, retry: null });
  }
});

Deno.test("a body that stops arriving gets 408 in the envelope", async () => {
  const world = scriptedWorld();
  const { app } = gatewayOf("server: {body_timeout: 5s}\n", world);
  const body = new ReadableStream({ type: "bytes" });
  const headers = { host: "localhost" };
  const request = new Request(`${URL}/v1/messages`, { method: "POST", body, headers });
  const answer = app(request, { disconnect: () => {} });
  await world.advance(5_000);
  assertEquals(await errorOf(await answer, "408"), {
    status: 408,
    type: "timeout_error",
    code: "request_timeout",
    retry: null,
  });
});

Deno.test("too many requests in flight and a shutdown give 503 in the envelope", async () => {
  const world = scriptedWorld({
    fetch: (_url, { signal }) =>
      new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
  });
  const { app, gateway } = gatewayOf("server: {max_concurrent_requests: 1}\n", world);
  const body = '{"max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"model":"m"}';
  const first = app(new Request(`${URL}/v1/messages`, { method: "POST", body }));
  await world.advance(0);
  for (const path of ["/v1/messages", "/v1/messages/count_tokens", "/v1/models"]) {
    const method = path === "/v1/models" ? "GET" : "POST";
    const response = await app(requestOf([method, path, VERSION]));
    assertEquals(response.headers.get("retry-after"), "1");
    assertEquals(await errorOf(response, path), {
      status: 503,
      type: "overloaded_error",
      code: "overloaded",
      retry: null,
    });
  }
  gateway.state.inFlight.cancelAll();
  assertEquals(await errorOf(await first, "a request that shutdown has ended"), {
    status: 503,
    type: "overloaded_error",
    code: "draining",
    retry: null,
  });
});

Deno.test("requests of other APIs keep the OpenAI format, whatever headers they have", async () => {
  const { app } = gatewayOf(SECURITY);
  for (const one of OTHERS) {
    const response = await app(requestOf(one, { "x-api-key": "wrong" }));
    assertEquals([response.status, response.headers.get("request-id")], [401, null], one.join(" "));
    assertEquals(Object.keys(await response.json()), ["error"]);
  }
});

Deno.test("a preflight of a web page has the request ID of the API too", async () => {
  const { app } = gatewayOf('server: {allowed_origins: ["https://page.test"]}\n');
  const headers = { origin: "https://page.test", "access-control-request-method": "POST" };
  const response = await app(new Request(`${URL}/v1/messages`, { method: "OPTIONS", headers }));
  assertEquals(response.status, 204);
  assertEquals(response.headers.get("request-id"), response.headers.get("x-gateway-request-id"));
});
