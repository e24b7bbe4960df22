import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { chatRequest, got } from "../../support/chat_call.ts";
import { keys, limitedGateway } from "../../support/limited_gateway.ts";

const UNTIL = "2023-11-15";

/** A gateway whose key `ada` has replaced the secret `old-key-of-ada`, and another key `bob`. */
function rotated(settings = {}, more = {}) {
  const previous = [{ value: "old-key-of-ada", until: UNTIL }];
  return limitedGateway(keys({ ada: { previous, ...settings }, bob: {} }, more));
}

function call(key: string) {
  return chatRequest({ headers: { authorization: `Bearer ${key}` } });
}

Deno.test("both secrets of a key are one client, and the response to the old one names its end", async () => {
  const { app, reports, log, gateway } = rotated({ budgets: [{ per: "day", tokens: 15 }] });
  const old = await got(await app(call("old-key-of-ada")));
  assertEquals([old.status, old.headers.get("x-gateway-key-expires")], [200, UNTIL]);
  const next = await got(await app(call("key-of-ada")));
  assertEquals([next.status, next.headers.get("x-gateway-key-expires")], [200, null]);
  assertEquals(next.headers.get("x-gateway-budget"), "day tokens 14/15");
  assertEquals((await got(await app(call("key-of-ada")))).status, 429);
  assertEquals((await got(await app(call("old-key-of-ada")))).status, 429);
  assertEquals(reports.map(({ client }) => client), ["ada", "ada", "ada", "ada"]);
  const requests = log.filter((line) => line.includes('"request"'));
  assertStringIncludes(requests[0] ?? "", '"client_secret":"previous"');
  assert(!requests[1]?.includes("client_secret"));
  assertStringIncludes(
    await gateway.metrics.scrape(),
    'gateway_client_previous_secrets_total{client="ada"} 2',
  );
});

Deno.test("on the day of its end, in the time zone of the file, the old secret is invalid and the new one is not", async () => {
  // The scripted world begins on 2023-11-14 at 22:13:20 UTC.
  for (const [time_zone, seconds] of [["UTC", 6400], ["Europe/Berlin", 2800]] as const) {
    const { app, world } = rotated({}, { time_zone });
    await world.advance(seconds * 1000 - 1);
    assertEquals((await got(await app(call("old-key-of-ada")))).status, 200, time_zone);
    await world.advance(1);
    const refused = await got(await app(call("old-key-of-ada")));
    assertEquals([refused.status, refused.error.code], [401, "invalid_api_key"]);
    assert(!refused.text.includes("old-key-of-ada"));
    assertEquals((await got(await app(call("key-of-ada")))).status, 200);
  }
});

Deno.test("the limits of a template hold for each of its keys, those of a group with it for all together", async () => {
  const { app } = limitedGateway(keys(
    { ada: { template: "dev" }, bob: { template: "dev" }, eve: {} },
    {
      templates: [{ name: "dev", budgets: [{ per: "day", tokens: 15 }] }],
      groups: [{ name: "devs", templates: ["dev"], budgets: [{ per: "month", tokens: 30 }] }],
    },
  ));
  const statuses = async (...names: string[]) => {
    const found = [];
    for (const name of names) found.push((await got(await app(call(`key-of-${name}`)))).status);
    return found;
  };
  assertEquals(await statuses("ada", "ada", "ada"), [200, 200, 429]);
  assertEquals(await statuses("bob"), [200]);
  const refused = await got(await app(call("key-of-bob")));
  assertEquals(refused.status, 429);
  assertStringIncludes(String(refused.error.message), "the group 'devs'");
  assertEquals(await statuses("eve"), [200]);
});
