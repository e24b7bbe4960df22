import { isDeepStrictEqual } from "node:util";
import type { World } from "../core/world.ts";
import type { Generation } from "../call/generation.ts";
import type { Log } from "../observe/log.ts";
import { newRemoteCommands, refusal } from "./remote_commands.ts";
import { newLink, type RemoteLink } from "./remote_link.ts";
import { newHello, parseMessage, type SandboxResponse } from "./remote_messages.ts";

const PATH = "/remote-control/ws/gateway";

/** Delay before a reconnect; it doubles from the minimum to the maximum. */
const MIN_RECONNECT_DELAY_MS = 1_000;
const MAX_RECONNECT_DELAY_MS = 15_000;

/** Random part of each delay, so that many gateways do not reconnect at the same time. */
const JITTER_RATIO = 0.5;

/** Maximum length of a message: the largest accepted request and its envelope. */
const MAX_MESSAGE_CHARS = 10 * 1024 * 1024 + 64 * 1024;

/** Address of the dashboard and identity of this gateway. */
export interface RemoteControlSettings {
  /** Base URL of the dashboard, `http:` or `https:`. */
  readonly backendUrl: string;
  readonly apiKey: string;
  readonly instanceId: string;
}

/** Dependencies of remote control. */
export interface RemoteControlDeps {
  readonly world: World;
  readonly log: Log;
  /** Returns the current generation. */
  generation(): Generation;
  /** Serves a request under all policies of the gateway. */
  handle(request: Request): Promise<Response>;
}

/**
 * Opens a WebSocket to the dashboard and serves the requests received on it like client requests.
 * No other message of the dashboard has an effect. A lost connection is opened again.
 */
export function newRemoteControl(
  settings: RemoteControlSettings,
  deps: RemoteControlDeps,
) {
  const { world, log } = deps;
  const { apiKey, instanceId } = settings;
  const commands = newRemoteCommands(deps);
  const url = addressOf(settings.backendUrl);
  let link: RemoteLink | null = null;
  let wait = MIN_RECONNECT_DELAY_MS;
  let isLossKnown = false;
  let cancelRetry = () => {};
  /** Last hello message on this connection; null before it is open. */
  let lastHello: ReturnType<typeof newHello> | null = null;
  connect();

  function connect() {
    try {
      link = newLink({ url, apiKey, world }, { opened, message, over });
    } catch {
      log.error("remote control is off: backend_url or api_key cannot be used for a connection");
    }
  }

  function opened() {
    isLossKnown = false;
    log.info("remote control connected");
    greet();
  }

  function greet() {
    const message = newHello(instanceId, deps.generation());
    if (isDeepStrictEqual(message, lastHello)) return;
    lastHello = message;
    link?.send(message);
  }

  function over(wasGood: boolean) {
    void commands.cancel();
    lastHello = null;
    if (wasGood) wait = MIN_RECONNECT_DELAY_MS;
    const text = "no connection for remote control; the connection is retried";
    if (isLossKnown) log.debug(text);
    else log.warn(text);
    isLossKnown = true;
    cancelRetry = world.after(wait * (1 - JITTER_RATIO * world.random()), connect);
    wait = Math.min(wait * 2, MAX_RECONNECT_DELAY_MS);
  }

  function message(data: unknown) {
    if (typeof data !== "string") return ignore("The message is binary.");
    if (data.length > MAX_MESSAGE_CHARS) return ignore("The message is larger than 10 MiB.");
    const read = parseMessage(data);
    switch (read.type) {
      case "heartbeat":
        return;
      case "sandbox.execute":
        return commands.start(read.command, answerOn(link));
      case "wrong":
        if (read.commandId === null) return ignore(read.reason);
        return answerOn(link)(refusal(read.commandId, 400, read.reason));
    }
  }

  function ignore(reason: string) {
    log.warn("remote control message ignored", { reason });
  }

  async function close() {
    cancelRetry();
    await Promise.all([commands.cancel(), link?.close()]);
  }

  return {
    /** Sends the hello message again if a new generation has changed it. */
    announce(): void {
      if (lastHello !== null) greet();
    },
    /**
     * Waits at most `ms` milliseconds until running commands are answered, then closes the
     * connection.
     */
    async finish(ms: number): Promise<void> {
      const late = Promise.withResolvers<void>();
      const giveUp = world.after(ms, late.resolve);
      await Promise.race([commands.idle(), late.promise]);
      giveUp();
      await close();
    },
    /** Cancels running commands and closes the connection; resolves when both have ended. */
    close,
  };
}

/**
 * Returns a function that sends a response on the connection of its command; dropped if that is
 * closed.
 */
function answerOn(link: RemoteLink | null): (response: SandboxResponse) => void {
  return (response) => link?.send({ type: "sandbox.response", ...response });
}

function addressOf(backendUrl: string): string {
  return backendUrl.replace(/\/+$/, "").replace(/^http/i, "ws") + PATH;
}
