import { TARGETS } from "../../scripts/packaging/compile.ts";
import { blocksIn, variable } from "./pages.ts";
import type { ShellCommand } from "./shell.ts";

const ROOT = new URL("../../", import.meta.url);

/** Whether a command that only some machines have fits what there is in the repository. */
export type SystemCheck = (
  args: readonly string[],
  command: ShellCommand,
) => boolean | Promise<boolean>;

const UNIT = "switchyard";
const VERSION = variable("VERSION");
const IMAGE = "switchyard";

/** The system commands in the documentation, by their first word. */
export const SYSTEM: Readonly<Record<string, SystemCheck>> = {
  export: ([word = "", ...rest]) => /^[A-Z_]+=\S+$/.test(word) && rest.length === 0,
  claude: (args) => args.length === 0,
  async kill(args) {
    const [, reload = ""] = /\nExecReload=\/bin\/kill (\S+) /.exec(await unit()) ?? [];
    return args.join(" ") === `${reload} ${variable("PID")}`;
  },
  async sh([script = "", ...args]) {
    const usage = await textOf(script);
    const [, help = ""] = /cat <<'TEXT'\n([\s\S]*?)\nTEXT\n/.exec(usage) ?? [];
    return args.every((word) => !word.startsWith("-") || help.includes(`  ${word} `));
  },
  async sha256sum(args) {
    const release = await textOf("scripts/release");
    return args.join(" ") === "--check --ignore-missing SHA256SUMS" &&
      release.includes("/SHA256SUMS\n");
  },
  async minisign(args) {
    const release = await textOf("scripts/release");
    return args.join(" ") === "-V -p switchyard.pub -m SHA256SUMS" &&
      release.includes("public=dist/switchyard.pub ");
  },
  async tar([flags, archive = ""]) {
    const release = await textOf("scripts/release");
    const machine = Object.keys(TARGETS)
      .find((name) => archive === `switchyard-${VERSION}-${name}.tar.gz`);
    return flags === "-xzf" && machine !== undefined &&
      release.includes("/switchyard-$version-$machine.tar.gz\n");
  },
  async apt([verb = "", what = ""]) {
    const isPackage = /\nPackage: switchyard\n/.test(
      `\n${await textOf("scripts/packaging/deb/control")}`,
    );
    const file = `./switchyard_${VERSION}_amd64.deb`;
    return isPackage && (verb === "install" ? what === file : verb === "purge" && what === UNIT);
  },
  async systemctl(args) {
    const names = args.filter((word) => !word.startsWith("-")).slice(1);
    const verbs = ["restart", "reload", "enable --now", "daemon-reload"];
    const verb = args.filter((word) => !names.includes(word)).join(" ");
    const canReload = verb !== "reload" || (await unit()).includes("\nExecReload=");
    return verbs.includes(verb) && canReload && names.every((name) => name === UNIT);
  },
  helm(args) {
    const chart = "scripts/deploy/helm/switchyard";
    return [`upgrade --install gateway ${chart} --values values.yaml`, `show values ${chart}`]
      .includes(args.join(" "));
  },
  async launchctl([verb = "", ...args]) {
    const plist = await textOf("scripts/deploy/launchd/switchyard.plist");
    const [, label] = /<key>Label<\/key>\s*<string>(\S+)<\/string>/.exec(plist) ?? [];
    const file = `/Library/LaunchDaemons/${UNIT}.plist`;
    const known = ["kill SIGHUP", "kickstart -k", "bootout"].map((one) => `${one} system/${label}`);
    return [`bootstrap system ${file}`, ...known].includes([verb, ...args].join(" "));
  },
  openssl: (args) => args.join(" ") === "rand -base64 32",
  journalctl: (args) => args.join(" ") === `-u ${UNIT} -f`,
  async brew(args) {
    const formula = await textOf("scripts/packaging/homebrew/switchyard.rb");
    return args.join(" ") === `install ${variable("TAP")}/switchyard`
      ? formula.startsWith("class Switchyard < Formula\n")
      : args.join(" ") === "services start switchyard" && formula.includes("\n  service do\n");
  },
  async cp([example = "", target = ""]) {
    const lines = (await textOf(`scripts/deploy/compose/${example}`)).split("\n");
    const compose = await textOf("scripts/deploy/compose/compose.yaml");
    return lines.length > 1 && compose.includes(`env_file: ${target}\n`);
  },
  docker: ([verb, ...args]) =>
    verb === "compose"
      ? args.join(" ") === "up"
      : verb === "build"
      ? args.join(" ") === `-t ${IMAGE} .`
      : verb === "run" && isContainer(args),
  async "scripts/release"(args, { environment }) {
    const release = await textOf("scripts/release");
    return args.length === 0 && Object.keys(environment).every((name) => release.includes(name));
  },
};

/** Options of `docker run` in the documentation, and whether they have a value. */
const OPTIONS: Readonly<Record<string, boolean>> = {
  "--rm": false,
  "--read-only": false,
  "--cap-drop": true,
  "-p": true,
  "-v": true,
  "--env-file": true,
};

/** The port and the folder of a container are those of the image. */
function isContainer(args: readonly string[]): boolean {
  const dockerfile = blocksIn("dockerfile")[0]?.text ?? "";
  const [, port = ""] = /^EXPOSE (\d+)$/m.exec(dockerfile) ?? [];
  const [, folder = ""] = /"(\/\S+)\/config\.yaml"/.exec(dockerfile) ?? [];
  const rest = [...args];
  const values = new Map<string, string>();
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const hasValue = OPTIONS[word];
    if (hasValue === undefined) {
      return word === IMAGE && rest.length === 0 &&
        values.get("-p")?.endsWith(`:${port}`) === true &&
        values.get("-v")?.endsWith(`:${folder}:ro`) === true;
    }
    values.set(word, hasValue ? rest.shift() ?? "" : "");
  }
  return false;
}

function unit(): Promise<string> {
  return textOf(`scripts/packaging/deb/${UNIT}.service`);
}

function textOf(path: string): Promise<string> {
  return Deno.readTextFile(new URL(path, ROOT));
}
