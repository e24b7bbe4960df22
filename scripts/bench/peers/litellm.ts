import { outputOf, type Peer, TASK_PATHS } from "./peer.ts";

/**
 * Returns LiteLLM's proxy: one worker, without a database, keys, retries and telemetry. It passes
 * every model on to the upstream.
 */
export function litellmPeer(name: string, program: string): Peer {
  return {
    name,
    support: (task) => ({
      kind: "supported",
      upstream: task === "chat" ? "chat" : "messages",
      request: { path: TASK_PATHS[task], headers: {}, modelPrefix: "" },
    }),
    launch: ({ port, upstream, upstreamKind, folder }) => ({
      program,
      args: [
        ...["--config", `${folder}/litellm.yaml`],
        ...["--host", "127.0.0.1", "--port", `${port}`],
        ...["--num_workers", "1", "--telemetry", "False"],
      ],
      environment: {
        // Without the two it fetches a table of prices, and refuses to start without a key.
        LITELLM_LOCAL_MODEL_COST_MAP: "True",
        LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: "true",
        LITELLM_LOG: "ERROR",
      },
      files: {
        [`${folder}/litellm.yaml`]: litellmConfigText(
          upstreamKind === "chat"
            ? { model: "openai/*", api_base: `${upstream}/v1` }
            : { model: "anthropic/bench", api_base: upstream },
        ),
      },
    }),
    async version() {
      const output = await outputOf(program, ["--version"]);
      return /Version = (\S+)/.exec(output ?? "")?.[1] ?? null;
    },
  };
}

/** Returns a configuration as JSON, which is valid YAML. */
function litellmConfigText(target: { readonly model: string; readonly api_base: string }): string {
  const config = {
    model_list: [{ model_name: "*", litellm_params: { ...target, api_key: "sk-bench" } }],
    litellm_settings: { num_retries: 0 },
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
