import { folderFor, makeOnce, runCommand } from "../../tools/package_cache.ts";

// Installs the gateways that `--peer litellm`, `--peer portkey` and `--peer nginx` start, into the
// user's cache folder and without root: ./scripts/deno run -A scripts/bench/peers/install.ts

/** The gateways with an adapter. */
export type PackagedPeer = "litellm" | "portkey" | "nginx";

interface Installation {
  readonly packages: readonly string[];
  /** The program below the folder. */
  readonly program: string;
  install(folder: string): Promise<void>;
}

const INSTALLATIONS: Readonly<Record<PackagedPeer, Installation>> = {
  litellm: {
    packages: ["litellm[proxy]==1.106.2"],
    program: "bin/litellm",
    async install(folder) {
      await runCommand(Deno.env.get("PYTHON") ?? "python3", ["-m", "venv", "--clear", folder]);
      const options = ["--quiet", "--no-input", "--disable-pip-version-check"];
      await runCommand(`${folder}/bin/python`, [
        "-m",
        "pip",
        "install",
        ...options,
        ...this.packages,
      ]);
    },
  },
  portkey: {
    packages: ["@portkey-ai/gateway@1.15.2"],
    program: "node_modules/.bin/gateway",
    async install(folder) {
      // With newer versions of this library it answers every stream with status 500.
      const overrides = { "@hono/node-server": "1.3.3" };
      await Deno.writeTextFile(`${folder}/package.json`, JSON.stringify({ overrides }));
      const options = ["--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=0"];
      await runCommand("npm", ["install", ...options, "--prefix", folder, ...this.packages]);
    },
  },
  nginx: {
    packages: ["nginx=1.22.1-*"],
    program: "usr/sbin/nginx",
    async install(folder) {
      const unpack = 'cd "$0" && apt-get download "$@" && dpkg -x nginx_*.deb .';
      await runCommand("sh", ["-c", unpack, folder, ...this.packages]);
    },
  },
};

/** The names of the gateways with an adapter. */
export const PACKAGED_PEERS: readonly PackagedPeer[] = ["litellm", "portkey", "nginx"];

/** True if the name is that of a gateway with an adapter. */
export function isPackagedPeer(name: string): name is PackagedPeer {
  return PACKAGED_PEERS.some((one) => one === name);
}

/** Returns the path that the program of a gateway has when it is installed. */
export function installedProgram(name: PackagedPeer): string {
  const { packages, program } = INSTALLATIONS[name];
  return `${folderFor("peers", packages)}/${program}`;
}

/** Installs a gateway where it is missing. Returns the path of its program. */
export async function installPeer(name: PackagedPeer): Promise<string> {
  const installation = INSTALLATIONS[name];
  const folder = folderFor("peers", installation.packages);
  await makeOnce(folder, () => installation.install(folder));
  return installedProgram(name);
}

if (import.meta.main) {
  for (const name of PACKAGED_PEERS) {
    // One that cannot be installed here does not prevent the next.
    await installPeer(name).then(
      (program) => console.log(`${name}: ${program}`),
      (error: Error) => {
        console.error(`${name} was not installed: ${error.message}`);
        Deno.exitCode = 1;
      },
    );
  }
}
