import { ROW_NAMES } from "../../scripts/bench/options.ts";
import { isDefaultOf } from "./defaults.ts";
import { hasFigure, type ProgramNumbers, programNumbers } from "./figures.ts";
import { type Page, quoted } from "./pages.ts";
import { type DocumentedFigure, type Section, sectionsOf } from "./sections.ts";

const ROOT = new URL("../../", import.meta.url);

/** The scripts behind the commands that measure, with whose numbers a page may explain them. */
const MEASURING_SCRIPTS: Readonly<Record<string, string>> = {
  attacks: "scripts/attacks/",
  bench: "scripts/bench/",
  soak: "scripts/soak/",
};

/**
 * Returns a line for each figure that nothing shows. Its number must be in the tests that its
 * section names, in what these import of the tests and scripts, in the default of a key in its
 * paragraph, or in a row of the benchmark that its paragraph names.
 */
export function unshownFigures(pages: readonly Page[]): readonly string[] {
  return pages.flatMap(sectionsOf).flatMap((section) => {
    if (section.figures.length === 0) return [];
    const evidence = readEvidence(section);
    return section.figures.flatMap((documented) => {
      const problem = problemOf(documented, section, evidence);
      const { place, figure } = documented;
      return problem === null ? [] : [`${place} "${figure.text}" (${section.name}): ${problem}`];
    });
  });
}

/** Proofs of a section. */
interface Evidence {
  readonly numbers: ProgramNumbers;
  /** The rows of the benchmark, if a command of the section runs it. */
  readonly rows: readonly string[];
}

/** Evidence by the proofs of a section. */
const known = new Map<string, Evidence>();

function readEvidence({ proofs }: Section): Evidence {
  const name = proofs.join(" ");
  const evidence = known.get(name) ?? findEvidence(proofs);
  known.set(name, evidence);
  return evidence;
}

function findEvidence(proofs: readonly string[]): Evidence {
  const tests = proofs.flatMap(testFilesOf);
  const folders = proofs.flatMap((proof) => MEASURING_SCRIPTS[taskOf(proof)] ?? []);
  const files = new Set(tests.flatMap(programOf).concat(folders.flatMap(filesIn)));
  return {
    numbers: programNumbers([...files].map(textOf).join("\n")),
    rows: proofs.some((proof) => taskOf(proof) === "bench") ? ROW_NAMES : [],
  };
}

function problemOf(
  { figure, block }: DocumentedFigure,
  { proofs }: Section,
  { numbers, rows }: Evidence,
): string | null {
  if (proofs.length === 0) return "no test or command is named";
  const words = quoted(block);
  const isShown = hasFigure(numbers, figure) || isDefaultOf(words, figure) ||
    words.some((word) => rows.includes(word));
  return isShown ? null : "the named tests do not have this number";
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
 * A test with what it imports of the tests and scripts. A number that only the code under test has
 * is shown by no test: the test would pass with any other one.
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
