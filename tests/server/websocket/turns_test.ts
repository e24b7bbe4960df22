import type { KeepAlive, StreamRecord } from "../../../src/core/stream/reply.ts";
import { refuse, success } from "../../../src/core/failure/result.ts";
import { compile } from "../../../src/gateway/compile.ts";
import { newGateway } from "../../../src/gateway/gateway.ts";
import { type CallReport, endOf } from "../../../src/observe/report.ts";
import { newCall } from "../../../src/server/new_call.ts";
import { newTurns } from "../../../src/server/websocket/turns.ts";
import { configOf } from "../../config/parse.ts";
import { endpointAt } from "../../observe/reports.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { oneProvider } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";

type Group = readonly StreamRecord[];

/** Returns turns over a writer that sends this number of messages, then none. */
function turnsOver(room: number) {
  const world = scriptedWorld();
  const reports: Readonly<CallReport>[] = [];
  const gateway = newGateway(compile(configOf(oneProvider("http://up.test")), 1), world, [
    (report) => void reports.push(report),
  ]);
  const sent: string[] = [];
  const urgent: boolean[] = [];
  const writer = {
    send(text: string, isUrgent: () => boolean) {
      if (sent.length >= room) return Promise.resolve(false);
      sent.push(text);
      urgent.push(isUrgent());
      return Promise.resolve(true);
    },
    sendNow: (text: string) => void sent.push(text),
  };
  const idle: string[] = [];
  const rim = { ended: gateway.ended, flusher: { soon() {}, cancel() {} }, pace: runNow };
  const turns = newTurns(writer, rim, { onTurn() {}, onIdle: () => void idle.push("idle") });
  return {
    world,
    reports,
    sent,
    urgent,
    idle,
    turns,
    begin(records: () => AsyncGenerator<Group, void, void>, keepAlive?: KeepAlive) {
      const request = new Request("http://localhost/v1/responses");
      const call = newCall(gateway, request, "/v1/responses", endpointAt("/v1/responses", "GET"));
      const reply = success({
        kind: "stream" as const,
        headers: {},
        records: records(),
        ...keepAlive !== undefined && { keepAlive },
      });
      const turn = success({ text: "{}", run: () => Promise.resolve(reply) });
      turns.add(call, { streamId: null, turn });
      return call;
    },
  };
}

function event(data: string): Group {
  return [{ event: null, data, raw: null }];
}

function runNow(task: () => void): void {
  task();
}

Deno.test("when nothing more can be sent the turn is over, and so is its stream", async () => {
  const { begin, world, reports, sent, idle } = turnsOver(1);
  let isEnded = false;
  begin(async function* () {
    try {
      for (let at = 0;; at++) yield event(`{"at":${at}}`);
    } finally {
      isEnded = true;
    }
  });
  await world.advance(0);
  assert(isEnded);
  assertEquals(sent, ['{"at":0}']);
  assertEquals(reports.map(endOf), ["client_gone"]);
  assertEquals(idle, ["idle"]);
});

Deno.test("a turn that ends because response memory is full waits for no client, and one that is drained does", async () => {
  for (const [reason, isUrgent] of [["overloaded", true], ["draining", false]] as const) {
    const { world, turns, urgent, begin } = turnsOver(9);
    const call = begin(async function* () {
      yield event("one");
      call.cancellation.cancel(refuse(reason, "Later.").failure);
      yield event("two");
    });
    await world.advance(0);
    assertEquals([urgent, turns.isIdle], [[false, isUrgent], true]);
  }
});

Deno.test("a client that disconnects after the last event has had the whole response", async () => {
  const { begin, turns, world, reports } = turnsOver(9);
  const ended = Promise.withResolvers<void>();
  begin(async function* () {
    yield event("{}");
    await ended.promise;
  });
  await world.advance(0);
  turns.leave();
  turns.leave();
  ended.resolve();
  await world.advance(0);
  assertEquals(reports.map(endOf), ["complete"]);
  assert(turns.isIdle);
});

Deno.test("a stream that throws is sent as a failure of the gateway, and the next turn runs", async () => {
  const { begin, world, reports, sent } = turnsOver(9);
  begin(async function* () {
    yield event("{}");
    await Promise.resolve();
    throw new RangeError("secret words");
  });
  begin(async function* () {
    await Promise.resolve();
    yield event('{"next":true}');
  });
  await world.advance(0);
  assertEquals([sent.length, sent[0], sent[2]], [3, "{}", '{"next":true}']);
  assert(sent[1]?.includes('"code":"internal_error"') && !sent[1].includes("secret"));
  assertEquals(reports.map(endOf), ["internal", "complete"]);
  assertEquals(reports[0]?.bug?.split("\n")[0], "RangeError");
});

Deno.test("a silent turn gets the sign of life of its stream whenever 15 s have passed, and a comment is none", async () => {
  const { begin, world, sent } = turnsOver(99);
  const steps = [20_000, 50_000];
  function stream(data: string) {
    let count = 0;
    const record = () => ({ event: null, data: data === "" ? "" : `${data}${++count}`, raw: "" });
    begin(async function* () {
      yield event("a");
      for (const ms of steps) {
        await new Promise<void>((resolve) => void world.after(ms, resolve));
        yield event("b");
      }
    }, record);
  }
  stream("alive");
  await world.advance(14_999);
  assertEquals(sent, ["a"]);
  await world.advance(60_000);
  assertEquals(sent, ["a", "alive1", "b", "alive2", "alive3", "alive4", "b"]);
  assertEquals(world.waiting, 0);
  stream("");
  await world.advance(200_000);
  assertEquals(sent.slice(7), ["a", "b", "b"]);
  assertEquals(world.waiting, 0);
});

Deno.test("records without data are no messages", async () => {
  const { begin, world, sent } = turnsOver(9);
  begin(async function* () {
    await Promise.resolve();
    yield [...event(""), ...event("{}"), ...event("")];
  });
  await world.advance(0);
  assertEquals(sent, ["{}"]);
});
