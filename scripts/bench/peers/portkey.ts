import { type Peer, TASK_PATHS } from "./peer.ts";

/**
 * Returns Portkey's gateway, which takes the provider and the address of the upstream from headers.
 */
export function portkeyPeer(name: string, program: string): Peer {
  return {
    name,
    support(task, upstream) {
      if (task === "responses") {
        return {
          kind: "unsupported",
          reason: "it serves Responses only over providers that have them",
        };
      }
      const isChat = task === "chat";
      return {
        kind: "supported",
        upstream: isChat ? "chat" : "messages",
        request: {
          path: TASK_PATHS[task],
          headers: {
            "x-portkey-provider": isChat ? "openai" : "anthropic",
            "x-portkey-custom-host": `${upstream}/v1`,
          },
          modelPrefix: "",
        },
      };
    },
    launch: ({ port }) => ({
      program,
      args: [`--port=${port}`, "--headless"],
      environment: { NODE_ENV: "production" },
      files: {},
    }),
    version: () => packageVersion(program),
  };
}

/** Returns the version in the `package.json` above a script of a package. */
async function packageVersion(program: string): Promise<string | null> {
  try {
    const script = await Deno.realPath(program);
    const manifest: { version?: string } = JSON.parse(
      await Deno.readTextFile(script.replace(/\/[^/]*\/[^/]*$/, "/package.json")),
    );
    return manifest.version ?? null;
  } catch {
    return null;
  }
}
