import { parseOptions } from "../../scripts/bench/options.ts";
import { GENERATED_PAGES } from "../../scripts/tools/docs.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { wrongDefaults } from "./defaults.ts";
import { pages } from "./pages.ts";
import { unshownFigures } from "./proofs.ts";
import { sectionsOf } from "./sections.ts";
import { commandsOf } from "./shell.ts";
import { taskProblem } from "./tasks.ts";

const ROOT = new URL("../../", import.meta.url);

/** The README and the written pages of `docs/`. Generated ones say what the code says. */
const written = pages.filter(({ path }) =>
  (path === "README.md" || path.startsWith("docs/")) && GENERATED_PAGES[path] === undefined
);

/**
 * Returns the problem of what shows a figure; null if it is a test or a command of the repository.
 */
async function proofProblem(proof: string): Promise<string | null> {
  const [program = "", ...args] = commandsOf(`${proof}\n`)[0]?.words ?? [];
  if (program === "./scripts/deno") {
    if (args[0] === "task" && args[1] === "bench") {
      const options = parseOptions(args.slice(2), () => "");
      return typeof options === "string" ? options : null;
    }
    return await taskProblem(args);
  }
  if (/^tests\/[\w/]+_test\.ts$/.test(proof)) {
    const isThere = await Deno.stat(new URL(proof, ROOT)).then(() => true, () => false);
    return isThere ? null : "the file is missing";
  }
  if (/^tests\/[\w/]+\/$/.test(proof)) {
    return await hasTests(new URL(proof, ROOT)) ? null : "the folder has no test";
  }
  return "it is neither a test file, nor a folder of them, nor a command of scripts/deno";
}

async function hasTests(folder: URL): Promise<boolean> {
  try {
    const files = await Array.fromAsync(Deno.readDir(folder));
    return files.some(({ name }) => name.endsWith("_test.ts"));
  } catch {
    return false;
  }
}

Deno.test("every figure of the README and the documentation is in what its section names", () => {
  assertEquals(unshownFigures(written), []);
  const figures = written.flatMap(sectionsOf).flatMap((section) => section.figures);
  assert(figures.length > 300, `${figures.length}`);
});

Deno.test("a value next to a key of the configuration is the default of that key", () => {
  assertEquals(wrongDefaults(written), []);
  const text =
    "`server.idle_timeout` (120 s) and `keep_alive`, 5 s, but `server.body_timeout` (31 s)";
  assertEquals(wrongDefaults([{ path: "page.md", text }]), [
    "page.md: `keep_alive` (5 s): the default is 4s",
    "page.md: `server.body_timeout` (31 s): the default is 30s",
  ]);
});

Deno.test("what shows a figure of the documentation is a test, a row of the benchmark or a task of the repository", async () => {
  const problems: string[] = [];
  for (const { name, proofs } of written.flatMap(sectionsOf)) {
    for (const proof of proofs) {
      const problem = await proofProblem(proof);
      if (problem !== null) problems.push(`${name}: ${proof}: ${problem}`);
    }
  }
  assertEquals(problems, []);
});

Deno.test("a test that is missing, a row that the benchmark does not have and prose show no figure", async () => {
  for (
    const proof of [
      "tests/docs/missing_test.ts",
      "tests/docs/sections.ts",
      "tests/docs/missing/",
      "./scripts/deno task missing",
      "./scripts/deno task bench --only missing",
      "./scripts/deno run -A scripts/missing.ts",
      "curl http://127.0.0.1:8080",
      "switchyard",
    ]
  ) assert(await proofProblem(proof) !== null, proof);
  for (
    const proof of [
      "tests/docs/figures_test.ts",
      "tests/docs/",
      "./scripts/deno task bench --rounds 5 --only small --peer nginx",
      "./scripts/deno task test tests/docs/",
    ]
  ) assertEquals(await proofProblem(proof), null, proof);
});

/** Sentences with a figure that nothing in the repository shows, each of another kind. */
const UNSHOWN_SENTENCES: readonly string[] = [
  "The gateway serves 9,137 requests a second.",
  "It serves 83k of them.",
  "It does 9137 rps.",
  "It wins by 8137:1.",
  "It is 3.71 times as fast as its rivals.",
  "It takes 41.5 % less.",
  "It starts within 17.3 ms.",
  "It needs 77.7 MiB.",
  "The ratio is 0.8137.",
  "It holds seventeen million tokens.",
  "1 in 8,137 is slow.",
  "Its telescope needs 8137/9137 of the light.",
  "It needs a third of the light.",
  "A look takes 8.137-9.137 ms.",
  "Latency 81.37 ms.",
  "It needs 8.137 megabytes.",
  "It takes 81.37 microseconds.",
  "It costs 81.37 USD.",
  "It holds 8137 telescopes.",
];

Deno.test("a figure of each kind that nothing shows is found in every section of the documentation", () => {
  const missed: string[] = [];
  for (const { path, text } of written) {
    const places: string[] = [];
    const lines: string[] = [];
    for (const line of text.split("\n")) {
      if (line.startsWith("<!-- shown by: ")) {
        for (const sentence of UNSHOWN_SENTENCES) {
          lines.push(`- ${sentence}`);
          places.push(`${path}:${lines.length} `);
        }
        lines.push("");
      }
      lines.push(line);
    }
    const found = unshownFigures([{ path, text: lines.join("\n") }]);
    for (const place of places) {
      if (!found.some((one) => one.startsWith(place))) missed.push(place);
    }
  }
  assertEquals(missed, []);
});

function unshown(...lines: readonly string[]): readonly string[] {
  return unshownFigures([{ path: "page.md", text: lines.join("\n") }])
    .map((line) => line.replace(/(?<=\)): .*$/, ""));
}

Deno.test("a figure whose section names nothing that shows it is listed with its place", () => {
  assertEquals(unshown("# Page", "", "A request takes long, but", "no more than 500 ms."), [
    'page.md:4 "500 ms" (page.md: Page)',
  ]);
  assertEquals(unshown("## Rules", "- It takes 5 s.", "", "| 6 s | 7 s |"), [
    'page.md:2 "5 s" (page.md: Rules)',
    'page.md:4 "6 s" (page.md: Rules)',
    'page.md:4 "7 s" (page.md: Rules)',
  ]);
});

Deno.test("a figure is shown by its number in a named test, or by a default", () => {
  const body = "<!-- shown by: tests/server/body_timeout_test.ts -->";
  assertEquals(unshown("## One", "It takes 29,999 ms.", "", body), []);
  assertEquals(unshown("## One", "It takes 31 s.", "", body).length, 1);
  assertEquals(unshown("## One", "It takes 120 s.", "", body).length, 1);
  assertEquals(unshown("## One", "`server.idle_timeout` takes 120 s.", "", body), []);
});

Deno.test("a figure that only the code under test has is not shown, because the test would pass with any other one", () => {
  // `LEASE_MS`, which the code of this test imports.
  const test = "tests/store/lease_renewal_test.ts";
  assertEquals(
    unshown("## One", "It ends after 30 s.", "", `<!-- shown by: ${test} -->`).length,
    1,
  );
});

Deno.test("a measured figure is shown by a row of the benchmark that its paragraph names", () => {
  const block = ["## One", "```sh", "./scripts/deno task bench --only small", "```", ""];
  assertEquals(unshown(...block, "`small` takes 8,137 µs."), []);
  assertEquals(unshown(...block, "| `small` | 8,137 µs |", "| `small` | 9,137 µs |"), []);
  assertEquals(unshown(...block, "It takes 8,137 µs.").length, 1);
  assertEquals(unshown(...block, "`small` is fast.", "", "It takes 8,137 µs.").length, 1);
  const other = ["## One", "```sh", "switchyard check", "```", "`small` takes 8,137 µs."];
  assertEquals(unshown(...other).length, 1);
});

Deno.test("a figure is shown by the next comment of its section, and by that of no other section", () => {
  const shown = [
    "## One",
    "It takes 5 s.",
    "",
    "<!-- shown by: tests/one_test.ts,",
    "tests/two_test.ts -->",
  ];
  assertEquals(sectionsOf({ path: "page.md", text: shown.join("\n") }).at(1)?.proofs, [
    "tests/one_test.ts",
    "tests/two_test.ts",
  ]);
  const later = sectionsOf({ path: "page.md", text: [...shown, "", "It takes 6 s."].join("\n") });
  assertEquals(later.at(-1)?.proofs, []);
  assertEquals(later.at(-1)?.figures.map(({ figure }) => figure.text), ["6 s"]);
});

Deno.test("code, generated parts and names with digits have no figures", () => {
  assertEquals(
    unshown(
      "# Page",
      "```yaml",
      "timeout: 30 s",
      "```",
      "<!-- table: `./scripts/deno run -A scripts/tools/docs.ts` writes it -->",
      "| size | 5 s |",
      "<!-- end of table -->",
      "Port 8080, status 404, version 2.7.11, `5 s`, Redis 7.0, HTTP/1.1, [a](5-s.md).",
    ),
    [],
  );
  assertEquals(unshown("<!-- end of table -->", "It takes 5 s.").length, 1);
});
