import { MAX_SUBJECTS } from "../../../src/traffic/subjects.ts";
import { assertEquals } from "../../support/assert.ts";
import { got } from "../../support/chat_call.ts";
import { newSigningKey, tokenGateway, tokenSecurity } from "../../support/token_issuer.ts";

const KEY = await newSigningKey("k1", "EdDSA");

Deno.test("of 100,000 clients with tokens 10,000 have limits, the next is refused, and no budget is forgotten", async () => {
  const { call, verdict, gateway } = await tokenGateway(
    tokenSecurity({ algorithms: ["EdDSA"] }, {
      templates: [{ name: "admin" }, { name: "developer", budgets: [{ per: "day", tokens: 28 }] }],
    }),
    [KEY],
  );
  const token = (sub: string) => KEY.sign({ sub });
  const ada = await token("ada");
  assertEquals(await verdict(ada), [200, null]);
  const { subjects } = gateway.state;
  const DAY_MS = 24 * 60 * 60_000;
  let entered = 0;
  for (let at = 0; at < 100_000; at++) {
    if (!subjects.enter("tokens", `c${at}`, MAX_SUBJECTS)) continue;
    entered += 1;
    subjects.leave("tokens", `c${at}`, { busyMs: DAY_MS, refillMs: 0 });
  }
  assertEquals([entered, subjects.size], [MAX_SUBJECTS - 1, MAX_SUBJECTS]);
  const refused = await got(await call(await token("eve")));
  assertEquals([refused.status, refused.error.code], [429, "too_many_clients"]);
  assertEquals(refused.headers.get("retry-after"), "60");
  assertEquals(await verdict("key-of-nightly"), [200, null]);
  assertEquals(await verdict(ada), [200, null]);
  assertEquals(await verdict(ada), [429, "budget_exceeded"]);
});
