import { parseOptions } from "../../scripts/bench/options.ts";
import { GENERATED_PAGES } from "../../scripts/tools/docs.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { wrongDefaults } from "./defaults.ts";
import namedTests from "./named_tests.json" with { type: "json" };
import { pages } from "./pages.ts";
import { sectionsOf } from "./promises.ts";
import { strayNamedTests, unshownPromises } from "./proofs.ts";
import { commandsOf } from "./shell.ts";
import { taskProblem } from "./tasks.ts";
import { titlesIn } from "./titles.ts";

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
    return titlesIn(text).length > 0 ? null : "the file has no test";
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

Deno.test("every figure and promise of the README and the documentation is shown by what its section names", () => {
  assertEquals(unshownPromises(promising, namedTests), []);
  const promises = promising.flatMap(sectionsOf).flatMap((section) => section.promises);
  assert(promises.length > 450, `${promises.length}`);
});

Deno.test("a test that is named for a sentence has its sentence on the page", () => {
  assertEquals(strayNamedTests(promising, namedTests), []);
});

Deno.test("a value beside a key of the configuration is the default of that key", () => {
  assertEquals(wrongDefaults(promising), []);
  const text =
    "`server.idle_timeout` (120 s) and `keep_alive`, 5 s, but `server.body_timeout` (31 s)";
  assertEquals(wrongDefaults([{ path: "page.md", text }]), [
    "page.md: `keep_alive` (5 s): the default is 4s",
    "page.md: `server.body_timeout` (31 s): the default is 30s",
  ]);
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

/** Sentences that nothing in the repository shows, each of another kind. */
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
  "Its telescope never sees the moon.",
  "Every telescope has a lens.",
  "Telescopes always see exactly the moon.",
  "No telescope is lost.",
  "Telescopes are guaranteed to see the moon.",
  "A broken telescope is impossible.",
  "Its telescope needs 8137/9137 of the light.",
  "It needs a third of the light.",
  "Several thousand telescopes see it.",
  "It doubles the light.",
  "The telescope has zero overhead.",
  "Not a single telescope breaks.",
  "It is the fastest telescope.",
  "Moons appear in no telescope.",
  "Its lens is faster than the moon.",
  "Telescopes arrive without loss.",
  "A telescope cannot crash.",
  "Telescopes do not break.",
  "Its moons are byte for byte the same.",
  "The telescope survives any winter.",
  "It is fully compatible with the moon.",
  "A look takes 8.137-9.137 ms.",
  "Latency 81.37 ms.",
  "It needs 8.137 megabytes.",
  "It takes 81.37 microseconds.",
  "It costs 81.37 USD.",
  "It holds 8137 telescopes.",
  "The telescope is O(n).",
  "All telescopes are sealed.",
  "Telescopes do not grow.",
  "Its lens is not logged.",
  "Moons rise in order, like telescopes.",
  "Telescopes move without delay.",
  "Its telescope outperforms the moon.",
];

Deno.test("a sentence of each kind that nothing shows is found in every section of the documentation", () => {
  const missed: string[] = [];
  for (const { path, text } of promising) {
    const lines = text.split("\n");
    const places = lines.flatMap((line, at) => line.startsWith("Shown by ") ? [at] : []);
    for (const at of places) {
      const inserted = lines.toSpliced(at, 0, ...UNSHOWN_SENTENCES.map((one) => `- ${one}`), "");
      const page = { path, text: inserted.join("\n") };
      const found = unshownPromises([page], namedTests);
      for (const [index, sentence] of UNSHOWN_SENTENCES.entries()) {
        const place = `${path}:${at + index + 1} `;
        if (!found.some((one) => one.startsWith(place))) missed.push(`${place}${sentence}`);
      }
    }
  }
  assertEquals(missed, []);
});

function unshown(...lines: readonly string[]): readonly string[] {
  return unshownPromises([{ path: "page.md", text: lines.join("\n") }])
    .map((line) => line.replace(/(?<=\)): .*$/, ""));
}

Deno.test("a figure whose section names nothing that shows it is listed with its place", () => {
  assertEquals(unshown("# Page", "", "A request takes 500 ms."), [
    'page.md:3 "500 ms" (page.md: Page)',
  ]);
});

Deno.test("a guarantee whose section names nothing that shows it is listed with its place", () => {
  assertEquals(unshown("## Rules", "- Keys are never sent.", "", "| Always | at once |"), [
    'page.md:2 "never" (page.md: Rules)',
    'page.md:4 "Always" (page.md: Rules)',
  ]);
});

Deno.test("a figure is shown by its number in a named test, or by a default", () => {
  const body = "Shown by `tests/server/body_timeout_test.ts`.";
  assertEquals(unshown("## One", "It takes 29,999 ms.", "", body), []);
  assertEquals(unshown("## One", "It takes 31 s.", "", body).length, 1);
  assertEquals(unshown("## One", "It takes 120 s.", "", body).length, 1);
  assertEquals(unshown("## One", "`server.idle_timeout` takes 120 s.", "", body), []);
});

Deno.test("a figure that only the code under test has is not shown, because the test would pass with any other one", () => {
  // `LEASE_MS`, which the code of this test imports.
  const test = "tests/state/lease_renewal_test.ts";
  assertEquals(unshown("## One", "It ends after 30 s.", "", `Shown by \`${test}\`.`).length, 1);
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

Deno.test("a guarantee is shown by a named test whose title is about it, or that is named for the sentence", () => {
  const sentence = "The upload is never held twice.";
  const test = "tests/server/body_timeout_test.ts";
  const page = {
    path: "page.md",
    text: `## One\n${sentence}\n\nShown by \`${test}\`.`,
  };
  assertEquals(unshownPromises([page]).length, 1);
  const title = "a body that stalls is 408 after the timeout";
  assertEquals(unshownPromises([page], { "page.md": { "The upload": `${test}: ${title}` } }), [
    `page.md:2 "never" (page.md: One): the page does not name this test: ${test}: ${title}`,
  ]);
  const known = "a key that has expired is refused";
  assertEquals(strayNamedTests([page], { "page.md": { "Another sentence": known } }), [
    "page.md: Another sentence",
  ]);
});

Deno.test("a promise is shown by the next line of its section, and by that of no other section", () => {
  const shown = [
    "## One",
    "It takes 5 s.",
    "",
    "Shown by `tests/one_test.ts`,",
    "`tests/two_test.ts`.",
  ];
  assertEquals(sectionsOf({ path: "page.md", text: shown.join("\n") }).at(1)?.proofs, [
    "tests/one_test.ts",
    "tests/two_test.ts",
  ]);
  const later = sectionsOf({ path: "page.md", text: [...shown, "", "It takes 6 s."].join("\n") });
  assertEquals(later.at(-1)?.proofs, []);
  assertEquals(later.at(-1)?.promises.map(({ text }) => text), ["6 s"]);
});

Deno.test("code, generated parts and names with digits are no promises", () => {
  assertEquals(
    unshown(
      "# Page",
      "```yaml",
      "timeout: 30 s # never",
      "```",
      "<!-- table: `./scripts/deno run -A scripts/tools/docs.ts` writes it -->",
      "| never | 5 s |",
      "<!-- end of table -->",
      "Port 8080, status 404, version 2.7.11, `5 s never`, Redis 7.0, HTTP/1.1, [a](never.md).",
    ),
    [],
  );
  assertEquals(unshown("<!-- end of table -->", "It takes 5 s.").length, 1);
});
