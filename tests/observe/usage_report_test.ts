import {
  newUsageReport,
  usageCsv,
  usageJson,
  usageReportSteps,
  usageTextSteps,
} from "../../src/observe/usage_report.ts";
import { assert, assertEquals } from "../support/assert.ts";
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

/** Returns the value of work in steps, and the most reads of the elements of `list` in one. */
function mostReads<Element, Value>(
  list: readonly Element[],
  work: (list: readonly Element[]) => Generator<void, Value, void>,
) {
  let reads = 0, most = 0;
  const counted = new Proxy(list, {
    get(target, name, receiver) {
      if (typeof name === "string" && /^\d+$/.test(name)) reads++;
      return Reflect.get(target, name, receiver);
    },
  });
  const steps = work(counted);
  for (;;) {
    reads = 0;
    const step = steps.next();
    most = Math.max(most, reads);
    if (step.done === true) return { value: step.value, most };
  }
}

Deno.test("a report of very many names is made and written in short steps, in order", () => {
  const rows = Array.from({ length: 3_000 }, (_, at) => usageRow({ model: `m${at * 7 % 3_000}` }));
  const summed = mostReads(rows, (rows) => usageReportSteps(rows, PERIOD, "model"));
  assertEquals(
    summed.value.lines.map(({ values }) => values),
    rows.map(({ model }) => [model]).toSorted(),
  );
  const { lines } = summed.value;
  const [json, csv] = (["json", "csv"] as const).map((format) =>
    mostReads(lines, (lines) => usageTextSteps({ ...summed.value, lines }, format))
  );
  assertEquals(JSON.parse(json!.value), usageJson(summed.value));
  assertEquals(csv!.value.split("\r\n").length, rows.length + 2);
  for (const { most } of [summed, json!, csv!]) assert(most > 0 && most <= 256, `${most} at once`);
});

Deno.test("a report has at most 50,000 lines, and more models of a client as one, with its day and provider", () => {
  const many = Array.from({ length: 50_000 }, (_, at) => usageRow({ model: `m${at}` }));
  const more = ["x", "y", "m7"].map((model) => usageRow({ model }));
  const { lines } = newUsageReport([...many, ...more], PERIOD, null);
  const several = lines.filter(({ calls }) => calls > 1).map((
    { values, calls },
  ) => [...values, calls]);
  assertEquals(lines.length, 50_001);
  assertEquals(several, [
    ["ada", "up", "_dynamic", "2026-11-22", 2],
    ["ada", "up", "m7", "2026-11-22", 2],
  ]);
});

Deno.test("beyond 60,000 lines clients count together, because stored rows do not show which have tokens", () => {
  const many = Array.from({ length: 60_002 }, (_, at) => usageRow({ key: `corp/${at}` }));
  for (const column of ["key", null] as const) {
    const { lines } = newUsageReport(many, PERIOD, column);
    assertEquals(lines.length, 60_001);
    assertEquals(lines.filter(({ values }) => values[0] === "_other").map(({ calls }) => calls), [
      2,
    ]);
    assertEquals(lines.reduce((sum, { calls }) => sum + calls, 0), 60_002);
  }
});
