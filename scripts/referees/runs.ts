/** The last run of a referee, as its page shows it. */
export interface RefereeRun {
  /** Day of the run, such as `2026-01-31`. */
  readonly date: string;
  /** Packages or programs with their exact versions. */
  readonly versions: readonly string[];
  readonly found: string;
}

const FILE = new URL("runs.json", import.meta.url);

/** Returns the last run of each referee by the name of its script. */
export async function readRuns(): Promise<Readonly<Record<string, RefereeRun>>> {
  return JSON.parse(await Deno.readTextFile(FILE));
}

/**
 * Prints what a referee has found whose verdict is the expected one. With `--write` the run takes
 * the place of its last one in the file from which the page is written.
 */
export async function reportRun(
  name: string,
  versions: readonly string[],
  found: string,
): Promise<void> {
  console.log(found);
  if (!Deno.args.includes("--write")) return;
  const run: RefereeRun = { date: new Date().toISOString().slice(0, 10), versions, found };
  const runs = { ...await readRuns(), [name]: run };
  await Deno.writeTextFile(FILE, `${JSON.stringify(runs, null, 2)}\n`);
}
