import { parseOptions } from "../../scripts/bench/options.ts";
import { GENERATED_PAGES } from "../../scripts/tools/docs.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { pages } from "./pages.ts";
import { sectionsOf, unshownPromises } from "./promises.ts";
import { commandsOf } from "./shell.ts";
import { taskProblem } from "./tasks.ts";

const ROOT = new URL("../../", import.meta.url);

/** The README and the written pages of `docs/`. Generated ones say what the code says. */
const promising = pages.filter(({ path }) =>
  (path === "README.md" || path.startsWith("docs/")) && GENERATED_PAGES[path] === undefined
);

/** Returns the problem of what shows a promise; null if it is a test or a command of the repository. */
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
    const text = await Deno.readTextFile(new URL(proof, ROOT)).catch(() => "");
    return /^ *(?:Deno\.test|browserTest|test\w*)\(/m.test(text) ? null : "the file has no test";
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

Deno.test("every figure and promise of the README and the documentation names what shows it", () => {
  assertEquals(unshownPromises(promising), []);
  const promises = promising.flatMap(sectionsOf).flatMap((section) => section.promises);
  assert(promises.length > 300, `${promises.length}`);
});

Deno.test("what shows a promise of the documentation is a test, a row of the benchmark or a task of the repository", async () => {
  const problems: string[] = [];
  for (const { name, proofs } of promising.flatMap(sectionsOf)) {
    for (const proof of proofs) {
      const problem = await proofProblem(proof);
      if (problem !== null) problems.push(`${name}: ${proof}: ${problem}`);
    }
  }
  assertEquals(problems, []);
});

Deno.test("a test that is missing, a row that the benchmark does not have and prose show no promise", async () => {
  for (
    const proof of [
      "tests/docs/missing_test.ts",
      "tests/docs/promises.ts",
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
      "tests/docs/promises_test.ts",
      "tests/docs/",
      "./scripts/deno task bench --rounds 5 --only small --peer nginx",
      "./scripts/deno task test tests/docs/",
    ]
  ) assertEquals(await proofProblem(proof), null, proof);
});

function unshown(...lines: readonly string[]): readonly string[] {
  return unshownPromises([{ path: "page.md", text: lines.join("\n") }]);
}

Deno.test("a figure whose section names nothing that shows it is listed with its place", () => {
  assertEquals(unshown("# Page", "", "A request takes 500 ms."), [
    'page.md:3 "500 ms" (page.md: Page)',
  ]);
  assertEquals(
    unshown("# Page", "It costs 12 to 15 µs, 3.5 MiB, 20% more, 2 kB/s and is twice as fast.")
      .length,
    5,
  );
});

Deno.test("a guarantee whose section names nothing that shows it is listed with its place", () => {
  assertEquals(unshown("## Rules", "- Keys are never sent.", "", "| Always | at once |"), [
    'page.md:2 "never" (page.md: Rules)',
    'page.md:4 "Always" (page.md: Rules)',
    'page.md:4 "at once" (page.md: Rules)',
  ]);
});

Deno.test("a promise is shown by the line of its section, and by that of no other section", () => {
  const shown = [
    "## One",
    "It takes 5 s.",
    "",
    "Shown by `tests/one_test.ts`,",
    "`tests/two_test.ts`.",
  ];
  assertEquals(unshown(...shown), []);
  assertEquals(sectionsOf({ path: "page.md", text: shown.join("\n") }).at(-1)?.proofs, [
    "tests/one_test.ts",
    "tests/two_test.ts",
  ]);
  assertEquals(unshown(...shown, "", "### Two", "It takes 6 s."), [
    'page.md:8 "6 s" (page.md: Two)',
  ]);
});

Deno.test("a promise is shown by a task in a shell block of its section, and by no other command", () => {
  const figure = "It takes 5 s.";
  const block = (command: string) => ["## One", "```sh", command, "```", figure];
  assertEquals(unshown(...block("./scripts/deno task bench --only small")), []);
  assertEquals(unshown(...block("switchyard check")).length, 1);
});

Deno.test("code, generated parts, names with digits and defaults behind a key are no promises", () => {
  assertEquals(
    unshown(
      "# Page",
      "```yaml",
      "timeout: 30 s # never",
      "```",
      "<!-- table: `./scripts/deno run -A scripts/tools/docs.ts` writes it -->",
      "| never | 5 s |",
      "<!-- end of table -->",
      "Port 8080, status 404, version 2.7.11, `5 s never`, `server.body_timeout` (30 s), [a](never.md).",
    ),
    [],
  );
  assertEquals(unshown("<!-- end of table -->", "It takes 5 s.").length, 1);
});
