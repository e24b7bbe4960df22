import { ROW_NAMES } from "../../scripts/bench/options.ts";
import { isDefaultOf } from "./defaults.ts";
import { hasFigure, type ProgramNumbers, programNumbers } from "./figures.ts";
import { type Page, quoted } from "./pages.ts";
import { type DocumentedPromise, type Section, sectionsOf } from "./promises.ts";
import { newTitleComparison, testsIn, type TitledTest } from "./titles.ts";

const ROOT = new URL("../../", import.meta.url);

/**
 * Tests of sentences that have other words than their title. By page: the beginning of the sentence,
 * and its test as `FILE: TITLE`.
 */
export type NamedTests = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The scripts behind the commands that measure, with whose numbers a page may explain them. */
const MEASURING_SCRIPTS: Readonly<Record<string, string>> = {
  bench: "scripts/bench/",
  soak: "scripts/soak/",
};

const ALL_TESTS = filesIn("tests/").filter((path) => path.endsWith("_test.ts"))
  .flatMap((path) => testsIn(path, textOf(path)));
const comparison = newTitleComparison(ALL_TESTS);

/**
 * Returns a line for each promise that nothing shows. A figure needs its number in the tests that its
 * section names, in what these import of the tests and scripts, in the default of a key in its paragraph, or
 * in a row of the benchmark that its paragraph names. A guarantee needs a named test whose title is about it.
 */
export function unshownPromises(
  pages: readonly Page[],
  named: NamedTests = {},
): readonly string[] {
  return pages.flatMap((page) =>
    sectionsOf(page).flatMap((section) => {
      if (section.promises.length === 0) return [];
      const evidence = evidenceOf(section);
      return section.promises.flatMap((promise) => {
        const problem = problemOf(promise, evidence, named[page.path] ?? {});
        return problem === null
          ? []
          : [`${promise.place} "${promise.text}" (${section.name}): ${problem}`];
      });
    })
  );
}

/** What the proofs of a section have. */
interface Evidence {
  readonly proofs: readonly string[];
  readonly tests: readonly TitledTest[];
  readonly numbers: ProgramNumbers;
  /** The rows of the benchmark, if a command of the section runs it. */
  readonly rows: readonly string[];
}

const known = new Map<string, Evidence>();

function evidenceOf({ proofs }: Section): Evidence {
  const key = proofs.join();
  const found = known.get(key) ?? readEvidence(proofs);
  known.set(key, found);
  return found;
}

function readEvidence(proofs: readonly string[]): Evidence {
  const tests = new Set(proofs.flatMap(testFilesOf));
  const folders = proofs.flatMap((proof) => MEASURING_SCRIPTS[taskOf(proof)] ?? []);
  const files = new Set([...tests].flatMap(programOf).concat(folders.flatMap(filesIn)));
  return {
    proofs,
    tests: ALL_TESTS.filter(({ path }) => tests.has(path)),
    numbers: programNumbers([...files].map(textOf).join("\n")),
    rows: proofs.some((proof) => taskOf(proof) === "bench") ? ROW_NAMES : [],
  };
}

function problemOf(
  promise: DocumentedPromise,
  { proofs, tests, numbers, rows }: Evidence,
  named: Readonly<Record<string, string>>,
): string | null {
  if (proofs.length === 0) return "no test or command is named";
  if (promise.kind === "figure") {
    const words = quoted(promise.block);
    const isShown = hasFigure(numbers, promise.figure) || isDefaultOf(words, promise.figure) ||
      words.some((word) => rows.includes(word));
    return isShown ? null : "the named tests do not have this number";
  }
  const [, test] = Object.entries(named)
    .find(([beginning]) => promise.sentence.startsWith(beginning)) ?? [];
  if (test === undefined) {
    const isShown = tests.some((one) => comparison.isAbout(promise.sentence, one));
    return isShown ? null : `no named test has a title about: ${promise.sentence}`;
  }
  const isNamed = tests.some(({ path, title }) => test === `${path}: ${title}`);
  return isNamed ? null : `the page does not name this test: ${test}`;
}

/** Returns a line for each named test whose sentence is no longer on its page. */
export function strayNamedTests(pages: readonly Page[], named: NamedTests): readonly string[] {
  return Object.entries(named).flatMap(([path, tests]) => {
    const sentences = pages.filter((page) => page.path === path).flatMap(sectionsOf)
      .flatMap(({ promises }) => promises)
      .flatMap((promise) => promise.kind === "guarantee" ? [promise.sentence] : []);
    return Object.keys(tests)
      .filter((beginning) => !sentences.some((one) => one.startsWith(beginning)))
      .map((beginning) => `${path}: ${beginning}`);
  });
}

function taskOf(proof: string): string {
  return /^\.\/scripts\/deno task (\w+)/.exec(proof)?.[1] ?? "";
}

function testFilesOf(proof: string): readonly string[] {
  if (proof.endsWith("_test.ts")) return [proof];
  if (!/^tests\/[\w/]+\/$/.test(proof)) return [];
  return filesIn(proof).filter((path) => path.endsWith("_test.ts"));
}

/**
 * A test with what it imports of the tests and scripts. A number that only the code under test has is shown
 * by no test: the test would pass with any other one.
 */
function programOf(test: string): readonly string[] {
  return [test, ...importsOf(test).filter((name) => !name.startsWith("src/"))];
}

function importsOf(path: string): readonly string[] {
  return [...textOf(path).matchAll(/ from "(\.[^"]+\.ts)"/g)]
    .map(([, name = ""]) => new URL(name, new URL(path, ROOT)).pathname.slice(ROOT.pathname.length))
    .filter((name) => !name.startsWith("tests/support/"));
}

function filesIn(folder: string): readonly string[] {
  try {
    return [...Deno.readDirSync(new URL(folder, ROOT))].flatMap(({ name, isDirectory }) =>
      isDirectory ? filesIn(`${folder}${name}/`) : name.endsWith(".ts") ? [`${folder}${name}`] : []
    );
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(new URL(path, ROOT));
  } catch {
    return "";
  }
}
