// Prints the provenance of the files in a release folder, an in-toto statement with the predicate
// of SLSA 1: `provenance.ts FOLDER VERSION MACHINE...`. It has no times and no names of the
// machine, so that the same commit and settings give the same bytes.

/** A file or input with its checksums, as in-toto describes it. */
interface Resource {
  readonly name: string;
  readonly digest: Readonly<Record<string, string>>;
}

/** Facts of the build of a release. */
export interface BuildFacts {
  readonly version: string;
  readonly machines: readonly string[];
  /** The https address that the release is served at. */
  readonly address: string;
  /** Commit of the sources; null if they are no git checkout. */
  readonly commit: string | null;
  /** True if there are changes that no commit has. */
  readonly isModified: boolean;
  /** Date of the files in seconds since 1970. */
  readonly epoch: number;
  /** Settings of `scripts/release` that change what is built. */
  readonly settings: Readonly<Record<string, string>>;
  /** Inputs besides the sources: the lock file, and the runtime if a setting names it. */
  readonly inputs: readonly Resource[];
}

/** Returns the statement about the files of a release. */
export function newProvenance(facts: BuildFacts, files: readonly Resource[]): object {
  const { version, machines, address, commit, isModified, epoch, settings, inputs } = facts;
  const source = commit === null ? [] : [{ name: "source", digest: { gitCommit: commit } }];
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: files,
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: `${address}/build/v1`,
        externalParameters: { script: "scripts/release", version, machines, settings },
        internalParameters: {
          SOURCE_DATE_EPOCH: epoch,
          ...(isModified ? { hasUncommittedChanges: true } : {}),
        },
        resolvedDependencies: [...source, ...inputs],
      },
      runDetails: { builder: { id: `${address}/builder` } },
    },
  };
}

/** Settings of `scripts/release` that change what is built. */
const SETTINGS = [
  "SWITCHYARD_BASE_URL",
  "SWITCHYARD_RELEASE_ADDRESS",
  "SWITCHYARD_MAINTAINER",
  "SWITCHYARD_ALLOW_NPM_RUNTIME",
];

const ROOT = new URL("../../", import.meta.url).pathname;

async function resource(name: string, path: string): Promise<Resource> {
  const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(path));
  return { name, digest: { sha256: new Uint8Array(digest).toHex() } };
}

/** Returns the output of git; null if it fails. */
async function git(...args: readonly string[]): Promise<string | null> {
  const { success, stdout } = await new Deno.Command("git", { args: [...args], cwd: ROOT })
    .output();
  return success ? new TextDecoder().decode(stdout).trim() : null;
}

async function readFacts(version: string, machines: readonly string[]): Promise<BuildFacts> {
  const commit = await git("rev-parse", "HEAD");
  // Files that git does not know count too: the build may read them.
  const changes = await git("status", "--porcelain");
  const runtime = Deno.env.get("DENORT_BIN") ?? "";
  const given = SETTINGS.map((name) => [name, Deno.env.get(name) ?? ""] as const);
  return {
    version,
    machines,
    address: (Deno.env.get("SWITCHYARD_BASE_URL") || "https://releases.invalid").replace(/\/$/, ""),
    commit,
    isModified: commit !== null && changes !== "",
    epoch: Number(Deno.env.get("SOURCE_DATE_EPOCH")),
    settings: Object.fromEntries(given.filter(([, value]) => value !== "")),
    inputs: [
      await resource("deno.lock", `${ROOT}deno.lock`),
      ...(runtime === "" ? [] : [await resource("denort", runtime)]),
    ],
  };
}

if (import.meta.main) {
  const [folder = "", version = "", ...machines] = Deno.args;
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).toSorted();
  const files = await Promise.all(names.map((name) => resource(name, `${folder}/${name}`)));
  console.log(JSON.stringify(newProvenance(await readFacts(version, machines), files), null, 2));
}
