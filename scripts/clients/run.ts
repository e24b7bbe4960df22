import manifest from "../../deno.json" with { type: "json" };
import { serveGateways } from "./gateway.ts";
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

import { readResults, writeResults } from "./results.ts";

/** A line of a client program: a client that begins, or a cell that it has tried. */
type Line =
  | { readonly client: string; readonly packages: readonly string[] }
  | TriedCell;

/** The verdicts on the cells of one client, by shot, provider type and set. */
type Verdicts = Map<string, Verdict>;

/**
 * Runs the npm clients over gateways that it serves; returns their results. `files` chooses clients by
 * the names of their files, without the ending; empty runs all.
 */
export async function runNodeClients(
  date: string,
  files: readonly string[] = [],
): Promise<Results> {
  await using gateways = serveGateways();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "--config",
      new URL("../../deno.json", import.meta.url).pathname,
      new URL("node/main.ts", import.meta.url).pathname,
      JSON.stringify(gateways.urls),
      ...files,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  });
  const { code, stdout } = await child.output();
  if (code !== 0) throw new Error(`the client program ended with status ${code}`);
  const clients: Record<string, ClientResult> = {};
  let verdicts: Verdicts = new Map();
  for (const line of linesOf(new TextDecoder().decode(stdout))) {
    if ("client" in line) {
      verdicts = new Map();
      clients[line.client] = { packages: line.packages.map(withVersion), rows: {} };
      continue;
    }
    const title = Object.keys(clients).at(-1) ?? "";
    verdicts.set(
      nameOf(line.shot, line.type, line.set),
      verdictOf(line, await gateways.reportOf(line.key)),
    );
    const packages = clients[title]?.packages ?? [];
    clients[title] = { packages, rows: rowsOf(verdicts) };
  }
  return { date, clients };
}

function linesOf(text: string): readonly Line[] {
  return text.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

function nameOf(...names: readonly string[]): string {
  return names.join(" ");
}

function rowsOf(verdicts: Verdicts): ClientResult["rows"] {
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

/** Returns a package of the import map with its exact version. */
function withVersion(name: string): string {
  const imports: Readonly<Record<string, string>> = manifest.imports;
  const specifier = imports[name];
  if (specifier === undefined) throw new Error(`${name} is not in the import map of deno.json`);
  return specifier.replace("npm:", "");
}

if (import.meta.main) {
  const results = await runNodeClients(new Date().toISOString().slice(0, 10), Deno.args);
  const before = Deno.args.length === 0 ? {} : (await readResults("node")).clients;
  await writeResults("node", { ...results, clients: { ...before, ...results.clients } });
}
