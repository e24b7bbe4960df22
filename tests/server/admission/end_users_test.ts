import { newFigureReader } from "../../../src/admin/key_figures.ts";
import { readUsage } from "../../../src/admin/queries.ts";
import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { answers, chatRequest, COMPLETION, got } from "../../support/chat_call.ts";
import { keys, limitedGateway, USAGE } from "../../support/limited_gateway.ts";
import { problemsOf, withSection } from "../../config/parse.ts";
import { oneProvider, serveGateway } from "../../support/gateway.ts";
import { connectRaw } from "../raw_connection.ts";

const HEADER = "X-OpenWebUI-User-Id";
const TEMPLATE = { name: "chat-user", budgets: [{ per: "day", tokens: 15 }] };

/** A gateway with the key `web`, whose requests name end users, and the key `other`. */
function withUsers(
  endUsers: JsonObject = {},
  template: JsonObject = TEMPLATE,
  web: JsonObject = {},
  more = "",
) {
  const sent: Headers[] = [];
  const gateway = limitedGateway(
    keys(
      {
        web: { ...web, end_users: { header: HEADER, template: "chat-user", ...endUsers } },
        other: {},
      },
      { templates: [template] },
    ),
    {
      more,
      fetch: (_url, { headers }) => {
        sent.push(new Headers(headers));
        return answers(200, { ...COMPLETION, usage: USAGE });
      },
    },
  );
  return {
    ...gateway,
    sent,
    async call(user: string | null, key = "web") {
      const headers = {
        authorization: `Bearer key-of-${key}`,
        ...user !== null && { [HEADER]: user },
      };
      return await got(await gateway.app(chatRequest({ headers })));
    },
  };
}

Deno.test("a budget of end users is spent by each alone, that of the key by all", async () => {
  const { call } = withUsers({}, TEMPLATE, { budgets: [{ per: "day", tokens: 60 }] });
  const first = await call("ada");
  assertEquals(first.headers.get("x-gateway-budget"), "day tokens 0/60, user day tokens 0/15");
  assertEquals((await call("ada")).status, 200);
  const refused = await call("ada");
  assertEquals([refused.status, refused.error.code], [429, "budget_exceeded"]);
  assertStringIncludes(String(refused.error.message), "of this user");
  assertEquals((await call("bob")).status, 200);
  assertEquals((await call("bob")).status, 200);
  assertEquals((await call(null)).status, 200);
  assertStringIncludes(String((await call("eve")).error.message), "of this client key");
});

Deno.test("the groups of a key hold for its end users together, with the key's other calls", async () => {
  const web = { end_users: { header: HEADER, template: "chat-user" } };
  const security = keys({ web, other: {} }, {
    templates: [TEMPLATE],
    groups: [{ name: "g", keys: ["web", "other"], budgets: [{ per: "day", tokens: 40 }] }],
  });
  const fetch = () => answers(200, { ...COMPLETION, usage: USAGE });
  const { app } = limitedGateway(security, { fetch });
  const call = async (key: string, user: string) => {
    const headers = { authorization: `Bearer key-of-${key}`, [HEADER]: user };
    return await got(await app(chatRequest({ headers })));
  };
  const first = await call("web", "ada");
  const budgets = "group g day tokens 0/40, user day tokens 0/15";
  assertEquals(first.headers.get("x-gateway-budget"), budgets);
  assertEquals((await call("other", "ada")).status, 200);
  assertEquals((await call("web", "bob")).status, 200);
  const refused = await call("web", "eve");
  assertEquals([refused.status, refused.error.code], [429, "budget_exceeded"]);
  assertStringIncludes(String(refused.error.message), "of the group 'g'");
});

Deno.test("an end user with a budget in USD may use no model without a price, the key without one may", async () => {
  const { app } = withUsers({}, { name: "chat-user", budgets: [{ per: "day", usd: 1 }] });
  const statuses: unknown[] = [];
  for (const [key, user] of [["web", "ada"], ["web", null], ["other", "ada"]] as const) {
    const named = user === null ? {} : { [HEADER]: user };
    const headers = { authorization: `Bearer key-of-${key}`, ...named };
    const { status, error } = await got(
      await app(chatRequest({ headers, body: { model: "without-a-price" } })),
    );
    statuses.push(status === 200 ? status : error.code);
  }
  assertEquals(statuses, ["model_not_priced", 200, 200]);
});

Deno.test("the header counts only with a key that has end users, and is never forwarded", async () => {
  const { call, sent, reports } = withUsers();
  for (let at = 0; at < 3; at++) assertEquals((await call("ada", "other")).status, 200);
  assertEquals((await call("ada")).status, 200);
  for (const headers of sent) assertEquals(headers.get(HEADER), null);
  assertEquals(reports.map(({ client }) => client), ["other", "other", "other", "web"]);
  assertEquals(reports.slice(0, 3).map(({ endUser }) => endUser), [null, null, null]);
});

Deno.test("logs have a digest of the end user, and metrics nothing of it", async () => {
  const { call, log, gateway } = withUsers();
  await call("ada@example.com");
  await call("ada@example.com");
  await call("bob@example.com");
  const users = log.flatMap((line) => JSON.parse(line).end_user ?? []);
  assertEquals([users.length, new Set(users).size], [3, 2]);
  for (const user of users) assert(/^[0-9a-f]{12}$/.test(user), user);
  assert(!log.join().includes("example.com"));
  const scraped = await gateway.metrics.scrape();
  assert(!scraped.includes("example.com") && users.every((user) => !scraped.includes(user)));
});

Deno.test("a name that is none, or has more than 256 characters, is refused with the header as param, and so is a missing one that is required", async () => {
  const { call } = withUsers();
  for (const user of ["", "x".repeat(257), "a\tb", "a\u0085b", "\u00a0ada"]) {
    const refused = await call(user);
    assertEquals([refused.status, refused.error.code, refused.error.param], [
      400,
      "invalid_value",
      HEADER.toLowerCase(),
    ]);
  }
  const required = withUsers({ required: true });
  const missing = await required.call(null);
  assertEquals([missing.status, missing.error.param], [400, HEADER.toLowerCase()]);
  assertEquals((await required.call("ada")).status, 200);
});

Deno.test("at the maximum a new end user is refused and a known one is served, until one has nothing left to count", async () => {
  const { call, world } = withUsers({ max: 2 }, {
    ...TEMPLATE,
    budgets: [{ per: "day", tokens: 99 }],
  });
  for (const user of ["ada", "bob", "ada"]) assertEquals((await call(user)).status, 200);
  const refused = await call("eve");
  assertEquals([refused.status, refused.error.code], [429, "too_many_end_users"]);
  assertEquals(refused.headers.get("retry-after"), "60");
  assertEquals((await call("bob")).status, 200);
  assertEquals((await call(null)).status, 200);
  await world.advance(24 * 3_600_000);
  assertEquals((await call("eve")).status, 200);
});

Deno.test("end users have a rate of their own, which takes nothing from that of the key if it refuses", async () => {
  const { call, world } = withUsers(
    {},
    { name: "chat-user", requests_per_minute: 1 },
    { requests_per_minute: 600 },
    "rate_limiting: {enabled: true, burst_size: 2}\n",
  );
  assertEquals([(await call("ada")).status, (await call("ada")).status], [200, 200]);
  await world.advance(1_000);
  const refused = await call("ada");
  assertEquals([refused.status, refused.error.code], [429, "rate_limit_exceeded"]);
  assertEquals(refused.error.message, "Too many requests of this user; try again in 59 s.");
});

Deno.test("usage has rows of end users by their digests, and those of the key add them up", async () => {
  const { call, reports, gateway } = withUsers();
  for (const user of ["ada", "ada", "bob", null]) assertEquals((await call(user)).status, 200);
  await call("ada", "other");
  const [ada, , bob] = reports.map(({ endUser }) => String(endUser));
  const usage = async (query: string) => {
    const { text } = await readUsage(new URLSearchParams(query), gateway);
    return JSON.parse(text).data.map(({ key, user, calls }: JsonObject) => [key, user, calls]);
  };
  const users = [[String(ada), 2], [String(bob), 1]].toSorted();
  assertEquals(await usage("by=user&key=web"), [
    ["web", "", 1],
    ...users.map(([user, calls]) => ["web", user, calls]),
  ]);
  assertEquals(await usage("by=key"), [["other", undefined, 1], ["web", undefined, 4]]);
  assertEquals((await usage("")).length, 2);
  const figures = newFigureReader(gateway);
  await figures.refresh();
  assertEquals([...figures.latest.today].map(([key, { calls }]) => [key, calls]), [
    ["web", 4],
    ["other", 1],
  ]);
});

Deno.test("a header with the end user that is sent twice is refused, whichever of both is meant", async () => {
  const security = keys({ web: { end_users: { header: HEADER } } });
  await using gateway = serveGateway(security + oneProvider("http://127.0.0.1:1"));
  const status = async (...users: readonly string[]) => {
    await using connection = await connectRaw(gateway.url);
    const named = users.map((user) => `${HEADER}: ${user}\r\n`).join("");
    await connection.send(
      "GET /v1/conversations/conv_1 HTTP/1.1\r\nhost: localhost\r\n" +
        `authorization: Bearer key-of-web\r\n${named}\r\n`,
    );
    return (await connection.receiveUntil("\r\n")).slice("HTTP/1.1 ".length).slice(0, 3);
  };
  // The object does not exist, so an accepted user gets 404.
  assertEquals([await status("ada"), await status("ada, bob")], ["404", "404"]);
  assertEquals([await status("ada", "bob"), await status("ada", "ada")], ["400", "400"]);
});

Deno.test("the template of end users has only limits, and its name and the header are checked", () => {
  const problems = (endUsers: JsonObject, template: JsonObject) =>
    problemsOf(
      withSection(keys({ web: { end_users: endUsers } }, { templates: [template] }).trim()),
    )
      .map((line) => line.replace(/ \(line .*$/, ""));
  const place = "security.api_key.keys[0].end_users";
  assertEquals(problems({ header: "X-User", template: "t" }, { name: "t", models: ["m"] }), [
    `${place}.template: must have only limits, and has models: permissions and labels are those of the key`,
  ]);
  assertEquals(problems({ header: "X-User", template: "u" }, { name: "t" }), [
    `${place}.template: is not the name of a template`,
  ]);
  for (const header of ["Authorization", "X-API-Key", "Cookie"]) {
    assertEquals(problems({ header }, { name: "t" }), [
      `${place}.header: must not be a header with a credential, which is no name`,
    ]);
  }
  for (const header of ["X-Gateway-SessionID", "Anthropic-Beta", "anthropic-version", "Range"]) {
    assertEquals(problems({ header }, { name: "t" }), [
      `${place}.header: must not be a header that is forwarded`,
    ]);
  }
});
