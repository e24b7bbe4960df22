import type { JsonObject } from "../../../src/core/json/json.ts";
import { newRealWorld } from "../../../src/cli/real_world.ts";
import { assertEquals } from "../assert.ts";
import { create, type SocketClient } from "../socket_client.ts";
import { socketGateway } from "../socket_gateway.ts";
import type { GrowingCall } from "./doubling.ts";
import {
  growingConfig,
  MAX_GROWN_MEMBERS,
  type ProviderName,
  PROVIDERS,
  sendOf,
} from "./growing_gateway.ts";
import { shortAnswer, times } from "./spoken.ts";

/** Items in the largest case over a socket, where each item is a separate turn. */
const MAX_TURNS = 200;

const ENDING = /"type":"(?:response\.(?:completed|incomplete|failed)|error)"/;

/**
 * Sends messages one after the other and reads what answers each; returns how the last one ended.
 */
async function sendAll(client: SocketClient, messages: readonly JsonObject[]): Promise<string> {
  let ending = "";
  for (const message of messages) {
    client.send(message);
    do ending = ENDING.exec(await client.text())?.[0] ?? ""; while (ending === "");
  }
  return ending;
}

/** Returns a call that opens a socket and sends messages over it. */
function socketCall(
  name: string,
  provider: ProviderName,
  messagesOf: (n: number) => readonly JsonObject[],
  most?: number,
): GrowingCall {
  return {
    name: `responses over a socket and ${provider}: ${name}`,
    most,
    async prepare(n) {
      const messages = messagesOf(n);
      const real = newRealWorld();
      const world = { ...real, send: sendOf(shortAnswer(provider, true)) };
      const served = socketGateway(growingConfig(), { world });
      const client = await served.open();
      return {
        run: async () =>
          assertEquals(await sendAll(client, messages), '"type":"response.completed"'),
        async close() {
          await client.close();
          await served[Symbol.asyncDispose]();
          real.close();
        },
      };
    },
  };
}

const USER = { role: "user", content: "Hi" };

/** Messages over a WebSocket, many or large ones, for every type of provider. */
export const SOCKET_CALLS: readonly GrowingCall[] = PROVIDERS.flatMap((provider) => {
  const model = `${provider}/m`;
  return [
    socketCall(
      "messages",
      provider,
      (n) => times(n, (at) => create({ model, stream_id: `lane ${at}` })),
      MAX_TURNS,
    ),
    socketCall(
      "items of a message",
      provider,
      (n) => [create({ model, input: times(n, () => USER) })],
      MAX_GROWN_MEMBERS,
    ),
  ];
});
