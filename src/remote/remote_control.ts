import { isDeepStrictEqual } from "node:util";
import type { World } from "../core/world.ts";
import type { Generation } from "../call/generation.ts";
import type { Log } from "../observe/log.ts";
import { newRemoteCommands, refusal } from "./remote_commands.ts";
import { newLink, type RemoteLink } from "./remote_link.ts";
import { newHello, parseMessage, type SandboxResponse } from "./remote_messages.ts";

const PATH = "/remote-control/ws/gateway";

/** The wait before a connection is tried again, in milliseconds, doubles from the one to the other. */
const SHORTEST_WAIT = 1_000;
const LONGEST_WAIT = 15_000;

/** How much of a wait is left to chance, so that a fleet does not come back all at once. */
const JITTER = 0.5;

/** Characters of a message: the largest request that the gateway takes, and what stands around it. */
const LARGEST_MESSAGE = 10 * 1024 * 1024 + 64 * 1024;

/** Whose remote control it is. */
export interface RemoteControlSettings {
  /** `http:` or `https:`. */
  readonly backendUrl: string;
  readonly apiKey: string;
  readonly instanceId: string;
}

/** What remote control needs of the gateway. */
export interface RemoteControlDeps {
  readonly world: World;
  readonly log: Log;
  /** The one that new calls get. */
  generation(): Generation;
  /** The gateway's own handler, with all its policies. */
  handle(request: Request): Promise<Response>;
}

/** The control channel of a gateway. */
export interface RemoteControl {
  /** Says hello again when a new generation has changed what it says. */
  announce(): void;
  /** As `close`, after what runs is answered; that is waited for so many milliseconds. */
  finish(ms: number): Promise<void>;
  /** Cancels what runs and ends the connection; resolves when both are over. */
  close(): Promise<void>;
}

/**
 * Keeps a WebSocket to the dashboard open and runs the requests that come from there, each like one
 * of a client: nothing else that the dashboard says has any effect. Lost connections are replaced.
 */
export function newRemoteControl(
  settings: RemoteControlSettings,
  deps: RemoteControlDeps,
): RemoteControl {
  const { world, log } = deps;
  const { apiKey, instanceId } = settings;
  const commands = newRemoteCommands(deps);
  const url = addressOf(settings.backendUrl);
  let link: RemoteLink | null = null;
  let wait = SHORTEST_WAIT;
  let isLossKnown = false;
  let cancelRetry = () => {};
  /** What this connection was told; null before it is open. */
  let said: ReturnType<typeof newHello> | null = null;
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
    if (isDeepStrictEqual(message, said)) return;
    said = message;
    link?.send(message);
  }

  function over(wasGood: boolean) {
    void commands.cancel();
    said = null;
    if (wasGood) wait = SHORTEST_WAIT;
    const text = "no connection for remote control; it is tried again";
    if (isLossKnown) log.debug(text);
    else log.warn(text);
    isLossKnown = true;
    cancelRetry = world.after(wait * (1 - JITTER * world.random()), connect);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }

  function message(data: unknown) {
    if (typeof data !== "string") return ignore("The message is binary.");
    if (data.length > LARGEST_MESSAGE) return ignore("The message is larger than 10 MiB.");
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
    announce() {
      if (said !== null) greet();
    },
    async finish(ms) {
      const late = Promise.withResolvers<void>();
      const giveUp = world.after(ms, late.resolve);
      await Promise.race([commands.idle(), late.promise]);
      giveUp();
      await close();
    },
    close,
  };
}

/** An answer goes to the connection that its command came from, or nowhere. */
function answerOn(link: RemoteLink | null): (response: SandboxResponse) => void {
  return (response) => link?.send({ type: "sandbox.response", ...response });
}

function addressOf(backendUrl: string): string {
  return backendUrl.replace(/\/+$/, "").replace(/^http/i, "ws") + PATH;
}
