import { fileURLToPath } from "node:url";
import { type Channel, newChannel } from "./channel.ts";
import { type Line, newLineReader } from "./lines.ts";
import type { ToParent, ToWorker } from "./messages.ts";

/** The hidden command that a worker process runs. */
export const WORKER_COMMAND = "worker";

/**
 * The program of this process. The link exists only on Linux, as the workers do. As a permission it
 * lets the program start itself and nothing else, wherever it is installed.
 */
export const OWN_PROGRAM = "/proc/self/exe";

/** Maximum length of a log line of a worker; a longer one is dropped. */
const MAX_LOG_LINE_CHARS = 1024 * 1024;

/** A worker process with its channel. */
export interface WorkerProcess {
  readonly pid: number;
  readonly channel: Channel<ToWorker, ToParent>;
  kill(): void;
  /**
   * Resolves with how the process ended, such as `signal SIGKILL`, when all of its log lines are
   * passed on.
   */
  readonly ended: Promise<string>;
}

/** Facts of this process that decide whether it can start workers. */
export interface Abilities {
  readonly os: string;
  readonly mayRun: boolean;
  /** True if the program is not an executable and its permissions can be handed on. */
  readonly hasWholePermissions: boolean;
}

/** Returns whether this process can start workers. */
export function ownAbilities(): Abilities {
  const isGranted = (name: "net" | "read" | "env") =>
    Deno.permissions.querySync({ name }).state === "granted";
  const run = Deno.permissions.querySync({ name: "run", command: OWN_PROGRAM });
  return {
    os: Deno.build.os,
    mayRun: run.state === "granted",
    hasWholePermissions: isGranted("net") && isGranted("read") && isGranted("env"),
  };
}

/** Returns the reason why this process cannot start workers, as a sentence; null if it can. */
export function workersObstacle({ os, mayRun, hasWholePermissions }: Abilities): string | null {
  if (os !== "linux") {
    return "server.workers: more than one worker needs Linux: this system does not distribute " +
      "the connections of one port to several processes; set it to 1";
  }
  if (!mayRun) {
    return "server.workers: more than one worker needs the right to start this program; add " +
      `--allow-run=${OWN_PROGRAM} to its permissions, or set it to 1`;
  }
  return hasWholePermissions ? null : "server.workers: more than one worker needs --allow-net, " +
    "--allow-read and --allow-env without lists, which cannot be handed on; or set it to 1";
}

/** Receives what a worker logs. */
export interface WorkerLog {
  /** Receives a line with its line end. */
  line(text: string): void;
  /** Receives the length of a line in characters that is longer than `MAX_LOG_LINE_CHARS`. */
  dropped(chars: number): void;
}

/** Starts a worker process, and passes its log on. */
export function startWorker(log: WorkerLog): WorkerProcess {
  const child = new Deno.Command(OWN_PROGRAM, {
    args: [...programArguments(), WORKER_COMMAND],
    clearEnv: true,
    env: inheritedVariables(Deno.env.toObject()),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const logged = passOn(child.stderr, log);
  return {
    pid: child.pid,
    channel: newChannel(child.stdout, child.stdin),
    kill() {
      try {
        child.kill("SIGKILL");
      } catch {
        // The process has ended already.
      }
    },
    ended: Promise.all([child.status, logged]).then(([{ code, signal }]) =>
      signal === null ? `exit code ${code}` : `signal ${signal}`
    ),
  };
}

/**
 * Returns the environment of a worker. The runtime permits no process with variables of the dynamic
 * linker.
 */
export function inheritedVariables(
  environment: Readonly<Record<string, string>>,
): Record<string, string> {
  const entries = Object.entries(environment).filter(([name]) => !/^(LD|DYLD)_/.test(name));
  return Object.fromEntries(entries);
}

/**
 * Returns the arguments before the command: none for an executable, which has its permissions built
 * in.
 */
function programArguments(): string[] {
  if (Deno.build.standalone) return [];
  const program = programPath(Deno.mainModule);
  return ["run", "--no-prompt", "--unstable-net", ...grantedPermissions(), program];
}

/**
 * Returns the path of a program file from its URL, in which every reserved character is escaped.
 */
export function programPath(url: string): string {
  return fileURLToPath(url);
}

/** Folders of the C library; see the permissions of the program. */
const LIBRARY_FOLDERS = ["/lib", "/lib64", "/usr/lib"];

/**
 * Returns the permissions of this process that a worker needs. It neither writes files nor starts
 * processes.
 */
function grantedPermissions(): string[] {
  const isGranted = (descriptor: Deno.PermissionDescriptor) =>
    Deno.permissions.querySync(descriptor).state === "granted";
  const folders = LIBRARY_FOLDERS.filter((path) => isGranted({ name: "ffi", path }));
  return [
    "--allow-net",
    "--allow-read",
    "--allow-env",
    ...isGranted({ name: "sys", kind: "hostname" }) ? ["--allow-sys=hostname"] : [],
    ...folders.length === 0 ? [] : [`--allow-ffi=${folders.join(",")}`],
  ];
}

/** Passes whole lines on, so that lines of several processes never mix. */
export async function passOn(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  log: WorkerLog,
): Promise<void> {
  const lines = newLineReader(MAX_LOG_LINE_CHARS);
  const pass = (line: Line) =>
    line.kind === "whole" ? log.line(`${line.text}\n`) : log.dropped(line.chars);
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
    lines.push(piece).forEach(pass);
  }
  const last = lines.rest();
  if (last !== null) pass(last);
}
