/** Use of installed packages: real clients, other gateways of the benchmark, or recipes. */
export type PackageUse = "clients" | "peers" | "deploy";

/** Returns the folder of the user's cache in which these packages are installed. */
export function folderFor(use: PackageUse, packages: readonly string[]): string {
  const home = Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME") ?? "/tmp"}/.cache`;
  return `${home}/switchyard-${use}/${packages.join("+").replaceAll(/[^\w.+-]/g, "_")}`;
}

/** Fills a folder with `install`, unless an earlier run has completed it. */
export async function makeOnce(folder: string, install: () => Promise<void>): Promise<void> {
  const mark = `${folder}/ready`;
  if (await Deno.stat(mark).then(() => true, () => false)) return;
  await Deno.mkdir(folder, { recursive: true });
  await install();
  await Deno.writeTextFile(mark, "");
}

/** Runs a command whose output is shown; throws if it fails. */
export async function runCommand(command: string, args: readonly string[]): Promise<void> {
  console.error([command, ...args].join(" "));
  const { success } = await new Deno.Command(command, {
    args: [...args],
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`${command} ${args.join(" ")} failed`);
}

/**
 * Returns the Python of a virtual environment with these packages, which is made in the user's
 * cache folder if it is missing. `PYTHON` is the Python that makes it, `python3` when it is not
 * set.
 */
export async function pythonWith(packages: readonly string[]): Promise<string> {
  const folder = folderFor("clients", packages);
  const python = `${folder}/bin/python`;
  await makeOnce(folder, async () => {
    await runCommand(Deno.env.get("PYTHON") ?? "python3", ["-m", "venv", "--clear", folder]);
    await runCommand(python, ["-m", "pip", "install", "--quiet", "--no-input", ...packages]);
  });
  return python;
}
