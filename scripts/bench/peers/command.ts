import { type Peer, type PeerPlace, TASK_PATHS } from "./peer.ts";

/** A gateway that the user starts with a command. */
export interface CommandPeer {
  readonly name: string;
  /** A command for `sh`, with placeholders. */
  readonly command: string;
  /** The text of a configuration file with placeholders; null if the command needs none. */
  readonly config: string | null;
  /** The path of chat requests. */
  readonly path: string | null;
  /** Further request headers, with placeholders. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text before the model of each request. */
  readonly modelPrefix: string;
}

/**
 * Returns the peer of a command. In its texts `{port}` is the port to listen at on 127.0.0.1,
 * `{upstream}` the address of the upstream without a path, `{folder}` its folder, and
 * `{config}` the path of its configuration file.
 */
export function commandPeer(
  { name, command, config, path, headers, modelPrefix }: CommandPeer,
): Peer {
  return {
    name,
    support: (task, upstream) =>
      task === "chat"
        ? {
          kind: "supported",
          upstream: "chat",
          request: {
            path: path ?? TASK_PATHS.chat,
            headers: Object.fromEntries(
              Object.entries(headers).map(([key, value]) => [key, fill(value, { upstream })]),
            ),
            modelPrefix,
          },
        }
        : {
          kind: "unsupported",
          reason: "its command was not given an upstream of the Messages API",
        },
    launch(place) {
      const { folder } = place;
      const values = { ...valuesOf(place), config: `${folder}/config` };
      return {
        program: "sh",
        args: ["-c", fill(command, values)],
        environment: {},
        files: config === null ? {} : { [`${folder}/config`]: fill(config, values) },
      };
    },
    version: () => Promise.resolve(null),
  };
}

function valuesOf({ port, upstream, folder }: PeerPlace): Record<string, string> {
  return { port: `${port}`, upstream, folder };
}

/** Replaces the placeholders that have a value; other braces belong to the text. */
function fill(text: string, values: Readonly<Record<string, string>>): string {
  const known = new Map(Object.entries(values));
  return text.replace(/\{(\w+)\}/g, (whole, name) => known.get(name) ?? whole);
}
