import { bugText } from "../core/bug_text.ts";
import { Cancellation } from "../core/cancellation.ts";
import type { World } from "../core/world.ts";
import type { Log } from "../observe/log.ts";
import { readRemoteBody, type RemoteBody } from "./remote_body.ts";
import type { RemoteCommand, SandboxResponse } from "./remote_messages.ts";

/** So many commands run at once; more are answered 429. */
const MOST_RUNNING = 8;

/** A command may take this many milliseconds. */
const PATIENCE = 5 * 60 * 1000;

/** The body of an answer may have this many bytes. */
const BODY_LIMIT = 16 * 1024 * 1024;

const SHOWN_HEADERS = [
  "content-type",
  "x-gateway-request-id",
  "x-gateway-provider",
  "x-gateway-model",
  "x-gateway-route",
];

/** What commands need of the gateway. */
export interface CommandDeps {
  readonly world: World;
  readonly log: Log;
  /** The gateway's own handler, with all its policies. */
  handle(request: Request): Promise<Response>;
}

/** The commands of the dashboard that are running. */
export interface RemoteCommands {
  /**
   * Runs a command; `answer` is called once, also when the command is cancelled. One whose id is that
   * of a running command is ignored: the answer to that one is the only one there is.
   */
  start(command: RemoteCommand, answer: (response: SandboxResponse) => void): void;
  /** Resolves when what runs now has come to its end, and each has been answered. */
  idle(): Promise<void>;
  /** Cancels everything that runs; resolves when it has come to its end. */
  cancel(): Promise<void>;
}

interface Run {
  readonly id: string;
  readonly cancellation: Cancellation;
}

/** Runs commands through the gateway's own handler. */
export function newRemoteCommands({ world, log, handle }: CommandDeps): RemoteCommands {
  const running = new Map<Run, Promise<void>>();

  async function run(command: RemoteCommand, cancellation: Cancellation): Promise<SandboxResponse> {
    const takeBack = world.after(PATIENCE, () => cancellation.cancel(null));
    try {
      const response = await handle(requestOf(command, cancellation));
      const body = await readRemoteBody(response, cancellation, BODY_LIMIT);
      return outcome(command.id, response, body);
    } catch (error) {
      log.error("a remote command has failed; this is a bug", { bug: bugText(error) });
      return refusal(command.id, 500, "The gateway has failed; this is a bug in it.");
    } finally {
      takeBack();
    }
  }

  return {
    start(command, answer) {
      const { id } = command;
      if ([...running.keys()].some((one) => one.id === id && !one.cancellation.isCancelled)) {
        return log.warn("remote control message ignored", { reason: "The command runs already." });
      }
      if (running.size >= MOST_RUNNING) {
        return answer(
          refusal(id, 429, `More than ${MOST_RUNNING} commands at once; send it again.`),
        );
      }
      const one = { id, cancellation: new Cancellation() };
      const ended = run(command, one.cancellation).then((response) => {
        running.delete(one);
        answer(response);
      });
      running.set(one, ended);
    },
    async idle() {
      await Promise.all(running.values());
    },
    async cancel() {
      for (const { cancellation } of running.keys()) cancellation.cancel(null);
      await Promise.all(running.values());
    },
  };
}

/** The answer to a command of which nothing comes back but why. */
export function refusal(id: string, status: number, error: string): SandboxResponse {
  return { command_id: id, ok: false, status_code: status, headers: {}, body: null, error };
}

function requestOf(
  { path, headers, body }: RemoteCommand,
  cancellation: Cancellation,
): Request {
  return new Request(`http://127.0.0.1${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
    signal: cancellation.signal(),
  });
}

function outcome(id: string, { ok, status, headers }: Response, body: RemoteBody): SandboxResponse {
  if (!body.ok) return { ...incomplete(id, body.reason), headers: shown(headers) };
  return {
    command_id: id,
    ok,
    status_code: status,
    headers: shown(headers),
    body: body.text,
    error: ok ? null : `The gateway answered with status ${status}; its body says why.`,
  };
}

function incomplete(id: string, reason: Extract<RemoteBody, { ok: false }>["reason"]) {
  switch (reason) {
    case "too_large":
      return refusal(id, 502, "The answer is larger than 16 MiB.");
    case "stopped":
      // Whoever was stopped for another reason has nobody to hear this.
      return refusal(id, 504, "The command took longer than 5 minutes.");
    case "broken":
      return refusal(id, 502, "The answer broke off.");
  }
}

function shown(headers: Headers): Record<string, string> {
  return Object.fromEntries(SHOWN_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  }));
}
