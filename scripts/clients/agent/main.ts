import { isolated, pinnedBinary, versionOf } from "./binary.ts";
import { SENTENCE_USES } from "./repairs.ts";
import {
  differences,
  pageOf,
  PROVIDER_TYPES,
  type ProviderType,
  type ResultRow,
  type Results,
  RESULTS_FILE,
  type Verdict,
} from "./results.ts";
import { runSession, USUAL } from "./session.ts";
import { type Use, USES } from "./uses.ts";

/** Arguments of the script. */
export interface Arguments {
  /** Rows whose title has this text are run; empty runs all. */
  readonly text: string;
  /** Path of the client; null takes the pinned one. */
  readonly binary: string | null;
  /** The results are written to their file. */
  readonly write: boolean;
  /** The script already runs without a network. */
  readonly inside: boolean;
}

/** Returns the arguments of the script; null if one is not known. */
export function parseArguments(args: readonly string[]): Arguments | null {
  const [first, ...rest] = args;
  if (first === undefined) return { text: "", binary: null, write: false, inside: false };
  const valueCount = first === "--binary" ? 1 : 0;
  const others = parseArguments(rest.slice(valueCount));
  if (others === null) return null;
  if (first === "--binary") return rest[0] === undefined ? null : { ...others, binary: rest[0] };
  if (first === "--write") return { ...others, write: true };
  if (first === "--inside") return { ...others, inside: true };
  return first.startsWith("--") ? null : { ...others, text: first };
}

async function runUse(binary: string, use: Use, type: ProviderType): Promise<Verdict> {
  return use.check(await runSession(binary, type, { ...USUAL, ...use.options() }), type);
}

/** Runs rows over the provider types; prints each when it is complete. */
async function runRows(binary: string, uses: readonly Use[]): Promise<readonly ResultRow[]> {
  const rows: ResultRow[] = [];
  for (const use of uses) {
    const verdicts: Partial<Record<ProviderType, Verdict>> = {};
    for (const type of use.types ?? PROVIDER_TYPES) {
      verdicts[type] = await runUse(binary, use, type);
    }
    rows.push({ title: use.title, verdicts });
    console.error(use.title, JSON.stringify(verdicts));
  }
  return rows;
}

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseArguments(args);
  if (parsed === null) {
    console.error("Arguments: [TEXT] [--binary PATH] [--write]");
    return 2;
  }
  const binary = parsed.binary ?? await pinnedBinary();
  if (!parsed.inside) {
    const again = [Deno.execPath(), "run", "--allow-all", import.meta.filename ?? ""];
    const command = await isolated([...again, ...args, "--binary", binary, "--inside"]);
    if (command !== null) return await statusOf(command);
    console.error(
      "The network stays reachable; the client is sent to a proxy that does not exist.",
    );
  }
  const version = await versionOf(binary);
  if (version === null) {
    console.error(`Claude Code does not start: ${binary}. Name another with --binary.`);
    return 1;
  }
  const chosen = (uses: readonly Use[]) => uses.filter(({ title }) => title.includes(parsed.text));
  const results: Results = {
    date: new Date().toISOString().slice(0, 10),
    version,
    uses: await runRows(binary, chosen(USES)),
    sentences: await runRows(binary, chosen(SENTENCE_USES)),
  };
  console.log(pageOf(results));
  const known: Results = JSON.parse(await Deno.readTextFile(RESULTS_FILE));
  const different = [
    ...differences(results.uses, known.uses),
    ...differences(results.sentences, known.sentences),
  ];
  for (const line of different) console.log(line);
  console.log(`${different.length} verdicts are not as expected`);
  if (parsed.write) {
    await Deno.writeTextFile(RESULTS_FILE, `${JSON.stringify(results, null, 2)}\n`);
  }
  const all = [...results.uses, ...results.sentences].flatMap(({ verdicts }) =>
    Object.values(verdicts)
  );
  const isRight = parsed.write
    ? !all.some((verdict) => verdict.startsWith("fail"))
    : all.length > 0 && different.length === 0;
  return isRight ? 0 : 1;
}

async function statusOf([command = "", ...args]: readonly string[]): Promise<number> {
  const { code } = await new Deno.Command(command, { args }).spawn().status;
  return code;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
