import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";

// Prints the bill of materials of a release, CycloneDX as JSON: `sbom.ts VERSION BUNDLE`. It has
// what is in the executables: the runtime, and the npm packages that main.ts imports, with the
// checksums of deno.lock, without those that the bundler left out. It fails if the source maps in
// the folder BUNDLE name a package that it lacks.
// SOURCE_DATE_EPOCH dates it, so that the same commit gives the same bytes.

/** An npm package of the program. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** Checksum of its archive as in deno.lock: `sha512-` and base64. */
  readonly integrity: string;
  /** SPDX expression of its licence; null if it names none. */
  readonly licence: string | null;
  /** Indexes of the packages that it imports, in the same list. */
  readonly imports: readonly number[];
  /** True if the program itself imports it. */
  readonly isDirect: boolean;
}

/** Subject of a bill of materials. */
export interface Release {
  readonly version: string;
  /** Version of the runtime that every executable contains. */
  readonly denoVersion: string;
  /** Date of the release in seconds since 1970. */
  readonly epoch: number;
}

/** Returns the bill of materials of a release with these packages. */
export async function newBill(release: Release, packages: readonly Package[]) {
  const { version, denoVersion, epoch } = release;
  const runtime = `pkg:github/denoland/deno@v${denoVersion}`;
  const own = `pkg:generic/switchyard@${version}`;
  const refs = packages.map(packageUrl);
  const direct = refs.filter((_ref, index) => packages[index]?.isDirect === true);
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      lifecycles: [{ phase: "build" }],
      component: {
        type: "application",
        "bom-ref": own,
        name: "switchyard",
        version,
        licenses: licences("MIT"),
        purl: own,
      },
    },
    components: [
      {
        type: "platform",
        "bom-ref": runtime,
        name: "deno",
        version: denoVersion,
        licenses: licences("MIT"),
        purl: runtime,
      },
      ...packages.map((one, index) => ({
        type: "library",
        "bom-ref": refs[index],
        ...names(one.name),
        version: one.version,
        hashes: [{ alg: "SHA-512", content: hexDigest(one.integrity) }],
        licenses: licences(one.licence),
        purl: refs[index],
      })),
    ],
    dependencies: [
      { ref: own, dependsOn: [runtime, ...direct] },
      { ref: runtime },
      ...packages.map(({ imports }, index) => ({
        ref: refs[index],
        dependsOn: imports.map((at) => refs[at]),
      })),
    ],
  };
  return { ...bill, serialNumber: `urn:uuid:${await uuidOf(JSON.stringify(bill))}` };
}

/** Returns the package URL of an npm package, in which the `@` of a scope is encoded. */
function packageUrl({ name, version }: Package): string {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}

function names(name: string): { readonly group?: string; readonly name: string } {
  const [first = "", second] = name.split("/");
  return second === undefined ? { name } : { group: first, name: second };
}

/** A single licence has an ID; several, such as `MIT OR Apache-2.0`, are an expression. */
function licences(expression: string | null): readonly JsonObject[] {
  if (expression === null) return [];
  return /^[\w.+-]+$/.test(expression) ? [{ license: { id: expression } }] : [{ expression }];
}

function hexDigest(integrity: string): string {
  return Uint8Array.fromBase64(integrity.replace(/^sha512-/, "")).toHex();
}

/** Returns a UUID of version 8 from the checksum of a text. */
async function uuidOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = new Uint8Array(digest).toHex();
  return hex.replace(
    /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/,
    (_all, a, b, c, d, e) => `${a}-${b}-8${c}-8${d}-${e}`,
  );
}

const ROOT = new URL("../../", import.meta.url).pathname;

/** Returns the npm packages that main.ts imports, directly or not, in the order of their names. */
export async function programPackages(): Promise<readonly Package[]> {
  const [graph, { npmCache }] = await Promise.all([info("main.ts"), info()]);
  const lock = parseJson(await Deno.readTextFile(`${ROOT}deno.lock`));
  const locked = isObject(lock) && isObject(lock.npm) ? lock.npm : {};
  const known = isObject(graph.npmPackages) ? graph.npmPackages : {};
  const modules = Array.isArray(graph.modules) ? graph.modules.filter(isObject) : [];
  const direct = new Set(modules.map(({ npmPackage }) => npmPackage).map(String));
  // The graph also lists what other imports of deno.json would need.
  const found = new Set([...direct].filter((id) => Object.hasOwn(known, id)));
  for (const id of found) for (const next of importsOf(known[id])) found.add(next);
  const ids = [...found].toSorted();
  return ids.map((id) => {
    const { name, version } = known[id] as { readonly name: string; readonly version: string };
    const { integrity } = Object(locked[id]);
    if (typeof integrity !== "string") throw new Error(`${id} is not in deno.lock.`);
    return {
      name,
      version,
      integrity,
      licence: licenceIn(String(npmCache), `${name}/${version}`),
      imports: importsOf(known[id]).map((next) => ids.indexOf(next)),
      isDirect: direct.has(id),
    };
  });
}

function importsOf(known: unknown): readonly string[] {
  return isObject(known) && Array.isArray(known.dependencies) ? known.dependencies.map(String) : [];
}

async function info(...args: readonly string[]): Promise<JsonObject> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", ...args],
    cwd: ROOT,
  }).output();
  const printed = parseJson(new TextDecoder().decode(stdout));
  if (!success || !isObject(printed)) throw new Error("deno info failed.");
  return printed;
}

/** Returns the licence in the manifest of a package, which is in the folder of its registry. */
function licenceIn(cache: string, folder: string): string | null {
  for (const { name } of Deno.readDirSync(cache)) {
    try {
      const text = Deno.readTextFileSync(`${cache}/${name}/${folder}/package.json`);
      const manifest = parseJson(text);
      return isObject(manifest) && typeof manifest.license === "string" ? manifest.license : null;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return null;
}

/** Returns the packages that a source map of a bundle names and the list lacks. */
export function missingPackages(
  sourceMap: string,
  packages: readonly Pick<Package, "name" | "version">[],
): readonly string[] {
  const listed = new Set(packages.map(({ name, version }) => `${name}/${version}`));
  return [...namedIn(sourceMap)].filter((name) => !listed.has(name));
}

/** Returns the packages without those of which the source maps of the bundles name no file. */
export function bundledPackages(
  sourceMaps: string,
  packages: readonly Package[],
): readonly Package[] {
  const named = namedIn(sourceMaps);
  const kept = packages.filter(({ name, version, isDirect }) =>
    isDirect || named.has(`${name}/${version}`)
  );
  return kept.map((one) => ({
    ...one,
    imports: one.imports.map((at) => kept.findIndex((other) => other === packages[at]))
      .filter((at) => at >= 0),
  }));
}

function namedIn(sourceMap: string): ReadonlySet<string> {
  const named = sourceMap.matchAll(/"npm\/((?:@[^/"]+\/)?[^/"]+\/[^/"]+)\//g);
  return new Set(named.map(([, name = ""]) => name));
}

if (import.meta.main) {
  const [version = "", folder = ""] = Deno.args;
  const epoch = Number(Deno.env.get("SOURCE_DATE_EPOCH") || NaN);
  if (folder === "" || !Number.isInteger(epoch)) {
    throw new Error("Usage: sbom.ts VERSION BUNDLE, with SOURCE_DATE_EPOCH set.");
  }
  const packages = await programPackages();
  let sourceMaps = "";
  for (const { name } of Deno.readDirSync(folder)) {
    if (name.endsWith(".map")) sourceMaps += Deno.readTextFileSync(`${folder}/${name}`);
  }
  const [missing] = missingPackages(sourceMaps, packages);
  if (missing !== undefined) throw new Error(`${folder} has ${missing}, which main.ts does not.`);
  const bundled = bundledPackages(sourceMaps, packages);
  const bill = await newBill({ version, denoVersion: Deno.version.deno, epoch }, bundled);
  console.log(JSON.stringify(bill, null, 2));
}
