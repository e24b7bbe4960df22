import { assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { type RecordingGateway, recordingGateway, recordSection, withFolder } from "./support.ts";

type Gateway = Pick<RecordingGateway, "app">;

function world() {
  return scriptedWorld({ fetch: () => answers(200, COMPLETION) });
}

/** Returns what a client receives of a call, without the IDs of the call. */
async function receive({ app }: Gateway): Promise<string> {
  const request = chatRequest({ body: { messages: [{ role: "user", content: "Hi" }] } });
  const response = await app(request);
  const headers = [...response.headers].filter(([name]) => !name.endsWith("request-id"));
  return JSON.stringify([response.status, headers, await response.text()]);
}

/** Runs calls while a disk does something after each; all must be as without a record. */
async function runCalls(
  calls: number,
  disk: (gateway: RecordingGateway, call: number) => Promise<void> | void,
): Promise<Readonly<Record<string, number>>> {
  const text = oneProvider("http://up");
  const expected = await receive(testGateway(text, world()));
  let counts: Readonly<Record<string, number>> = {};
  await withFolder(async (folder) => {
    const time = world();
    const gateway = await recordingGateway(recordSection(folder) + text, time);
    gateway.thread.block();
    for (let call = 0; call < calls; call++) {
      const before = time.now();
      assertEquals(await receive(gateway), expected);
      // The clock does not move while a call runs, so no call waits for anything.
      assertEquals(time.now(), before);
      await time.advance(2);
      await disk(gateway, call);
    }
    gateway.thread.unblock();
    await gateway.finish();
    counts = gateway.counts;
  });
  return counts;
}

Deno.test("1,000 calls are as without a record while each write takes 80 ms", async () => {
  const counts = await runCalls(1_000, ({ thread }, call) => {
    // A call ends every 2 ms.
    if (call % 40 !== 39) return;
    thread.unblock();
    thread.block();
  });
  assertEquals(counts, { all: 1_000 });
});

Deno.test("calls are as without a record while the thread does not run", async () => {
  assertEquals(await runCalls(300, () => {}), { all: 300 });
});

Deno.test("calls are as without a record while the disk is full; each record is counted", async () => {
  const counts = await runCalls(300, ({ thread }, call) => {
    if (call === 0) thread.unblock();
    thread.replaceNext({ kind: "written", written: { ok: false, problem: "full" } });
  });
  assertEquals(counts, { disk: 300 });
});
