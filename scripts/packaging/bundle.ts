import { relative } from "node:path";
import { isObject, parseJson } from "../../src/core/json/json.ts";

/** Folders from which a bundle is built. */
export interface Places {
  /** Working directory of the commands: paths in the code are relative to it. */
  readonly root: string;
  /** Folder of the bundle: paths in the source map are relative to it. */
  readonly folder: string;
  /** Deno's cache of npm packages, with one folder for each registry. */
  readonly packages: string;
}

/** A bundle: the file that it is made from, and its name. Its source map has the name with `.map`. */
export interface Bundle {
  readonly source: string;
  readonly file: string;
}

/** The bundles: of the program, and of the threads that it starts from files beside it. */
export const BUNDLES = [
  { source: "main.ts", file: "main.js" },
  { source: "src/state/sqlite/store_worker.js", file: "store_worker.js" },
] as const satisfies readonly Bundle[];

/**
 * Writes the program as `main.js`, with a file for each kind of thread, into this folder of the
 * checkout. The same sources give the same bytes in any folder. `address` is the URL of this build's
 * release check.
 */
export async function bundle(root: string, folder: string, address: string | null): Promise<void> {
  const info = parseJson(await deno(root, ["info", "--json"]));
  if (!isObject(info) || typeof info.npmCache !== "string") {
    throw new Error("Deno did not print the folder of its packages.");
  }
  const places = { root, folder, packages: info.npmCache };
  for (const one of BUNDLES) await bundleFile(places, one, one.file === "main.js" ? address : null);
}

/** Writes one bundle into the folder of the places. */
export async function bundleFile(
  places: Places,
  { source, file }: Bundle,
  address: string | null = null,
): Promise<void> {
  const path = `${places.folder}/${file}`;
  await deno(
    places.root,
    ["bundle", "--quiet", "--frozen", "--check", "--platform", "deno"].concat(
      "--sourcemap=external",
      "--output",
      path,
      source,
    ),
  );
  const code = neutralCode(await Deno.readTextFile(path), places);
  const map = neutralMap(await Deno.readTextFile(`${path}.map`), places);
  await Deno.writeTextFile(path, linkedTo(`${file}.map`, stamped(code, address)));
  await Deno.writeTextFile(`${path}.map`, map);
}

async function deno(cwd: string, args: readonly string[]): Promise<string> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`deno ${args[0]} failed.`);
  return new TextDecoder().decode(stdout);
}

const NO_ADDRESS = "RELEASE_ADDRESS = null;";

/** Returns the code with the URL of the release check; null leaves it without one. */
export function stamped(code: string, address: string | null): string {
  if (address === null) return code;
  const parts = code.split(NO_ADDRESS);
  if (parts.length !== 2) throw new Error("The bundle has no place for the address of releases.");
  return parts.join(`RELEASE_ADDRESS = ${JSON.stringify(address)};`);
}

/** Returns the code without the path of Deno's cache and the name of the registry. */
export function neutralCode(code: string, { root, packages }: Places): string {
  return withoutPlace(code, relative(root, packages));
}

/**
 * Returns a source map with relative source paths, without the texts of the sources: they would be
 * most of the executable's own bytes.
 */
export function neutralMap(text: string, { root, folder, packages }: Places): string {
  const map = parseJson(text);
  if (!isObject(map) || !Array.isArray(map.sources)) throw new Error("This is no source map.");
  const up = `${relative(folder, root)}/`;
  const sources = map.sources.map((source) => {
    const name = withoutPlace(String(source), relative(folder, packages));
    return name.startsWith(up) ? name.slice(up.length) : name;
  });
  const { version, names, mappings } = map;
  return JSON.stringify({ version, sources, names, mappings });
}

/** Replaces `<cache>/<registry>/yaml/2.9.1/` by `npm/yaml/2.9.1/`. */
function withoutPlace(text: string, place: string): string {
  return text.replaceAll(
    new RegExp(`(?<![\\w./-])${RegExp.escape(place)}/[^/\\s"]+/`, "g"),
    "npm/",
  );
}

/**
 * Returns the code with a link to its source map. The runtime reads a linked map when an error is
 * shown. It would parse a map inside of the code at every start: measured, 100 ms and 30 MB.
 */
export function linkedTo(map: string, code: string): string {
  return `${code}\n//# sourceMappingURL=${map}\n`;
}
