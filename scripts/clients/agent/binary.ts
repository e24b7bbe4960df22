import { VERSION } from "./results.ts";

const PLATFORMS: Readonly<Partial<Record<typeof Deno.build.os, string>>> = {
  linux: "linux",
  darwin: "darwin",
};
const ARCHITECTURES = { x86_64: "x64", aarch64: "arm64" } as const;

/** Returns the npm package with the executable for a platform. */
export function packageFor(
  { os, arch }: { readonly os: typeof Deno.build.os; readonly arch: typeof Deno.build.arch },
): string | null {
  const platform = PLATFORMS[os];
  return platform === undefined
    ? null
    : `@anthropic-ai/claude-code-${platform}-${ARCHITECTURES[arch]}`;
}

/**
 * Returns the path of the pinned Claude Code. It is taken from npm into the user's cache folder
 * where it is missing. Without npm or a package for this platform, it is the installed `claude`.
 */
export async function pinnedBinary(): Promise<string> {
  const name = packageFor(Deno.build);
  if (name === null) return "claude";
  const folder = `${cacheFolder()}/claude-code-${VERSION}`;
  const binary = `${folder}/node_modules/${name}/claude`;
  if (await Deno.stat(binary).then(() => true, () => false)) return binary;
  const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", `${name}@${VERSION}`];
  console.error(`npm ${args.join(" ")}`);
  const installed = await outputOf("npm", args);
  return installed === null ? "claude" : binary;
}

/** Returns the version that a client prints; null if it does not start. */
export async function versionOf(binary: string): Promise<string | null> {
  const text = await outputOf(binary, ["--version"]);
  return text === null ? null : text.split(" ", 1)[0] ?? null;
}

/**
 * Returns the command that runs another without any network but loopback; null where the system
 * does not permit it.
 */
export async function isolated(command: readonly string[]): Promise<readonly string[] | null> {
  const prefix = ["unshare", "--map-root-user", "--net", "sh", "-c"];
  const [unshare = "", ...args] = [...prefix, "ip link set lo up"];
  if (await outputOf(unshare, args) === null) return null;
  return [...prefix, 'ip link set lo up && exec "$@"', "sh", ...command];
}

function cacheFolder(): string {
  const home = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? "/tmp"}/.cache`;
  return `${home}/switchyard-clients`;
}

async function outputOf(command: string, args: readonly string[]): Promise<string | null> {
  try {
    const { success, stdout } = await new Deno.Command(command, {
      args: [...args],
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).output();
    return success ? new TextDecoder().decode(stdout).trim() : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
