import { nginxConfigText } from "../nginx.ts";
import { outputOf, type Peer, TASK_PATHS } from "./peer.ts";

/** Returns nginx as a reverse proxy of the upstream, which passes bytes and reads no request. */
export function nginxPeer(name: string, program: string): Peer {
  return {
    name,
    support: (task) =>
      task === "chat"
        ? {
          kind: "supported",
          upstream: "chat",
          request: { path: TASK_PATHS.chat, headers: {}, modelPrefix: "" },
        }
        : { kind: "unsupported", reason: "a reverse proxy does not translate" },
    launch: ({ port, upstream, folder }) => ({
      program,
      args: ["-c", `${folder}/nginx.conf`, "-p", folder],
      environment: {},
      files: {
        [`${folder}/nginx.conf`]: nginxConfigText(port, [Number(new URL(upstream).port)], folder),
      },
    }),
    async version() {
      const output = await outputOf(program, ["-v"]);
      return /nginx\/(\S+)/.exec(output ?? "")?.[1] ?? null;
    },
  };
}
