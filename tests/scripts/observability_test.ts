import { parse } from "yaml";
import { metricsPage } from "../../scripts/tools/reference/metrics.ts";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { declaredMetrics } from "../observe/exposition.ts";
import { assert, assertEquals } from "../support/assert.ts";

const FOLDER = new URL("../../scripts/deploy/observability/", import.meta.url);

/** The texts under this key, however deep. */
function textsUnder(key: string, value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => textsUnder(key, item));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    name === key && typeof item === "string" ? [item] : textsUnder(key, item)
  );
}

/** The metrics that an expression names; the parts of a histogram count as the histogram. */
function metricsIn(expression: string): readonly string[] {
  const names = expression.match(/\b(?:gateway|process)_[a-z_]+/g) ?? [];
  return names.map((name) => name.replace(/_(?:bucket|sum|count)$/, ""));
}

/** Returns the labels of each metric; `le` is that of a histogram, `instance` that of a scrape. */
function labelsOfMetrics(): ReadonlyMap<string, readonly string[]> {
  const rows = metricsPage().matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*) \|/gm);
  return new Map(
    [...rows].map(([, name = "", type, labels = ""]) => [
      name,
      [...labels.match(/\w+/g) ?? [], "instance", ...type === "histogram" ? ["le"] : []],
    ]),
  );
}

/** The labels that an expression names: in selectors, and those it adds up or compares by. */
function labelsIn(expression: string): readonly string[] {
  const selected = expression.match(/\w+(?=\s*(?:=~|!~|!=|=)\s*")/g) ?? [];
  const grouped = [...expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)];
  return [...selected, ...grouped.flatMap(([, list = ""]) => list.split(/,\s*/))];
}

async function dashboard(): Promise<unknown> {
  return parseJson(await Deno.readTextFile(new URL("dashboard.json", FOLDER)));
}

Deno.test("the dashboard and the alerts name only metrics that there are", async () => {
  const names = await declaredMetrics();
  const board = await dashboard();
  const alerts: unknown = parse(await Deno.readTextFile(new URL("alerts.yml", FOLDER)));
  const expressions = [
    ...textsUnder("expr", board),
    ...textsUnder("query", board),
    ...textsUnder("expr", alerts),
  ];
  assert(textsUnder("expr", alerts).length > 5);
  for (const name of expressions.flatMap(metricsIn)) assert(names.has(name), name);
});

Deno.test("the dashboard and the alerts name only labels that their metrics have", async () => {
  const labels = labelsOfMetrics();
  const alerts: unknown = parse(await Deno.readTextFile(new URL("alerts.yml", FOLDER)));
  const expressions = [...textsUnder("expr", await dashboard()), ...textsUnder("expr", alerts)];
  assert(expressions.flatMap(labelsIn).length > 100);
  for (const expression of expressions) {
    const known = metricsIn(expression).flatMap((name) => labels.get(name) ?? ["instance"]);
    for (const label of labelsIn(expression)) {
      assert(known.includes(label), `${label}: ${expression}`);
    }
  }
});

Deno.test("every metric of the gateway has its place on the dashboard", async () => {
  const shown = new Set(textsUnder("expr", await dashboard()).flatMap(metricsIn));
  const missing = [...await declaredMetrics()].filter((name) =>
    name.startsWith("gateway_") && !shown.has(name)
  );
  assertEquals(missing, []);
});

Deno.test("the panels of the dashboard have numbers of their own and do not overlap", async () => {
  const board = await dashboard();
  assert(isObject(board) && Array.isArray(board.panels));
  const ids = board.panels.map((panel) => isObject(panel) ? panel.id : null);
  assertEquals(new Set(ids).size, ids.length);
  const cells = board.panels.flatMap((panel) => {
    assert(isObject(panel) && isObject(panel.gridPos));
    const { x, y, w, h } = panel.gridPos;
    assert([x, y, w, h].every((number) => typeof number === "number"));
    const width = Number(w);
    return Array.from(
      { length: width * Number(h) },
      (_, cell) => `${Number(x) + cell % width},${Number(y) + Math.floor(cell / width)}`,
    );
  });
  assertEquals(new Set(cells).size, cells.length);
});
