import { relative } from "node:path";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { chunkNames, withChunkNames, withDynamicImports } from "./chunk_names.ts";
import { lineMappings } from "./line_mappings.ts";

/** Folders from which a bundle is built. */
export interface Places {
  /** Working directory of the commands: paths in the code are relative to it. */
  readonly root: string;
  /** Folder of the bundle: paths in the source map are relative to it. */
  readonly folder: string;
  /** Deno's cache of npm packages, with one folder for each registry. */
  readonly packages: string;
  /** True if the types of the sources are not checked, as for tests. */
  readonly isUnchecked?: boolean;
}

/**
 * A bundle: the file that it is made from, and its name. Its source map has the name with `.map`.
 */
export interface Bundle {
  readonly source: string;
  readonly file: string;
}

/** The bundles of the threads that the program starts from files next to it. */
export const THREADS = [
  { source: "src/store/sqlite/store_worker.js", file: "store_worker.js" },
  { source: "src/record/record_worker.js", file: "record_worker.js" },
  { source: "src/replay/replay_worker.js", file: "replay_worker.js" },
] as const satisfies readonly Bundle[];

/**
 * Writes the program as `main.js` with its chunks, and a file for each kind of thread, into this
 * folder of the checkout, which is emptied first. The same sources give the same bytes in any
 * folder. `address` is the URL of this build's release check. Returns the names of the files.
 */
export async function bundle(
  root: string,
  folder: string,
  address: string | null,
  { isUnchecked = false }: Pick<Places, "isUnchecked"> = {},
): Promise<readonly string[]> {
  const info = parseJson(await deno(root, ["info", "--json"]));
  if (!isObject(info) || typeof info.npmCache !== "string") {
    throw new Error("Deno did not print the folder of its packages.");
  }
  const places = { root, folder, packages: info.npmCache, isUnchecked };
  for (const { name } of [...Deno.readDirSync(folder)]) Deno.removeSync(`${folder}/${name}`);
  const program = await bundleProgram(places, address);
  const threads = await Promise.all(THREADS.map((one) => bundleFile(places, one)));
  return [...program, ...threads.flat()];
}

/** Returns the arguments of `deno bundle` before those that name the source and the output. */
function bundleArguments({ isUnchecked = false }: Places): readonly string[] {
  const check = isUnchecked ? [] : ["--check"];
  return ["bundle", "--quiet", "--frozen", ...check, "--platform=deno", "--sourcemap=external"];
}

/**
 * Writes the program in chunks, so that what most gateways do not use, such as the simulator and
 * the pages of the documentation, is neither read nor compiled at the start. Returns the names of
 * the files.
 */
async function bundleProgram(places: Places, address: string | null): Promise<string[]> {
  const { root, folder } = places;
  await deno(root, [...bundleArguments(places), "--code-splitting", "--outdir", folder, "main.ts"]);
  const bundled = [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => name.endsWith(".js"));
  const codes = new Map(
    bundled.map((name) => [name, neutralCode(Deno.readTextFileSync(`${folder}/${name}`), places)]),
  );
  const names = chunkNames(codes);
  for (const [name, code] of address === null ? codes : stampedOnce(codes, address)) {
    const map = neutralMap(Deno.readTextFileSync(`${folder}/${name}.map`), places);
    Deno.removeSync(`${folder}/${name}`);
    Deno.removeSync(`${folder}/${name}.map`);
    const renamed = withChunkNames(code, names);
    const isProgram = name === "main.js";
    const written = isProgram ? withDynamicImports(renamed) : renamed;
    writeCode(folder, names.get(name) ?? name, written, map);
  }
  return bundled.flatMap((name) => withMap(names.get(name) ?? name)).toSorted();
}

/** Writes a bundle without chunks into the folder of the places. Returns the names of its files. */
export async function bundleFile(
  places: Places,
  { source, file }: Bundle,
): Promise<readonly string[]> {
  const { root, folder } = places;
  const path = `${folder}/${file}`;
  await deno(root, [...bundleArguments(places), "--output", path, source]);
  const code = neutralCode(await Deno.readTextFile(path), places);
  writeCode(folder, file, code, neutralMap(await Deno.readTextFile(`${path}.map`), places));
  return withMap(file);
}

function withMap(file: string): string[] {
  return [file, `${file}.map`];
}

function writeCode(folder: string, file: string, code: string, map: string): void {
  Deno.writeTextFileSync(`${folder}/${file}`, linkedTo(`${file}.map`, code));
  Deno.writeTextFileSync(`${folder}/${file}.map`, map);
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

/**
 * Returns the files with the URL of the release check, for which exactly one of them has a place.
 */
export function stampedOnce(
  codes: ReadonlyMap<string, string>,
  address: string,
): ReadonlyMap<string, string> {
  const places = [...codes.values()].reduce(
    (sum, code) => sum + code.split(NO_ADDRESS).length - 1,
    0,
  );
  if (places !== 1) throw new Error("The bundle has no place for the address of releases.");
  const stamp = `RELEASE_ADDRESS = ${JSON.stringify(address)};`;
  return new Map([...codes].map(([name, code]) => [name, code.split(NO_ADDRESS).join(stamp)]));
}

/** Returns the code without the path of Deno's cache and the name of the registry. */
export function neutralCode(code: string, { root, packages }: Places): string {
  return withoutPlace(code, relative(root, packages));
}

/**
 * Returns a source map with relative source paths and the lines alone, without the texts of the
 * sources: they would be most of the executable's own bytes.
 */
export function neutralMap(text: string, { root, folder, packages }: Places): string {
  const map = parseJson(text);
  if (!isObject(map) || !Array.isArray(map.sources)) throw new Error("This is no source map.");
  const up = `${relative(folder, root)}/`;
  const sources = map.sources.map((source) => {
    const name = withoutPlace(String(source), relative(folder, packages));
    return name.startsWith(up) ? name.slice(up.length) : name;
  });
  const mappings = lineMappings(String(map.mappings));
  return JSON.stringify({ version: map.version, sources, names: [], mappings });
}

/** Replaces `<cache>/<registry>/yaml/2.9.1/` by `npm/yaml/2.9.1/`. */
function withoutPlace(text: string, place: string): string {
  return text.replaceAll(
    new RegExp(`(?<![\\w./-])${RegExp.escape(place)}/[^/\\s"]+/`, "g"),
    "npm/",
  );
}

/**
 * Returns the code with a link to its source map. The runtime parses the map when it loads the
 * code, and keeps it. A map inside of the code would be there twice.
 */
export function linkedTo(map: string, code: string): string {
  return `${code}\n//# sourceMappingURL=${map}\n`;
}
