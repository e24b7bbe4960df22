import manifest from "../../../deno.json" with { type: "json" };
import {
  CAPABILITY_SETS,
  PROVIDER_TYPES,
  type Row,
  SHOT_TYPES,
  type ShotName,
  verdictIn,
} from "../../../scripts/clients/matrix.ts";
import { cliClients } from "../../../scripts/clients/cli/programs.ts";
import { pythonClients } from "../../../scripts/clients/python/programs.ts";
import { differences, type Part, PARTS, readResults } from "../../../scripts/clients/results.ts";
import { clientsPage } from "../../../scripts/tools/reference/clients.ts";
import { assert, assertEquals } from "../../support/assert.ts";

/** Every cell of a part: its place in the matrix and its verdict. */
async function verdictsOf(part: Part): Promise<readonly string[]> {
  const { clients } = await readResults(part);
  return Object.entries(clients).flatMap(([title, { rows }]) =>
    Object.entries(rows).flatMap(([shot, row]) =>
      (SHOT_TYPES[shot as ShotName] ?? PROVIDER_TYPES).flatMap((type) =>
        CAPABILITY_SETS.map((set) => {
          const cell = row[type];
          assert(cell !== undefined, `${title} has no ${shot} on ${type}`);
          return `${title}, ${shot}, ${type}, ${set}: ${verdictIn(cell, set)}`;
        })
      )
    )
  );
}

/** A refusal that says what to configure, or that the protocol has no such thing. */
const NAMED_REFUSAL =
  /: refused: .*(?:capabilities\.[a-z_0-9]+|providers\.[^ ]+\.[a-z_]+|The provider has no embeddings)/;

Deno.test("every client of the matrix runs on every provider type, or its refusal names what to configure", async () => {
  for (const part of PARTS) {
    const verdicts = await verdictsOf(part);
    const isFit = (line: string) =>
      / (?:declared|starter): runs/.test(line) || NAMED_REFUSAL.test(line);
    assertEquals(verdicts.filter((line) => !isFit(line)), [], part);
  }
  assert((await verdictsOf("node")).length > 600);
});

Deno.test("the results of the npm clients are those of the versions in the import map", async () => {
  const { clients } = await readResults("node");
  const imported = Object.values<string>(manifest.imports);
  const packages = Object.values(clients).flatMap((client) => client.packages);
  assertEquals(packages.filter((name) => !imported.includes(`npm:${name}`)), []);
});

Deno.test("the results of the command-line clients are those of the versions in their files", async () => {
  const { clients } = await readResults("cli");
  const pinned = (await cliClients()).map(({ packages }) => packages.join(" "));
  const found = Object.values(clients).map(({ packages }) => packages.join(" "));
  assertEquals(found.toSorted(), pinned.toSorted());
  assertEquals(pinned.filter((name) => !/^@?[\w/-]+(?:@|==)\d+\.\d+\.\d+$/.test(name)), []);
});

Deno.test("the results of the Python clients are those of the versions in their files", async () => {
  const { clients } = await readResults("python");
  const pinned = (await pythonClients()).map(({ packages }) => packages.join(" "));
  const found = Object.values(clients).map(({ packages }) => packages.join(" "));
  assertEquals(found.toSorted(), pinned.toSorted());
  const isExact = (name: string) => /^[\w.[\]-]+==[\w.]+$/.test(name);
  assertEquals(pinned.flatMap((names) => names.split(" ")).filter((name) => !isExact(name)), []);
});

Deno.test("the page of the matrix has a section for each part whose clients were run, and no other", async () => {
  const runs = await Promise.all(PARTS.map(async (part) => (await readResults(part)).clients));
  const page = await clientsPage();
  assertEquals(
    page.split("\nRun on ").length - 1,
    runs.filter((clients) => Object.keys(clients).length > 0).length,
  );
});

Deno.test("a cell that is new, changed or missing differs from the results, and no other", () => {
  const client = (tools: Row) => ({ Agent: { packages: [], rows: { tools } } });
  const expected = client({ compat: "runs", local: "runs", native: "runs" });
  assertEquals(differences(expected, expected), []);
  const found = client({ compat: "runs", local: "fails: late", messages: "runs" });
  assertEquals(differences(found, expected), [
    'Agent, tools over local: "fails: late"; expected: "runs"',
    'Agent, tools over native: not run; expected: "runs"',
    'Agent, tools over messages: "runs"; expected: nothing',
  ]);
  assertEquals(differences({}, client({ compat: "runs" })), [
    'Agent, tools over compat: not run; expected: "runs"',
  ]);
});
