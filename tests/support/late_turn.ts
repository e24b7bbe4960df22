import { newResponsesSession } from "../../src/api/responses/socket/session.ts";
import { newCall } from "../../src/server/new_call.ts";
import { newTurns } from "../../src/server/websocket/turns.ts";
import { endpointAt } from "../observe/reports.ts";
import { assertEquals } from "./assert.ts";
import { lateGateway, type LateTarget } from "./late_upstreams.ts";

const MESSAGE = JSON.stringify({
  type: "response.create",
  model: "asked",
  input: "Hi",
  store: false,
});

/** Runs one turn of a WebSocket over a new gateway. */
export function turnOver(targets: readonly LateTarget[], route: string, isClosing = false) {
  return turnOn(lateGateway(targets, route), { isClosing });
}

/**
 * Runs one turn of a WebSocket over a gateway, and returns the messages with the seconds of their
 * arrival. The client of a socket that closes takes none. `number` counts the calls of the gateway.
 */
export async function turnOn(
  { gateway, world, reported, aborted }: ReturnType<typeof lateGateway>,
  { isClosing = false, number = 1 } = {},
) {
  const sent: { readonly at: number; readonly event: Record<string, unknown> }[] = [];
  const add = (text: string) => void sent.push({ at: world.now() / 1000, event: JSON.parse(text) });
  const writer = {
    send(text: string) {
      add(text);
      if (!isClosing) return Promise.resolve(true);
      return new Promise<boolean>((resolve) => void world.after(1_000, () => resolve(false)));
    },
    sendNow: add,
  };
  const responder = {
    ended: gateway.ended,
    flusher: { soon() {}, cancel() {} },
    pace: (task: () => void) => task(),
  };
  const turns = newTurns(writer, responder, { onTurn() {}, onIdle() {} });
  const request = new Request("http://localhost/v1/responses");
  const facts = endpointAt("/v1/responses", "GET");
  const call = newCall(gateway, request, "/v1/responses", facts);
  turns.add(call, newResponsesSession(1_000, () => {}).parseMessage(MESSAGE));
  while (!turns.isIdle) await world.advance(500);
  await world.advance(100);
  assertEquals(world.waiting, 0);
  return {
    sent,
    aborted,
    types: sent.map(({ event }) => String(event.type)),
    report: await reported(number),
  };
}
