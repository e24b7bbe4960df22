import { compile } from "../../src/gateway/compile.ts";
import { assertEquals } from "../support/assert.ts";
import { configOf, withSection } from "../config/parse.ts";

function clientKeys(text: string) {
  return compile(configOf(withSection(text)), 1).clientKeys;
}

Deno.test("a key without permissions and limits has null for both", () => {
  const [key] = clientKeys("security: {enabled: true, api_key: {keys: [{name: a, value: s}]}}");
  assertEquals(
    [key?.permissions, key?.limits, key?.reported, key?.expiresMs, key?.isDisabled],
    [null, null, null, null, false],
  );
});

Deno.test("limits are compiled to whole nano-dollars, with the groups that have limits", () => {
  const [ada, bob] = clientKeys(`
security:
  enabled: true
  time_zone: Europe/Berlin
  api_key:
    keys:
      - name: ada
        value: s
        tokens_per_minute: 7
        max_concurrent: 2
        budgets: [{per: day, usd: 0.1}, {per: month, usd: 300, tokens: 9}]
        expires: 2027-06-30
      - {name: bob, value: t}
  groups:
    - {name: all, keys: [bob, ada], budgets: [{per: hour, tokens: 5}]}
    - {name: idle, keys: [ada]}
    - {name: own, keys: [ada], tokens_per_minute: 3}`);
  const all = {
    name: "all",
    caller: "group all",
    limits: {
      tokensPerMinute: null,
      maxConcurrent: null,
      budgets: [{ per: "hour", nanoUsd: null, tokens: 5 }],
    },
  };
  const own = {
    name: "own",
    caller: "group own",
    limits: { tokensPerMinute: 3, maxConcurrent: null, budgets: [] },
  };
  assertEquals<unknown>(ada?.limits, {
    tokensPerMinute: 7,
    maxConcurrent: 2,
    budgets: [
      { per: "day", nanoUsd: 100_000_000, tokens: null },
      { per: "month", nanoUsd: 300_000_000_000, tokens: 9 },
    ],
    groups: [all, own],
  });
  assertEquals<unknown>(bob?.limits, {
    tokensPerMinute: null,
    maxConcurrent: null,
    budgets: [],
    groups: [all],
  });
  assertEquals(ada?.expiresMs, Date.parse("2027-06-29T22:00Z"));
});

Deno.test("only the labels that the configuration lists are reported", () => {
  const [ada, bob] = clientKeys(`
security:
  enabled: true
  api_key:
    keys:
      - {name: ada, value: s, labels: {team: blue, floor: 3}}
      - {name: bob, value: t, labels: {floor: 4}}
observability: {key_labels: [team]}`);
  assertEquals(ada?.reported, { key_team: "blue" });
  assertEquals(bob?.reported, null);
  assertEquals(bob?.labels.get("floor"), "4");
});
