import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { compile } from "../../src/gateway/compile.ts";
import { newLog, textOf } from "../../src/observe/log.ts";
import { newRemoteControl } from "../../src/remote/remote_control.ts";
import { assert } from "./assert.ts";
import { parsedConfig } from "./parsed_config.ts";
import {
  type Dashboard,
  type DashboardScript,
  type DashboardSocket,
  startDashboard,
} from "./dashboard.ts";
import { oneProvider, testGateway } from "./gateway.ts";
import { type ScriptedWorld, scriptedWorld, type WorldScript } from "./world.ts";

/** Options of a test of remote control. */
export interface RemoteOptions extends WorldScript {
  readonly config?: string;
  /** Plays the gateway's own handler. */
  readonly handle?: (request: Request) => Promise<Response>;
  readonly dashboard?: DashboardScript;
  /** An address in place of that of the dashboard. */
  readonly backendUrl?: string;
}

/** A gateway under remote control, and the dashboard that controls it. */
export interface Remote extends AsyncDisposable {
  readonly dashboard: Dashboard;
  /** The one of gateway and channel; time passes only by it. */
  readonly world: ScriptedWorld;
  /** Every timer that was requested, in milliseconds. */
  readonly timers: readonly number[];
  /** Log lines of the channel at every level. */
  readonly log: readonly string[];
  /** Resolves when `count` lines of the log contain the text. */
  logged(text: string, count?: number): Promise<void>;
  /** The next connection, after its hello. */
  socket(): Promise<DashboardSocket>;
  close(): Promise<void>;
}

/** The key of the channel: it must be in no log. */
export const REMOTE_KEY = "sk-remote-marked";

const CONFIG = oneProvider("http://upstream.test/v1");

/** Opens a channel to a new dashboard. */
export function startRemote(options: RemoteOptions = {}): Remote {
  const { config = CONFIG } = options;
  const dashboard = startDashboard(options.dashboard);
  const world = scriptedWorld(options);
  const timers: number[] = [];
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const log = newLog({ level: "debug", format: "json" }, (line) => {
    lines.push(textOf(line));
    for (const look of waiting) look();
  });
  const generation = compile(parsedConfig(config), 1);
  const { app } = testGateway(config, world);
  const control = newRemoteControl({
    backendUrl: options.backendUrl ?? dashboard.url,
    apiKey: REMOTE_KEY,
    instanceId: "instance-1",
  }, {
    world: {
      ...world,
      after(ms, task) {
        timers.push(ms);
        return world.after(ms, task);
      },
    },
    log,
    generation: () => generation,
    handle: options.handle ?? ((request) => app(request)),
  });

  return {
    dashboard,
    world,
    timers,
    log: lines,
    logged(text, count = 1) {
      return new Promise((resolve) => {
        function look() {
          if (lines.filter((line) => line.includes(text)).length < count) return;
          waiting.delete(look);
          resolve();
        }
        waiting.add(look);
        look();
      });
    },
    async socket() {
      const socket = await dashboard.socket();
      await nextOf(socket, "hello");
      return socket;
    },
    close: control.close,
    async [Symbol.asyncDispose]() {
      await control.close();
      await dashboard.close();
    },
  };
}

/** The next message of a connection, which must be of this type. */
export async function nextOf(socket: DashboardSocket, type: string): Promise<JsonObject> {
  const message = await socket.receive();
  assert(isObject(message) && message.type === type, `no ${type}: ${JSON.stringify(message)}`);
  return message;
}

/** A command that a gateway with one route called `main` can serve; members are replaced. */
export function command(id: string, members: JsonObject = {}): JsonObject {
  return {
    type: "sandbox.execute",
    command_id: id,
    target: { mode: "route", value: "main" },
    request_type: "chat_completions",
    request: { model: "m", messages: [{ role: "user", content: "Hi" }] },
    ...members,
  };
}

/** Sends a command and resolves with what came of it. */
export async function executed(
  socket: DashboardSocket,
  members: JsonObject = {},
): Promise<JsonObject> {
  const sent = command("c-1", members);
  socket.send(sent);
  const response = await nextOf(socket, "sandbox.response");
  assert(response.command_id === sent.command_id, "the answer is that of another command");
  return response;
}
