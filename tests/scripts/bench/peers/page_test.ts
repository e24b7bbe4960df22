import { scenarios, type ScenarioTarget } from "../../../../scripts/bench/scenarios.ts";
import { assert, assertEquals } from "../../../support/assert.ts";

const page = await Deno.readTextFile(
  new URL("../../../../docs/operate/performance.md", import.meta.url),
);

/** Returns the cells of the table rows whose first cell is the name of a row of the benchmark. */
function rowsOf(text: string): readonly (readonly string[])[] {
  return [...text.matchAll(/^\| `([\w-]+)` \| (.+) \|$/gm)]
    .map(([, name = "", cells = ""]) => [name, ...cells.split(" | ")]);
}

const targets = rowsOf(page.slice(page.indexOf("## Targets"), page.indexOf("Measured on ")));
const generated = page.slice(page.indexOf("<!-- table of peers"));
const columns = /^\| row \| .+$/m.exec(generated)?.[0].slice(2, -2).split(" | ") ?? [];
const table = rowsOf(generated);

/** Returns the number in a column of the generated table. */
function figure(row: string, system: string, column: string): number {
  const cells = table.find(([name, other]) => name === row && other === system);
  return Number(cells?.[columns.indexOf(column)]);
}

/**
 * Returns the bounds of what the generated table says about a target, and the number that the
 * scripts demand.
 */
function shownOf(row: string, target: ScenarioTarget): readonly [number, number, number] {
  switch (target.kind) {
    case "min_rate_ratio": {
      const ratio = figure(row, "Switchyard", "rate / floor");
      return [ratio, ratio, target.besidePeers ?? target.ratio];
    }
    case "max_cpu_ratio": {
      // The table has whole microseconds.
      const [own, floor] = ["Switchyard", "floor"].map((name) => figure(row, name, "CPU µs"));
      const [high = NaN, low = NaN] = [own, floor].map((one) => one ?? NaN);
      return [(high - 0.5) / (low + 0.5) - 0.01, (high + 0.5) / (low - 0.5) + 0.01, target.ratio];
    }
    case "max_p99": {
      const ms = figure(row, "Switchyard", "p99 ms");
      return [ms, ms, target.ms];
    }
    case "max_added_cpu":
    case "max_added_latency":
      return [NaN, NaN, target.us];
  }
}

Deno.test("the measured figures of rows with a base are those of the table that the benchmark wrote, and the targets its own", () => {
  const compared = targets.flatMap(([row = "", , bound = "", measured = ""], at) => {
    const scenario = scenarios.find(({ name }) => name === row);
    if (scenario === undefined) return [];
    const earlier = targets.slice(0, at).filter(([name]) => name === row).length;
    const target = scenario.targets[earlier];
    assert(target !== undefined, row);
    const [low, high, demanded] = shownOf(row, target);
    assertEquals(parseFloat(bound), demanded, row);
    const value = parseFloat(measured);
    assert(low <= value && value <= high, `${row}: ${measured} is not in ${low} to ${high}`);
    return [row];
  });
  assertEquals(compared, ["small", "small", "20k", "200k", "sse", "translate", "first"]);
});

/** True if a figure of the page meets its target: rates are minima, all other figures maxima. */
function isMet([, figure = "", bound = "", measured = ""]: readonly string[]): boolean {
  const [wanted, value] = [parseFloat(bound), parseFloat(measured)];
  assert(Number.isFinite(wanted) && Number.isFinite(value), measured);
  return figure.startsWith("rate ") ? value >= wanted : value <= wanted;
}

/** True if a row of any table of the page says itself that its target is not reached. */
function saysMissed(row: readonly string[]): boolean {
  return ["no", "not known"].includes(row.at(-1) ?? "") ||
    row.some((cell) => cell.endsWith(", missed"));
}

Deno.test("a row of the page says that its target is not reached in its last cell or behind the target", () => {
  const says = (line: string) => rowsOf(line).map(saysMissed);
  assertEquals(says("| `start` | idle memory | 80 MB | 97 MB | no |"), [true]);
  assertEquals(says("| `tail` | added at p99 | 0.3 ms | – | not known |"), [true]);
  assertEquals(says("| `admin` | page open | 0.88 | 0.95, missed | 217 µs |"), [true]);
  assertEquals(says("| `token` | added at p50 | 10 µs | 5 µs |"), [false]);
});

Deno.test("each row that misses a target has its reason on the page", () => {
  const rows = [...targets.filter((row) => !isMet(row)), ...rowsOf(page).filter(saysMissed)];
  const missed = new Set(rows.map(([name = ""]) => name));
  const reasons = [...page.matchAll(/^- ((?:`[\w-]+`(?:, )?)+): /gm)]
    .flatMap(([, names = ""]) => names.replaceAll("`", "").split(", "));
  assertEquals([...missed].filter((name) => !reasons.includes(name)), []);
});
