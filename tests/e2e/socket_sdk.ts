import OpenAI from "openai";
import { ResponsesWebSocketSession } from "openai/lib/responses/responses-websocket-session";
import { ResponsesWS } from "openai/resources/responses/ws";
// The SDK's socket is made of it, and finds it only in a program that has it too.
import "ws";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { EVERY_TYPE } from "../support/simulated.ts";
import { socketGateway } from "../support/socket_gateway.ts";

/** The official client with its own socket (`ws`) before a gateway before the simulator. */
export interface SocketSdk extends AsyncDisposable {
  readonly client: OpenAI;
  /** Opens a socket, and the SDK's helper that reads it. */
  open(): Promise<SdkSocket>;
}

/** One socket of the SDK. */
export interface SdkSocket extends AsyncDisposable {
  readonly session: ResponsesWebSocketSession;
  /** Everything that came, by its type. */
  readonly types: readonly string[];
}

const LIMITS = { maxLanes: 32, maxBufferedEvents: 10_000, maxBufferedBytes: 16 * 1024 * 1024 };

/**
 * Starts the simulator and the gateway, each on its own port; the file of the gateway begins with
 * `top`.
 */
export function startSocketSdk(top = ""): SocketSdk {
  const world = newRealWorld();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    newSimulator(world),
  );
  const config = top + EVERY_TYPE.replaceAll("sim.test", `127.0.0.1:${server.addr.port}`);
  const served = socketGateway(config);
  const client = new OpenAI({ baseURL: `${served.url}/v1`, apiKey: "sk-client", maxRetries: 0 });

  async function open(): Promise<SdkSocket> {
    const socket = new ResponsesWS(client);
    const types: string[] = [];
    const opened = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    socket.on("event", ({ type }) => void types.push(type));
    socket.on("error", (error) => opened.reject(error));
    socket.on("close", () => closed.resolve());
    socket.socket.on("open", () => opened.resolve());
    await opened.promise;
    const session = new ResponsesWebSocketSession(socket, LIMITS);
    return {
      session,
      types,
      async [Symbol.asyncDispose]() {
        session.close();
        socket.close();
        await closed.promise;
      },
    };
  }

  return {
    client,
    open,
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      await server.shutdown();
      world.close();
    },
  };
}
