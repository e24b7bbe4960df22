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

/** Runs one turn of a WebSocket over a new gateway, and fails if it leaves a task behind. */
export async function turnOver(targets: readonly LateTarget[], route: string, isClosing = false) {
  const gateway = lateGateway(targets, route);
  const result = await turnOn(gateway, isClosing);
  assertEquals(gateway.world.waiting, 0);
  return result;
}

/**
 * Runs one turn of a WebSocket over a gateway, and returns the messages with the seconds of their
 * arrival. The client of a socket that closes takes none. Several turns may run at a time.
 */
export async function turnOn(
  { gateway, world, aborted }: ReturnType<typeof lateGateway>,
  isClosing = false,
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
  turns.add(call, newResponsesSession(1_000, () => {}).parseMessage(MESSAGE, () => null));
  while (!turns.isIdle) await world.advance(500);
  await world.advance(100);
  return {
    sent,
    aborted,
    types: sent.map(({ event }) => String(event.type)),
    report: call.report,
  };
}
