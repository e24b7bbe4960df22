import { newUsageReport, usageCsv, usageJson } from "../../src/observe/usage_report.ts";
import { assertEquals } from "../support/assert.ts";
import { usageRow } from "../store/conformance/usage.ts";

const PERIOD = { from: "2026-11-21", to: "2026-11-22" };
const ROWS = [
  usageRow({ model: "b" }),
  usageRow({ model: "a", day: "2026-11-21", estimated: 1 }),
  usageRow({ key: "bob", model: "a", provider: "other" }),
];

Deno.test("usage is added up by one column, or shown by all of them, in order", () => {
  const by = (column: "key" | "provider" | "model" | "day" | null) =>
    newUsageReport(ROWS, PERIOD, column).lines.map(({ values, calls }) => [...values, calls]);
  assertEquals(by("key"), [["ada", 2], ["bob", 1]]);
  assertEquals(by("provider"), [["other", 1], ["up", 2]]);
  assertEquals(by("model"), [["a", 2], ["b", 1]]);
  assertEquals(by("day"), [["2026-11-21", 1], ["2026-11-22", 2]]);
  assertEquals(by(null), [
    ["ada", "up", "a", "2026-11-21", 1],
    ["ada", "up", "b", "2026-11-22", 1],
    ["bob", "other", "a", "2026-11-22", 1],
  ]);
});

Deno.test("the JSON document names the period, and each line has its sums", () => {
  const [line] = [usageJson(newUsageReport(ROWS.slice(0, 2), PERIOD, "key"))];
  assertEquals(line, {
    object: "usage",
    from: "2026-11-21",
    to: "2026-11-22",
    data: [{
      key: "ada",
      calls: 2,
      input_tokens: 20,
      output_tokens: 8,
      cached_tokens: 4,
      cost_usd: 0.000048,
      estimated_calls: 1,
    }],
  });
});

Deno.test("the CSV document quotes its fields, has no exponents, and no field is a formula", () => {
  const rows = [
    usageRow({ model: 'a,"b"\n' }),
    usageRow({ model: "=1+1" }),
    usageRow({ model: "-x", nanoUsd: 3_000_000_000 }),
    usageRow({ model: "n", nanoUsd: 1 }),
  ];
  assertEquals(
    usageCsv(newUsageReport(rows, PERIOD, "model")),
    [
      "model,calls,input_tokens,output_tokens,cached_tokens,cost_usd,estimated_calls",
      "'-x,1,10,4,2,3,0",
      "'=1+1,1,10,4,2,0.000024,0",
      '"a,""b""\n",1,10,4,2,0.000024,0',
      "n,1,10,4,2,0.000000001,0",
      "",
    ].join("\r\n"),
  );
});
