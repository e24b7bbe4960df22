/** Provider types of the columns; `responses` is an upstream that has the Responses API itself. */
export const PROVIDER_TYPES = ["messages", "compat", "local", "responses"] as const;

/** One of the provider types. */
export type ProviderType = typeof PROVIDER_TYPES[number];

/** Version of Claude Code that the script runs. */
export const VERSION = "2.1.330";

/** Client key of the gateway; it opens nothing else. */
export const KEY = "sk-claude-code";

/** Result of a row: `pass`, `pass: ` with what differs, or `fail: ` with the reason. */
export type Verdict = `pass${string}` | `fail: ${string}`;

/** One row of results by provider type. */
export interface ResultRow {
  readonly title: string;
  readonly verdicts: Readonly<Partial<Record<ProviderType, Verdict>>>;
}

/** Results of a run, as their file has them. */
export interface Results {
  /** Day of the run, such as `2026-01-31`. */
  readonly date: string;
  /** Version that the client itself has printed. */
  readonly version: string;
  /** The list of uses, then the sentences that the client repairs its requests by. */
  readonly uses: readonly ResultRow[];
  readonly sentences: readonly ResultRow[];
}

/** Returns the file with the results of the last run that was written. */
export const RESULTS_FILE = new URL("results.json", import.meta.url);

/** Returns the rows as a Markdown table with one column for each provider type. */
export function tableOf(head: string, rows: readonly ResultRow[]): string {
  const lines = rows.map(({ title, verdicts }) => [
    title,
    ...PROVIDER_TYPES.map((type) => verdicts[type] ?? "does not apply"),
  ]);
  return [[head, ...PROVIDER_TYPES], PROVIDER_TYPES.map(() => "---").concat("---"), ...lines]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");
}

/** Returns both tables of a run with its client version and day. */
export function pageOf({ date, version, uses, sentences }: Results): string {
  return [
    `Claude Code ${version}, run on ${date}:`,
    tableOf("use", uses),
    tableOf("sentence", sentences),
  ].join("\n\n");
}

/** Returns a sentence about each verdict of some rows that is not that of the results. */
export function differences(
  found: readonly ResultRow[],
  expected: readonly ResultRow[],
): readonly string[] {
  return found.flatMap(({ title, verdicts }) => {
    const known = expected.find((row) => row.title === title)?.verdicts ?? {};
    return PROVIDER_TYPES.filter((type) => verdicts[type] !== known[type]).map((type) =>
      `${title} over ${type}: ${verdicts[type] ?? "not run"}; expected: ${known[type] ?? "nothing"}`
    );
  });
}
