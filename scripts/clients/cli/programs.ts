import { folderFor, makeOnce, pythonWith, runCommand } from "../../tools/package_cache.ts";
import type { Client } from "../client.ts";
import { type ClientProgram, URLS } from "../run.ts";

const CLIENTS = new URL("clients/", import.meta.url);

/** A file in `clients/`. */
export interface CliClient {
  /** Its name without the ending. */
  readonly name: string;
  /** The packages with their versions: `opencode-ai@1.18.33`, from PyPI `aider-chat==0.86.2`. */
  readonly packages: readonly string[];
}

/** Returns the command-line clients, in the order of their names. */
export async function cliClients(): Promise<readonly CliClient[]> {
  const clients: CliClient[] = [];
  for (const file of [...Deno.readDirSync(CLIENTS)].map(({ name }) => name).toSorted()) {
    const { client }: { client: Client } = await import(new URL(file, CLIENTS).href);
    clients.push({ name: file.replace(/\.ts$/, ""), packages: client.packages });
  }
  return clients;
}

/**
 * Returns one program for each command-line client. Its packages are installed in the user's
 * cache folder where they are missing.
 */
export async function cliPrograms(chosen: readonly string[]): Promise<readonly ClientProgram[]> {
  const programs: ClientProgram[] = [];
  for (const { name, packages } of await cliClients()) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const bin = await installed(packages);
    programs.push({
      command: [
        Deno.execPath(),
        ..."run --quiet --allow-all --no-config".split(" "),
        new URL("../main.ts", import.meta.url).pathname,
        CLIENTS.pathname,
        URLS,
        name,
      ],
      environment: { CLIENT_BIN: bin },
      versionsOf: (named) => named,
    });
  }
  return programs;
}

/** Installs packages with npm or pip; returns the folder with their commands. */
export async function installed(packages: readonly string[]): Promise<string> {
  if (packages.every((name) => name.includes("=="))) {
    return (await pythonWith(packages)).replace(/\/python$/, "");
  }
  const folder = folderFor("clients", packages);
  await makeOnce(folder, () => {
    const options = ["--no-audit", "--no-fund", "--silent"];
    return runCommand("npm", ["install", ...options, "--prefix", folder, ...packages]);
  });
  return `${folder}/node_modules/.bin`;
}
