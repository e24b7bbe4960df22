import { reportRun } from "./runs.ts";

/** Cases that a referee finds red, as the file next to its script has them. */
export interface RedCases {
  /** Names of cases, in which `*` is for any text. */
  readonly cases: readonly string[];
  /** Why they are red, and why that is right or not ours. */
  readonly reason: string;
}

/** Result of a referee: the number of its cases, and the red ones with its words. */
export interface Finding {
  readonly tried: number;
  readonly red: ReadonlyMap<string, string>;
}

/** How a finding differs from what was expected. */
export interface Verdict {
  /** Red cases that were not expected, with the words of the referee. */
  readonly fresh: readonly (readonly [name: string, words: string])[];
  /** Expected cases of which none is red. */
  readonly stale: readonly string[];
  /** True if something was tried and nothing differs. */
  readonly isRight: boolean;
}

/** Compares a finding with the red cases that were expected. */
export function compare({ tried, red }: Finding, expected: readonly RedCases[]): Verdict {
  const patterns = expected.flatMap(({ cases }) => cases);
  const fresh = [...red].filter(([name]) => !patterns.some((one) => matches(one, name)));
  const stale = patterns.filter((one) => ![...red.keys()].some((name) => matches(one, name)));
  return { fresh, stale, isRight: tried > 0 && fresh.length === 0 && stale.length === 0 };
}

/** Prints what was expected and what was found; returns true if nothing differs. */
function printVerdict(finding: Finding, expected: readonly RedCases[]): boolean {
  const { fresh, stale, isRight } = compare(finding, expected);
  for (const { cases, reason } of expected) {
    console.log(`expected red: ${reason}`);
    for (const name of cases) console.log(`  ${stale.includes(name) ? "NOT RED" : "red"}  ${name}`);
  }
  for (const [name, words] of fresh) console.log(`NEW RED ${name}\n  ${words}`);
  console.log(
    `${finding.tried} cases, ${finding.red.size} red: ${fresh.length} of them new; ` +
      `${stale.length} expected ones are not red`,
  );
  return isRight;
}

/**
 * Judges the finding of a referee and reports its run if it is as expected; returns the status to
 * end with. `cases` is what the referee calls its cases.
 */
export async function judge(
  name: string,
  packages: readonly string[],
  finding: Finding,
  expected: readonly RedCases[],
  cases = "cases",
): Promise<0 | 1> {
  if (!printVerdict(finding, expected)) return 1;
  const { tried, red } = finding;
  await reportRun(name, packages, `${tried} ${cases}, ${red.size} red, as listed`);
  return 0;
}

function matches(pattern: string, name: string): boolean {
  const parts = pattern.split("*").map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(name);
}
