import { commandPeer } from "./command.ts";
import { installedProgram, isPackagedPeer, type PackagedPeer } from "./install.ts";
import { litellmPeer } from "./litellm.ts";
import { nginxPeer } from "./nginx.ts";
import type { Peer } from "./peer.ts";
import { portkeyPeer } from "./portkey.ts";

/** The values of the options for peers, each as `NAME=VALUE`. */
export interface PeerOptions {
  readonly peer: readonly string[];
  readonly "peer-config": readonly string[];
  readonly "peer-header": readonly string[];
  readonly "peer-model": readonly string[];
  readonly "peer-path": readonly string[];
}

const ADAPTERS: Readonly<Record<PackagedPeer, (name: string, program: string) => Peer>> = {
  litellm: litellmPeer,
  portkey: portkeyPeer,
  nginx: nginxPeer,
};

/** Returns the text of a file; null if it cannot be read. */
export type TextReader = (path: string) => string | null;

/**
 * Parses the peers in the order of their options: `NAME` or `NAME=PROGRAM` for one with an adapter,
 * `NAME=COMMAND` for any other. Returns the problem of the options as a text.
 */
export function parsePeers(options: PeerOptions, readText: TextReader): readonly Peer[] | string {
  const peers: Peer[] = [];
  const commands = new Set<string>();
  for (const text of options.peer) {
    const [name, command] = splitOnce(text, "=");
    if (peers.some((peer) => peer.name === name)) return `--peer ${name} is given twice`;
    if (isPackagedPeer(name)) {
      if (command === "") return `--peer ${text} must be ${name} or ${name}=PROGRAM`;
      peers.push(ADAPTERS[name](name, command ?? installedProgram(name)));
      continue;
    }
    if (!/^[\p{L}\p{N} ._+/():-]*$/u.test(name)) {
      return `--peer ${name}: a name in the table has letters, digits, blanks and . _ + - / : ( )`;
    }
    if (/^(?:floor|switchyard)$/i.test(name.trim())) {
      return `--peer ${name}: the table has a row of this name; choose another one`;
    }
    if (name.trim() === "" || command === null || command === "") {
      return `--peer ${text} must be NAME=COMMAND, because no adapter has this name`;
    }
    const settings = parseCommandSettings(name, options, readText);
    if (typeof settings === "string") return settings;
    commands.add(name);
    peers.push(commandPeer({ name, command, ...settings }));
  }
  const stray = SETTINGS.flatMap((option) => options[option].map((text) => ({ option, text })))
    .find(({ text }) => !commands.has(splitOnce(text, "=")[0]));
  return stray === undefined
    ? peers
    : `--${stray.option} ${stray.text} must begin with the name of a --peer that has a COMMAND`;
}

const SETTINGS = ["peer-config", "peer-header", "peer-model", "peer-path"] as const;

interface CommandSettings {
  readonly config: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly modelPrefix: string;
  readonly path: string | null;
}

function parseCommandSettings(
  name: string,
  options: PeerOptions,
  readText: TextReader,
): CommandSettings | string {
  const valuesOf = (option: typeof SETTINGS[number]) =>
    options[option].filter((text) => text.startsWith(`${name}=`))
      .map((text) => text.slice(name.length + 1));
  const headers: Record<string, string> = {};
  for (const text of valuesOf("peer-header")) {
    const [key, value] = splitOnce(text, ":");
    if (!/^[\w-]+$/.test(key) || value === null || /[\r\n]/.test(value)) {
      return `--peer-header ${name}=${text} must be ${name}=HEADER:VALUE`;
    }
    headers[key.toLowerCase()] = value.trim();
  }
  const path = valuesOf("peer-path").at(-1) ?? null;
  if (path !== null && !/^\/\S*$/.test(path)) {
    return `--peer-path ${name}=${path} must begin with /`;
  }
  const file = valuesOf("peer-config").at(-1);
  const config = file === undefined ? null : readText(file);
  if (file !== undefined && config === null) return `--peer-config: ${file} cannot be read`;
  return {
    config,
    headers,
    modelPrefix: valuesOf("peer-model").at(-1) ?? "",
    path,
  };
}

/** Splits a text at the first mark; the second part is null if it has no mark. */
function splitOnce(text: string, mark: string): readonly [string, string | null] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}
