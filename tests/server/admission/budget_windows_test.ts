import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../../support/chat_call.ts";
import { keyOf } from "../../support/client_keys.ts";
import { keys, type LimitedGateway, limitedGateway } from "../../support/limited_gateway.ts";

async function ask({ app }: LimitedGateway) {
  const { status, headers } = await got(await app(chatRequest({ headers: keyOf("ada") })));
  return [status, headers.get("x-gateway-budget"), headers.get("retry-after")];
}

function budgeted(budgets: readonly JsonObject[], time_zone = "UTC"): LimitedGateway {
  return limitedGateway(keys({ ada: { budgets: [...budgets] } }, { time_zone }));
}

Deno.test("a call that runs over midnight counts on the day on which it ends", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
  const gateway = limitedGateway(keys({ ada: { budgets: [{ per: "day", tokens: 10 }] } }), {
    fetch: () => promise.then(() => answers(200, { ...COMPLETION, usage })),
  });
  gateway.world.setWall(Date.parse("2026-11-22T23:59:59Z"));
  const running = gateway.app(chatRequest({ headers: keyOf("ada") }));
  await gateway.world.advance(2_000);
  resolve();
  assertEquals((await running).headers.get("x-gateway-budget"), "day tokens 0/10");
  assertEquals(await ask(gateway), [429, "day tokens 10/10", "86399"]);
  gateway.world.setWall(Date.parse("2026-11-22T23:59:59Z"));
  assertEquals((await ask(gateway))[1], "day tokens 0/10");
});

Deno.test("budgets begin again at midnight, on Mondays and on the first day of a month", async () => {
  const gateway = budgeted([
    { per: "hour", tokens: 14 },
    { per: "day", tokens: 28 },
    { per: "week", tokens: 42 },
    { per: "month", tokens: 56 },
  ]);
  const at = async (time: string) => {
    gateway.world.setWall(Date.parse(time));
    return (await ask(gateway)).slice(0, 2);
  };
  const sums = (...spent: readonly number[]) =>
    ["hour", "day", "week", "month"].map((per, index) =>
      `${per} tokens ${spent[index]}/${14 * (index + 1)}`
    ).join(", ");
  // Saturday, 28 November 2026.
  assertEquals(await at("2026-11-28T22:10:00Z"), [200, sums(0, 0, 0, 0)]);
  assertEquals(await at("2026-11-28T22:59:59Z"), [429, sums(14, 14, 14, 14)]);
  assertEquals(await at("2026-11-28T23:00:00Z"), [200, sums(0, 14, 14, 14)]);
  assertEquals(await at("2026-11-29T00:00:00Z"), [200, sums(0, 0, 28, 28)]);
  assertEquals(await at("2026-11-29T01:00:00Z"), [429, sums(0, 14, 42, 42)]);
  assertEquals(await at("2026-11-30T00:00:00Z"), [200, sums(0, 0, 0, 42)]);
  assertEquals(await at("2026-11-30T01:00:00Z"), [429, sums(0, 14, 14, 56)]);
  assertEquals(await at("2026-12-01T00:00:00Z"), [200, sums(0, 0, 14, 0)]);
});

Deno.test("an hour that a time zone repeats in autumn is two windows, and its day has 25 hours", async () => {
  const gateway = budgeted(
    [{ per: "hour", tokens: 14 }, { per: "day", tokens: 28 }],
    "Europe/Berlin",
  );
  const at = async (time: string) => {
    gateway.world.setWall(Date.parse(time));
    return (await ask(gateway)).slice(0, 2);
  };
  // 25 October 2026, 03:00 becomes 02:00 at 01:00 UTC.
  assertEquals(await at("2026-10-25T00:30:00Z"), [200, "hour tokens 0/14, day tokens 0/28"]);
  assertEquals(await at("2026-10-25T00:59:59Z"), [429, "hour tokens 14/14, day tokens 14/28"]);
  assertEquals(await at("2026-10-25T01:00:00Z"), [200, "hour tokens 0/14, day tokens 14/28"]);
  assertEquals(await at("2026-10-25T22:59:59Z"), [429, "hour tokens 0/14, day tokens 28/28"]);
  assertEquals(await at("2026-10-25T23:00:00Z"), [200, "hour tokens 0/14, day tokens 0/28"]);
});

Deno.test("a clock that is set back finds the sums of its day again, and one that jumps ahead loses none", async () => {
  const gateway = budgeted([{ per: "day", tokens: 30 }]);
  const at = async (time: string) => {
    gateway.world.setWall(Date.parse(time));
    return (await ask(gateway))[1];
  };
  assertEquals(await at("2026-11-22T23:59:00Z"), "day tokens 0/30");
  assertEquals(await at("2026-11-24T12:00:00Z"), "day tokens 0/30");
  // The monotonic clock continues meanwhile.
  await gateway.world.advance(12 * 60 * 60 * 1000);
  assertEquals(await at("2026-11-22T12:00:00Z"), "day tokens 14/30");
  assertEquals(await at("2026-11-24T13:00:00Z"), "day tokens 14/30");
  assertEquals(await at("2026-11-22T13:00:00Z"), "day tokens 28/30");
});
