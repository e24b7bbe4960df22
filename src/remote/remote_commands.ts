import { bugText } from "../core/failure/bug_text.ts";
import { type BoundedBody, readBounded } from "../core/bounded_body.ts";
import { Cancellation } from "../core/cancellation.ts";
import type { World } from "../core/world.ts";
import type { Log } from "../observe/log.ts";
import type { RemoteCommand, SandboxResponse } from "./remote_messages.ts";

/** Maximum number of concurrent commands; further ones are answered with 429. */
const MAX_RUNNING_COMMANDS = 8;

/** Timeout of one command. */
const COMMAND_TIMEOUT_MS = 5 * 60 * 1000;

/** Maximum length of a response body. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Response headers that are returned to the dashboard. */
const SHOWN_HEADERS = [
  "content-type",
  "x-gateway-request-id",
  "x-gateway-provider",
  "x-gateway-model",
  "x-gateway-route",
];

/** Dependencies of remote commands. */
export interface CommandDeps {
  readonly world: World;
  readonly log: Log;
  /** Serves a request under all policies of the gateway. */
  handle(request: Request): Promise<Response>;
}

interface Run {
  readonly id: string;
  readonly cancellation: Cancellation;
}

/** Returns a runner that sends commands to the handler of the gateway. */
export function newRemoteCommands({ world, log, handle }: CommandDeps) {
  const running = new Map<Run, Promise<void>>();

  async function run(command: RemoteCommand, cancellation: Cancellation): Promise<SandboxResponse> {
    const cancelTimeout = world.after(COMMAND_TIMEOUT_MS, () => cancellation.cancel(null));
    try {
      const response = await handle(newRequest(command, cancellation));
      const body = await readBounded(response, cancellation, MAX_BODY_BYTES);
      return outcome(command.id, response, body);
    } catch (error) {
      log.error("a remote command failed; this is a bug", { bug: bugText(error) });
      return refusal(command.id, 500, "The gateway failed; this is a bug.");
    } finally {
      cancelTimeout();
    }
  }

  return {
    /**
     * Starts a command and calls `answer` once, also after a cancellation. A command with the ID of
     * a running command is ignored: the dashboard expects one response per ID.
     */
    start(command: RemoteCommand, answer: (response: SandboxResponse) => void): void {
      const { id } = command;
      if ([...running.keys()].some((one) => one.id === id && !one.cancellation.isCancelled)) {
        return log.warn("remote control message ignored", {
          reason: "A command with this command_id is already running.",
        });
      }
      if (running.size >= MAX_RUNNING_COMMANDS) {
        return answer(
          refusal(id, 429, `More than ${MAX_RUNNING_COMMANDS} commands at once; retry later.`),
        );
      }
      const one = { id, cancellation: new Cancellation() };
      const ended = run(command, one.cancellation).then((response) => {
        running.delete(one);
        answer(response);
      });
      running.set(one, ended);
    },
    /** Resolves when all commands that run now are answered. */
    async idle(): Promise<void> {
      await Promise.all(running.values());
    },
    /** Cancels all running commands; resolves when they have ended. */
    async cancel(): Promise<void> {
      for (const { cancellation } of running.keys()) cancellation.cancel(null);
      await Promise.all(running.values());
    },
  };
}

/** Returns the response to a command that failed, without a body. */
export function refusal(id: string, status: number, error: string): SandboxResponse {
  return { command_id: id, ok: false, status_code: status, headers: {}, body: null, error };
}

function newRequest(
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

function outcome(
  id: string,
  { ok, status, headers }: Response,
  body: BoundedBody,
): SandboxResponse {
  if (!body.ok) return { ...incomplete(id, body.reason), headers: shown(headers) };
  return {
    command_id: id,
    ok,
    status_code: status,
    headers: shown(headers),
    body: decoder.decode(body.bytes),
    error: ok ? null : `The gateway responded with status ${status}; see body.`,
  };
}

function incomplete(id: string, reason: Extract<BoundedBody, { ok: false }>["reason"]) {
  switch (reason) {
    case "too_large":
      return refusal(id, 502, "The response is larger than 16 MiB.");
    case "stopped":
      // After any other cancellation the connection is closed, so this text is not sent.
      return refusal(id, 504, "The command took longer than 5 minutes.");
    case "broken":
      return refusal(id, 502, "The response is incomplete.");
  }
}

function shown(headers: Headers): Record<string, string> {
  return Object.fromEntries(SHOWN_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  }));
}
