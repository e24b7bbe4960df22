import { cliPrograms } from "./cli/programs.ts";
import { type MatrixGateways, serveGateways } from "./gateway.ts";
import {
  CAPABILITY_SETS,
  cellOf,
  type ClientResult,
  PROVIDER_TYPES,
  type Results,
  type Row,
  type ShotName,
  SHOTS,
  type TriedCell,
  type Verdict,
  verdictOf,
} from "./matrix.ts";
import { nodePrograms } from "./node/programs.ts";
import { pythonPrograms } from "./python/programs.ts";
import { differences, type Part, PARTS, readResults, writeResults } from "./results.ts";

/** A program that runs clients and prints what each cell has shown. */
export interface ClientProgram {
  /** The command; the JSON of the gateways' base URLs takes the place of `URLS`. */
  readonly command: readonly string[];
  /** Variables of its environment besides those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Returns packages with their exact versions, from those that the program names. */
  versionsOf(packages: readonly string[]): readonly string[];
}

/** Prepares the programs of a part that run these clients; without names, all of them. */
export type Programs = (clients: readonly string[]) => Promise<readonly ClientProgram[]>;

/** Placeholder for the base URLs in the arguments of a program. */
export const URLS = "{urls}";

const PROGRAMS: Readonly<Record<Part, Programs>> = {
  node: nodePrograms,
  python: pythonPrograms,
  cli: cliPrograms,
};

/** A line of a client program: a client that begins, or a cell that it has tried. */
type Line =
  | { readonly client: string; readonly packages: readonly string[] }
  | TriedCell;

/**
 * Runs the clients of a part over gateways that it serves; returns their results. `chosen` has the
 * names of clients' files, without the ending; empty runs all. Fails if one of them runs no client.
 */
export async function runClients(part: Part, chosen: readonly string[] = []): Promise<Results> {
  const programs = await PROGRAMS[part](chosen);
  await using gateways = serveGateways();
  const clients: Record<string, ClientResult> = {};
  for (const program of programs) {
    Object.assign(clients, await runProgram(program, gateways));
  }
  const count = Object.keys(clients).length;
  if (count < chosen.length) throw new Error(`${chosen.join(", ")}: only ${count} of them ran`);
  return { date: new Date().toISOString().slice(0, 10), clients };
}

async function runProgram(
  { command, environment = {}, versionsOf }: ClientProgram,
  gateways: MatrixGateways,
): Promise<Results["clients"]> {
  const [path = "", ...args] = command;
  const child = new Deno.Command(path, {
    args: args.map((arg) => arg === URLS ? JSON.stringify(gateways.urls) : arg),
    env: environment,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await child.output();
  if (code !== 0) throw new Error(`${command.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  const clients: Record<string, ClientResult> = {};
  let verdicts = new Map<string, Verdict>();
  let title = "";
  for (const line of linesOf(new TextDecoder().decode(stdout))) {
    if ("client" in line) {
      verdicts = new Map();
      title = line.client;
      clients[title] = { packages: versionsOf(line.packages), rows: {} };
      continue;
    }
    const verdict = verdictOf(line, await gateways.reportOf(line.key));
    verdicts.set(nameOf(line.shot, line.type, line.set), verdict);
    clients[title] = { packages: clients[title]?.packages ?? [], rows: rowsOf(verdicts) };
  }
  return clients;
}

function linesOf(text: string): readonly Line[] {
  return text.split("\n").filter((line) => /^\{"(?:client|key)":/.test(line))
    .map((line) => JSON.parse(line));
}

function nameOf(...names: readonly string[]): string {
  return names.join(" ");
}

function rowsOf(verdicts: ReadonlyMap<string, Verdict>): ClientResult["rows"] {
  const rows: Partial<Record<ShotName, Row>> = {};
  for (const shot of Object.keys(SHOTS) as ShotName[]) {
    const cells = PROVIDER_TYPES.flatMap((type) => {
      const [declared, starter] = CAPABILITY_SETS.map((set) =>
        verdicts.get(nameOf(shot, type, set))
      );
      return declared === undefined || starter === undefined
        ? []
        : [[type, cellOf(declared, starter)] as const];
    });
    if (cells.length > 0) rows[shot] = Object.fromEntries(cells);
  }
  return rows;
}

if (import.meta.main) {
  const isWriting = Deno.args.includes("--write");
  const [named = "node", ...chosen] = Deno.args.filter((arg) => arg !== "--write");
  const part = PARTS.find((one) => one === named);
  if (part === undefined) {
    throw new Error(`There is no part ${named}; there are ${PARTS.join(", ")}.`);
  }
  const results = await runClients(part, chosen);
  const { clients: known, date } = await readResults(part);
  const titles = Object.keys(chosen.length === 0 ? known : results.clients);
  const expected = Object.entries(known).filter(([title]) => titles.includes(title));
  const different = differences(results.clients, Object.fromEntries(expected));
  for (const line of different) console.log(line);
  const count = Object.keys(results.clients).length;
  console.log(`${count} clients, ${different.length} cells are not as expected`);
  if (isWriting) {
    const before = chosen.length === 0 ? {} : known;
    const clients = Object.entries({ ...before, ...results.clients })
      .toSorted(([one], [other]) => one < other ? -1 : 1);
    // The date on the page is that of the last run of all clients.
    await writeResults(part, {
      date: chosen.length === 0 ? results.date : date,
      clients: Object.fromEntries(clients),
    });
  }
  Deno.exitCode = count > 0 && (isWriting || different.length === 0) ? 0 : 1;
}
