import { startUpstream, type UpstreamExchange } from "../support/upstream.ts";

const INSTALLER = new URL("../../install.sh", import.meta.url).pathname;

/** Files of a release server by path; a function plays the answer itself. */
export type Files = Record<
  string,
  string | Uint8Array<ArrayBuffer> | ((exchange: UpstreamExchange) => Promise<unknown>)
>;

/** The machine that the tests run on, as archives are named. */
export const MACHINE = `${Deno.build.os}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;

/** The path of a release's archive on the server. */
export function archivePath(version: string): string {
  return `/v${version}/switchyard-${version}-${MACHINE}.tar.gz`;
}

/** A release whose program is a script that prints this version, or another script. */
export async function release(
  version: string,
  reported = version,
  script = `#!/bin/sh\necho "switchyard ${reported}"\n`,
): Promise<Files> {
  const archive = await archived(script);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", archive)).toHex();
  const name = archivePath(version).split("/").at(-1);
  return {
    "/latest": `${version}\n`,
    [archivePath(version)]: archive,
    [`/v${version}/SHA256SUMS`]: `${"0".repeat(64)}  another.tar.gz\n${digest}  ${name}\n`,
  };
}

async function archived(program: string): Promise<Uint8Array<ArrayBuffer>> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/switchyard`, program);
    await Deno.writeTextFile(`${folder}/config.yaml`, "# An example.\n");
    const { stdout } = await new Deno.Command("tar", {
      args: ["-czf", "-", "-C", folder, "switchyard", "config.yaml"],
    }).output();
    return stdout;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A home on a machine, the releases it can reach, and the installer. */
export interface Machine extends AsyncDisposable {
  readonly home: string;
  /** Files of the releases; may be changed between runs. */
  readonly files: Files;
  /** The paths that were requested. */
  readonly asked: readonly string[];
  /** Runs `install.sh` with these arguments and variables besides the usual ones. */
  install(args?: readonly string[], options?: InstallOptions): Promise<Installed>;
  /** A program of this name that is found before the real one. */
  fake(name: string, script: string): Promise<void>;
  /** The folder of those programs. */
  readonly fakes: string;
  /** The paths of everything in the home, with what files hold. */
  state(): Promise<Record<string, string>>;
}

/** How the installer is run. */
export interface InstallOptions {
  readonly env?: Record<string, string>;
  readonly uid?: number;
  /** The path of another installer than that of the sources. */
  readonly script?: string;
}

/** How the installer ended. */
export interface Installed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A machine before these releases. */
export async function machine(files: Files): Promise<Machine> {
  const folder = await Deno.makeTempDir();
  const home = `${folder}/home`, temporary = `${folder}/tmp`, fakes = `${folder}/fakes`;
  for (const one of [home, temporary, fakes]) await Deno.mkdir(one);
  // Another user must get to its own files.
  await Deno.chmod(folder, 0o755);
  await Deno.chmod(temporary, 0o777);
  const server = startUpstream(async (exchange) => {
    const file = files[exchange.request.path];
    if (typeof file === "function") return await file(exchange);
    if (file === undefined) return await exchange.answer(404, {}, "Not here.");
    return await exchange.answer(200, {}, file);
  });
  return {
    home,
    files,
    fakes,
    get asked() {
      return server.requests.map(({ path }) => path);
    },
    async install(args = [], { env = {}, uid, script = INSTALLER } = {}) {
      const { code, stdout, stderr } = await new Deno.Command("sh", {
        args: [script, ...args],
        clearEnv: true,
        cwd: home,
        env: {
          HOME: home,
          TMPDIR: temporary,
          PATH: `${fakes}:${Deno.env.get("PATH")}`,
          SWITCHYARD_BASE_URL: server.url,
          ...env,
        },
        ...(uid === undefined ? {} : { uid, gid: uid }),
      }).output();
      const text = new TextDecoder();
      return { code, out: text.decode(stdout), err: text.decode(stderr) };
    },
    async fake(name, script) {
      await Deno.writeTextFile(`${fakes}/${name}`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    },
    state: async () => ({ ...await contents(home), ...await contents(temporary) }),
    async [Symbol.asyncDispose]() {
      await server.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function contents(folder: string, within = "."): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${within}`)) {
    const path = `${within}/${name}`;
    found[path] = isDirectory ? "" : await Deno.readTextFile(`${folder}/${path}`);
    if (isDirectory) Object.assign(found, await contents(folder, path));
  }
  return found;
}
