import manifest from "../../../deno.json" with { type: "json" };
import { type ClientProgram, URLS } from "../run.ts";

/** Returns the program that runs the npm clients; their packages come from the import map. */
export function nodePrograms(clients: readonly string[]): Promise<readonly ClientProgram[]> {
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  const program = new URL("../main.ts", import.meta.url).pathname;
  const command = [
    Deno.execPath(),
    ..."run --quiet --allow-net=127.0.0.1 --allow-env --allow-read --allow-sys".split(" "),
    "--config",
    config,
    program,
    new URL("clients/", import.meta.url).pathname,
    URLS,
    ...clients,
  ];
  return Promise.resolve([{ command, versionsOf: (packages) => packages.map(withVersion) }]);
}

/** Returns a package of the import map with its exact version. */
function withVersion(name: string): string {
  const imports: Readonly<Record<string, string>> = manifest.imports;
  const specifier = imports[name];
  if (specifier === undefined) throw new Error(`${name} is not in the import map of deno.json`);
  return specifier.replace("npm:", "");
}
