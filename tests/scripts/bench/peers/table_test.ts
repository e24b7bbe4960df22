import type { Measurement } from "../../../../scripts/bench/measure.ts";
import { peerTable, type RunFacts, writeTable } from "../../../../scripts/bench/peers/table.ts";
import { writeTargets } from "../../../../scripts/bench/peers/targets.ts";
import type { ScenarioResult } from "../../../../scripts/bench/report.ts";
import { type Scenario, scenarios } from "../../../../scripts/bench/scenarios.ts";
import { assert, assertEquals } from "../../../support/assert.ts";

function measurement(rate: number, cpuUs: number | null): Measurement {
  const busyShare = cpuUs === null ? null : cpuUs / 160;
  return { rates: [rate], timesUs: [1000, 2500], cpuUs, busyShare };
}

function scenario(name: string): Scenario {
  const found = scenarios.find((one) => one.name === name);
  assert(found !== undefined);
  return found;
}

const result: ScenarioResult = {
  scenario: scenario("translate"),
  base: measurement(1000, 80),
  measured: measurement(500, 120),
  peers: [
    { name: "rival", kind: "measured", measurement: measurement(250, null) },
    { name: "nginx", kind: "none", reason: "a reverse proxy does not translate" },
  ],
};

const facts: RunFacts = {
  rounds: 5,
  seconds: 1,
  date: new Date("2026-11-22T23:00:00Z"),
  machine: "a processor, 2 cores, linux",
  loadAverages: [0.1, 0.25, 1],
  versions: ["Deno 2.7.11", "Switchyard 0.1.0", "rival", "nginx 1.22.1"],
};

const TABLE = `Measured on 22 November 2026: a processor, 2 cores, linux, \
load averages before the run 0.10, 0.25, 1.00; medians of 5 rounds of 1 s.
Deno 2.7.11, Switchyard 0.1.0, rival, nginx 1.22.1.

| row | system | rate/s | rate / floor | p50 ms | p99 ms | CPU µs | core |
| --- | --- | --- | --- | --- | --- | --- | --- |
| \`translate\` | floor | 1000 | 1.00 | 2.50 | 2.50 | 80 | 50 % |
| \`translate\` | Switchyard | 500 | 0.50 | 2.50 | 2.50 | 120 | 75 % |
| \`translate\` | rival | 250 | 0.25 | 2.50 | 2.50 | – | – |
| \`translate\` | nginx | – | – | – | – | – | – |

– means no figure:

- nginx: a reverse proxy does not translate (\`translate\`)
`;

Deno.test("the table has the floor, this gateway and each peer, with machine, versions, date, load and reasons", () => {
  assertEquals(peerTable([result], facts), TABLE);
});

Deno.test("rows that compare two gateways of the repository are not in the table", () => {
  const own = { ...result, scenario: scenario("ten-targets") };
  assertEquals(peerTable([result, own], facts), TABLE);
});

Deno.test("a reason is written once with all its rows, and breaks no cell", () => {
  const reason = "wrong: <html> a|b";
  const wrong = { ...result, peers: [{ name: "rival", kind: "none", reason } as const] };
  const table = peerTable([wrong, { ...wrong, scenario: scenario("small") }], facts);
  assert(table.includes("- rival: wrong: &lt;html> a\\|b (`translate`, `small`)\n"), table);
});

Deno.test("a new table takes the place of the one between the marks of the page", async () => {
  const page = await Deno.readTextFile(
    new URL("../../../../docs/operate/performance.md", import.meta.url),
  );
  const written = writeTable(page, TABLE);
  assert(written !== null);
  assert(written.includes(`writes it -->\n\n${TABLE}\n<!-- end of table of peers -->`), written);
  assertEquals(writeTable(written, TABLE), written);
  assertEquals(page.split("<!-- table of peers")[0], written.split("<!-- table of peers")[0]);
  assertEquals(writeTable("a page without marks", TABLE), null);
});

Deno.test("the measured figures of a run are written next to their targets, and nothing else of the page changes", async () => {
  const page = await Deno.readTextFile(
    new URL("../../../../docs/operate/performance.md", import.meta.url),
  );
  const results = ["small", "translate", "first", "sse-8"]
    .map((name) => ({ ...result, scenario: scenario(name) }));
  const written = writeTargets(page, results);
  const rows = (text: string) => text.split("\n").filter((line) => line.startsWith("| `"));
  const changed = rows(written).filter((row) => !rows(page).includes(row));
  assertEquals(changed, [
    "| `small` | rate / floor, 1 kB, 16 connections, beside other gateways | 0.80 | 0.50 |",
    "| `small` | CPU of a request / floor | 1.5 | 1.50 |",
    "| `translate` | rate / floor, Messages upstream | 0.60 | 0.50 |",
    "| `first` | first record of a stream at p99 | 5 ms | 2.50 ms; floor 2.50 ms |",
  ]);
  const others = (text: string) =>
    text.split("\n").filter((line) =>
      !/^\| `(?:small|translate|first)` \| (?:rate|CPU|first) /.test(line)
    );
  assertEquals(others(written), others(page));
  assertEquals(writeTargets("a page without targets", results), "a page without targets");
});
