import type { Scenario } from "../scenarios.ts";

/** Requests of a scenario that a system must support. */
export type PeerTask =
  /** Passes a chat request to an upstream of the same API. */
  | "chat"
  /** Translates a chat request for an upstream of the Messages API. */
  | "translate"
  /** Translates a Responses request for an upstream of the Messages API. */
  | "responses";

/** The API of the upstream of a peer. */
export type PeerUpstreamKind = "chat" | "messages";

/** How a request is sent to a peer. */
export interface PeerRequest {
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text before the model of the request, such as `openai/`. */
  readonly modelPrefix: string;
}

/** The request of a peer for a task, or the reason why it cannot serve the task. */
export type PeerSupport =
  | {
    readonly kind: "supported";
    readonly upstream: PeerUpstreamKind;
    readonly request: PeerRequest;
  }
  | { readonly kind: "unsupported"; readonly reason: string };

/** Where one process of a peer runs. */
export interface PeerPlace {
  /** The loopback port at which it listens. */
  readonly port: number;
  /** The address of the upstream, such as `http://127.0.0.1:4100`. */
  readonly upstream: string;
  readonly upstreamKind: PeerUpstreamKind;
  /** A folder for its files, which also has its output. */
  readonly folder: string;
}

/** The process of a peer: a program, and the files that it reads. */
export interface PeerLaunch {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Texts by their path. */
  readonly files: Readonly<Record<string, string>>;
}

/** Another gateway that is measured along with this one. */
export interface Peer {
  /** The name in the table. */
  readonly name: string;
  /** Returns how the request of a task is sent to a peer whose upstream is at `upstream`. */
  support(task: PeerTask, upstream: string): PeerSupport;
  launch(place: PeerPlace): PeerLaunch;
  /** Returns the version of the installed program; null if it cannot be known. */
  version(): Promise<string | null>;
}

/**
 * Returns the task that a scenario sets for peers; null if it compares two gateways of this
 * repository.
 */
export function findPeerTask(
  { base, measured, measuredRequest }: Pick<Scenario, "base" | "measured" | "measuredRequest">,
): PeerTask | null {
  if (base !== "floor") return null;
  if (measured === "one") return "chat";
  if (measured !== "translate") return null;
  return measuredRequest === null ? "translate" : "responses";
}

/** The paths of the tasks in the API of their requests. */
export const TASK_PATHS: Readonly<Record<PeerTask, string>> = {
  chat: "/v1/chat/completions",
  translate: "/v1/chat/completions",
  responses: "/v1/responses",
};

/** Returns the output of a program; null if it cannot be run. */
export async function outputOf(program: string, args: readonly string[]): Promise<string | null> {
  try {
    const command = new Deno.Command(program, { args: [...args], stdin: "null" });
    const { success, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    return success ? decoder.decode(stdout) + decoder.decode(stderr) : null;
  } catch {
    return null;
  }
}
