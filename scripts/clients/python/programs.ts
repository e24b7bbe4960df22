import { pythonWith } from "../../tools/package_cache.ts";
import { type ClientProgram, URLS } from "../run.ts";

const CLIENTS = new URL("clients/", import.meta.url);

/**
 * Returns one program for each Python client, each in a virtual environment with the packages that
 * its file names in a line `# pip: NAME==VERSION …`. Clients with the same packages share one. The
 * environments are made where they are missing, in the user's cache folder; `PYTHON` is the Python
 * that makes them, `python3` when it is not set.
 */
export async function pythonPrograms(
  chosen: readonly string[],
): Promise<readonly ClientProgram[]> {
  const programs: ClientProgram[] = [];
  for (const { name, packages } of await pythonClients()) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const python = await pythonWith(packages);
    programs.push({
      command: [python, new URL("main.py", import.meta.url).pathname, URLS, name],
      environment: ENVIRONMENT,
      versionsOf: () => packages,
    });
  }
  return programs;
}

/** A file in `clients/`. */
export interface PythonClient {
  /** Its name without the ending. */
  readonly name: string;
  /** The packages with their exact versions, such as `openai==3.54.0`. */
  readonly packages: readonly string[];
}

/** Returns the Python clients, in the order of their names. */
export async function pythonClients(): Promise<readonly PythonClient[]> {
  const clients: PythonClient[] = [];
  for (const { name } of [...Deno.readDirSync(CLIENTS)].toSorted(byName)) {
    if (!name.endsWith(".py")) continue;
    const [, list] = /^# pip: (.+)$/m.exec(await Deno.readTextFile(new URL(name, CLIENTS))) ?? [];
    if (list === undefined) throw new Error(`${name} has no line "# pip: NAME==VERSION"`);
    clients.push({ name: name.replace(/\.py$/, ""), packages: list.split(" ") });
  }
  return clients;
}

function byName(one: Deno.DirEntry, other: Deno.DirEntry): number {
  return one.name < other.name ? -1 : 1;
}

/** Keeps the clients from sending traces and from fetching tables. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  PYTHONDONTWRITEBYTECODE: "1",
  OPENAI_AGENTS_DISABLE_TRACING: "1",
  LITELLM_LOCAL_MODEL_COST_MAP: "True",
  HAYSTACK_TELEMETRY_ENABLED: "False",
};
