import { compile } from "../../../src/gateway/compile.ts";
import { newGateway } from "../../../src/gateway/gateway.ts";
import type { CallReport } from "../../../src/observe/report.ts";
import { createApp } from "../../../src/server/app.ts";
import { configOf } from "../../config/parse.ts";
import { assertEquals } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION, got, verdictOf } from "../../support/chat_call.ts";
import { oneProvider } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";
import { newRemoteAdmission } from "../../../src/server/admission/admit.ts";

const KEYS = "security: {enabled: true, api_key: {keys: [{name: remote control, value: k}]}}\n";
const RATE = "rate_limiting: {enabled: true, requests_per_minute: 60, burst_size: 2}\n";

/** One gateway with both of its entrances. */
function entrances(lines: string) {
  const reports: Readonly<CallReport>[] = [];
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const config = configOf(lines + oneProvider("http://up"));
  const gateway = newGateway(compile(config, 1), world, [(report) => void reports.push(report)]);
  const remote = createApp(gateway, newRemoteAdmission(gateway));
  const usual = createApp(gateway);
  return { gateway, reports, remote, usual };
}

Deno.test("the dashboard needs no client key and is no browser; its calls are named after it", async () => {
  const { remote, usual, reports } = entrances(KEYS);
  const headers = { origin: "https://evil.example", host: "gateway.example" };
  assertEquals((await remote(chatRequest({ headers }))).status, 200);
  assertEquals((await usual(chatRequest({ headers }))).status, 403);
  assertEquals((await usual(chatRequest())).status, 401);
  assertEquals(reports.map(({ client }) => client), ["remote control", null, null]);
});

Deno.test("the dashboard has a separate rate limit, shared with no client whatever its name", async () => {
  const { remote, usual } = entrances(KEYS + RATE);
  const statuses: number[] = [];
  for (let call = 0; call < 3; call++) statuses.push((await remote(chatRequest())).status);
  assertEquals(statuses, [200, 200, 429]);
  const refused = await got(await remote(chatRequest()));
  assertEquals(verdictOf(refused), [429, "rate_limit_error", "rate_limit_exceeded"]);
  assertEquals(refused.headers.get("x-ratelimit-remaining"), "0");
  const mine = await usual(chatRequest({ headers: { authorization: "Bearer k" } }));
  assertEquals([mine.status, mine.headers.get("x-ratelimit-remaining")], [200, "1"]);
});

Deno.test("a gateway that shuts down accepts no command from the dashboard", async () => {
  const { gateway, remote, usual } = entrances("");
  gateway.state.inFlight.drain();
  const refused = await got(await remote(chatRequest()));
  assertEquals([refused.status, refused.error.code], [503, "draining"]);
  assertEquals((await usual(chatRequest())).status, 200);
});

Deno.test("objects that the dashboard creates belong to it, and to no client whatever its name", async () => {
  const { remote, usual } = entrances(KEYS);
  const key = { authorization: "Bearer k" };
  const ask = async (app: typeof remote, path: string, init: RequestInit = {}) => {
    const request = new Request(`http://localhost/v1/conversations${path}`, init);
    return await got(await app(request));
  };
  const made = async (app: typeof remote, headers = {}) => {
    const { text } = await ask(app, "", { method: "POST", headers });
    return `/${JSON.parse(text).id}`;
  };
  const theirs = await made(remote);
  const mine = await made(usual, key);
  assertEquals((await ask(remote, theirs)).status, 200);
  assertEquals((await ask(usual, theirs, { headers: key })).status, 404);
  assertEquals((await ask(usual, mine, { headers: key })).status, 200);
  assertEquals((await ask(remote, mine)).status, 404);
});

Deno.test("without keys, or while clients share, the dashboard shares with everybody", async () => {
  const shared = KEYS.replace("true,", "true, isolate_clients: false,");
  for (const [lines, headers] of [["", {}], [shared, { authorization: "Bearer k" }]] as const) {
    const { remote, usual } = entrances(lines);
    const path = "http://localhost/v1/conversations";
    const { text } = await got(await remote(new Request(path, { method: "POST" })));
    const request = new Request(`${path}/${JSON.parse(text).id}`, { headers });
    assertEquals((await got(await usual(request))).status, 200);
  }
});
