import { newResponsesSession } from "../../../src/api/responses/socket/session.ts";
import { newCall } from "../../../src/server/new_call.ts";
import { newTurns } from "../../../src/server/websocket/turns.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  failing,
  lateGateway,
  type LateTarget,
  streaming,
  STREAMS,
} from "../../support/late_upstreams.ts";
import { endpointAt } from "../../observe/reports.ts";

const MESSAGE = JSON.stringify({
  type: "response.create",
  model: "asked",
  input: "Hi",
  store: false,
});

/** Runs one turn, and returns the messages with the seconds of their arrival. */
async function turnOver(
  targets: readonly LateTarget[],
  route: string,
  isClosing = false,
) {
  const { gateway, world, reported, aborted } = lateGateway(targets, route);
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
  const turns = newTurns(writer, responder, { onTurnEnd() {}, onIdle() {} });
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
    report: await reported(1),
  };
}

function late(type: LateTarget["type"], ms: number): LateTarget {
  return { type, answers: [streaming(STREAMS[type] ?? [], ms)] };
}

Deno.test("a turn whose candidates are all translated begins early with the events of a stream, and its numbers have no gaps", async () => {
  for (const type of ["compat", "messages"] as const) {
    const { sent, types, report } = await turnOver([late(type, 50_500)], "early_head: 20s");
    assertEquals(sent.filter(({ at }) => at < 50.5).map(({ at }) => at), [20, 20, 35, 50]);
    assertEquals(types.slice(0, 4), [
      "response.created",
      "response.in_progress",
      "response.in_progress",
      "response.in_progress",
    ]);
    assertEquals(sent.map(({ event }) => event.sequence_number), [...sent.keys()]);
    assertEquals(types.at(-1), "response.completed");
    assertEquals([report.ms.earlyHead, report.ms.firstToken], [20_000, 50_500]);
  }
});

Deno.test("a turn with a native candidate says nothing before the response, and fails with an error event", async () => {
  const native = await turnOver([late("responses", 50_500)], "early_head: 20s");
  assertEquals(native.sent[0]?.at, 50.5);
  assertEquals(native.sent.map(({ event }) => event.sequence_number), [0, 1, 2, 3, 4, 5, 6, 7, 9]);
  assertEquals(native.report.ms.earlyHead, null);
  const failed = { type: "responses", answers: [failing(500, 30_000)] } as const;
  assertEquals((await turnOver([failed], "early_head: 20s")).types, ["error"]);
});

Deno.test("a turn that fails after its early begin ends with response.failed", async () => {
  const failed = { type: "compat", answers: [failing(429, 30_000)] } as const;
  const { sent, types } = await turnOver([failed], "early_head: 20s");
  assertEquals(types, ["response.created", "response.in_progress", "response.failed"]);
  assertEquals(sent.map(({ event }) => event.sequence_number), [0, 1, 2]);
  assert(JSON.stringify(sent.at(-1)?.event).includes('"code":"rate_limit_exceeded"'));
});

Deno.test("a response that arrives while the socket of its turn closes is ended", async () => {
  const { types, aborted, report } = await turnOver(
    [{
      type: "compat",
      answers: [streaming((STREAMS.compat ?? []).slice(1), 20_500, 10_000)],
    }],
    "early_head: 20s",
    true,
  );
  assertEquals([types, aborted], [["response.created"], ["up0"]]);
  assertEquals(report.failure?.kind, "client_cancelled");
});

Deno.test("a held turn that breaks is answered by the fallback, and marked in the report", async () => {
  for (const type of ["compat", "messages", "responses"] as const) {
    const pieces = (STREAMS[type] ?? []).slice(0, 3);
    const cut = { type, answers: [streaming(pieces, 1_000, 0, true)] };
    const { sent, types, report } = await turnOver([cut, late(type, 1_000)], "hold: 30s");
    assertEquals(types.filter((one) => one === "response.created").length, 1);
    assertEquals(types.at(-1), "response.completed");
    const deltas = sent.map(({ event }) => event.delta ?? "").join("");
    assertEquals([deltas, report.held, report.fallbacks], ["Alpha beta", "complete", 1]);
  }
});
