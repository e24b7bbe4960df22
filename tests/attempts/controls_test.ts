import { type ConnectionCause, ConnectionError } from "../../src/core/failure/connection_error.ts";
import { assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { config, verdictAndTarget } from "./two_targets.ts";

const RETRY = "max_attempts: 2, initial_delay: 0s";

/** The providers that were called, in order, while the first fails with this. */
async function asked(
  failing: () => Promise<Response>,
  options: Parameters<typeof chatRequest>[0],
): Promise<string> {
  const hosts: string[] = [];
  const world = scriptedWorld({
    fetch(url) {
      const { hostname } = new URL(url);
      hosts.push(hostname);
      return hostname === "other" ? answers(200, COMPLETION) : failing();
    },
  });
  const setting = { first: "http://up", second: "http://other", retry: RETRY };
  const gateway = testGateway(config(setting), world);
  const waiting = gateway.app(chatRequest({ ...options, body: { model: "x", ...options?.body } }));
  await world.advance(1000);
  await got(await waiting);
  return hosts.join(" ");
}

const busy = () => answers(503, "");

Deno.test("a failed call is retried by default, then falls back", async () => {
  assertEquals(await asked(busy, {}), "up up other");
});

Deno.test("X-Gateway-No-Retry: true, in upper or lower case, disables retries", async () => {
  for (const value of ["true", "True", "TRUE"]) {
    assertEquals(await asked(busy, { headers: { "X-Gateway-No-Retry": value } }), "up other");
  }
  for (const value of ["false", "1", "yes", ""]) {
    assertEquals(await asked(busy, { headers: { "x-gateway-no-retry": value } }), "up up other");
  }
});

Deno.test("X-Gateway-No-Fallback: true, in upper or lower case, disables fallbacks", async () => {
  for (const value of ["true", "tRuE"]) {
    assertEquals(await asked(busy, { headers: { "x-gateway-no-fallback": value } }), "up up");
  }
  assertEquals(await asked(busy, { headers: { "x-gateway-no-fallback": "no" } }), "up up other");
});

Deno.test("both headers together leave one attempt", async () => {
  const headers = { "x-gateway-no-retry": "true", "x-gateway-no-fallback": "true" };
  assertEquals(await asked(busy, { headers }), "up");
});

function broken(cause: ConnectionCause, mayHaveRun: boolean) {
  const progress = { mayHaveRun, isAnswered: false };
  return () => Promise.reject(new ConnectionError(cause, "it failed", progress));
}

const UNTAKEN: readonly (readonly [what: string, failing: () => Promise<Response>])[] = [
  ["status 429", () => answers(429, "")],
  ["status 503", () => answers(503, "")],
  ["status 529", () => answers(529, "")],
  ["a refused connection", broken("refused", false)],
  ["a host name without an address", broken("dns", false)],
  ["a connection that was not made in time", broken("timeout", false)],
  ["a server that is not trusted", broken("tls_untrusted", false)],
];

const MAYBE_TAKEN: readonly (readonly [what: string, failing: () => Promise<Response>])[] = [
  ["status 500", () => answers(500, "")],
  ["status 501", () => answers(501, "")],
  ["status 502", () => answers(502, "")],
  ["status 504", () => answers(504, "")],
  ["status 202", () => answers(202, "")],
  ["a reset", broken("reset", true)],
  ["an answer that cannot be read", () => answers(200, "{")],
];

for (const [what, failing] of UNTAKEN) {
  Deno.test(`a call with side effects is sent again after ${what}`, async () => {
    // A silent target is not retried while another one is left.
    const calls = what.endsWith("in time") ? "up other" : "up up other";
    assertEquals(await asked(failing, { body: { store: true } }), calls);
  });
}

for (const [what, failing] of MAYBE_TAKEN) {
  Deno.test(`a call with side effects is not retried after ${what}`, async () => {
    assertEquals(await asked(failing, { body: { store: true } }), "up");
    const isFinal = what === "status 501";
    assertEquals(
      await asked(failing, { body: { store: false } }),
      isFinal ? "up other" : "up up other",
    );
  });
}

Deno.test("after a fallback has rejected the request, the failure that began the fallback is the one that the client sees, with its target", async () => {
  const world = scriptedWorld({
    fetch: (url) =>
      url.startsWith("http://other")
        ? answers(400, { error: { message: "No.", type: "t", code: "c" } })
        : answers(503, { error: { message: "Busy." } }),
  });
  const setting = { first: "http://up", second: "http://other" };
  const gateway = testGateway(config(setting), world);
  const answer = await got(await gateway.app(chatRequest({ body: { model: "x" } })));
  assertEquals(verdictAndTarget(answer), [503, undefined, undefined, "first/x"]);
  assertEquals(answer.headers.get("x-gateway-route"), "r");
  const [report] = gateway.reports;
  assertEquals(report?.fallbacks, 1);
  assertEquals(report?.attempts.map(({ provider, outcome }) => `${provider} ${outcome}`), [
    "first upstream_unavailable",
    "second upstream_rejected",
  ]);
});

Deno.test("retryable_errors decides which statuses are retried", async () => {
  const statuses = [418, 500];
  const sent: number[] = [];
  for (const status of statuses) {
    let count = 0;
    const world = scriptedWorld({
      fetch() {
        count++;
        return answers(status, "");
      },
    });
    const retry = `${RETRY}, retryable_errors: [418]`;
    const gateway = testGateway(config({ first: "http://up", retry }), world);
    const waiting = gateway.app(chatRequest({ body: { model: "x" } }));
    await world.advance(1000);
    assertEquals((await got(await waiting)).status, status);
    sent.push(count);
  }
  assertEquals(sent, [2, 1]);
});
