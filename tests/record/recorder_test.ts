import { openRecorder, QUEUE_LIMITS } from "../../src/record/recorder.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { oneProvider } from "../support/gateway.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { scriptedWorld } from "../support/world.ts";
import {
  heldThread,
  type RecordingGateway,
  recordingGateway,
  recordSection,
  withFolder,
} from "./support.ts";

function world() {
  return scriptedWorld({ fetch: () => answers(200, COMPLETION) });
}

async function send({ app }: Pick<RecordingGateway, "app">, content = "Hi"): Promise<number> {
  const response = await app(chatRequest({ body: { messages: [{ role: "user", content }] } }));
  await response.body?.cancel();
  return response.status;
}

function writes({ thread }: RecordingGateway): readonly number[] {
  return thread.requests.flatMap((one) => one.kind === "write" ? [one.records.length] : []);
}

Deno.test("records are written in groups of 32, or half a second after the first one", () =>
  withFolder(async (folder) => {
    const time = world();
    const gateway = await recordingGateway(recordSection(folder) + oneProvider("http://up"), time);
    await send(gateway);
    await time.advance(499);
    assertEquals(writes(gateway), []);
    await time.advance(1);
    assertEquals(writes(gateway), [1]);
    for (let call = 0; call < 40; call++) await send(gateway);
    await time.advance(0);
    assertEquals(writes(gateway), [1, 32]);
    await time.advance(500);
    assertEquals(writes(gateway), [1, 32, 8]);
    assertEquals(gateway.counts, { all: 41 });
    assertEquals((await gateway.finish()).length, 41);
  }));

Deno.test("records with more text than is written together wait for no further ones", () =>
  withFolder(async (folder) => {
    const time = world();
    const gateway = await recordingGateway(recordSection(folder) + oneProvider("http://up"), time);
    for (let call = 0; call < 5; call++) await send(gateway, "a".repeat(1_000_000));
    await time.advance(0);
    assertEquals(writes(gateway), [2, 2]);
    await time.advance(500);
    assertEquals(writes(gateway), [2, 2, 1]);
    assertEquals(gateway.counts, { all: 5 });
    await gateway.finish();
  }));

Deno.test("a thread that does not answer stops no call; what has no room is dropped and counted", () =>
  withFolder(async (folder) => {
    const time = world();
    const limits = { ...QUEUE_LIMITS, records: 40 };
    const text = recordSection(folder) + oneProvider("http://up");
    const gateway = await recordingGateway(text, time, limits);
    gateway.thread.block();
    for (let call = 0; call < 50; call++) assertEquals(await send(gateway), 200);
    assertEquals(gateway.counts, { queue: 10 });
    gateway.thread.unblock();
    await time.advance(10_000);
    assertEquals((await gateway.finish()).length, 40);
    assertEquals(gateway.counts, { queue: 10, all: 40 });
    assertEquals(gateway.recorder.sizes().queueChars, 0);
  }));

Deno.test("no log line has content, whatever goes wrong with a record", () =>
  withFolder(async (folder) => {
    const time = world();
    const text = recordSection(folder) + oneProvider("http://up");
    const limits = { ...QUEUE_LIMITS, records: 1 };
    const gateway = await recordingGateway(text, time, limits);
    const { thread, lines } = gateway;
    const written = { ok: true, all: 0, heads: 0, unredacted: 1 } as const;
    const totals = { records: 0, bytes: 0, oldest: null, newest: null };
    for (
      const reply of [
        { kind: "written", written: { ...written, totals } },
        { kind: "written", written: { ok: false, problem: "full" } },
        { kind: "broken" },
      ] as const
    ) {
      // The second one finds no room.
      await send(gateway, "private words");
      await send(gateway, "private words");
      thread.replaceNext(reply);
      await time.advance(120_000);
    }
    await gateway.recorder.close();
    const all = lines.join("\n");
    for (const reason of ["queue", "redaction", "disk", "paused", "ended"]) {
      assertMatch(all, new RegExp(reason));
    }
    assert(!all.includes("private"), all);
  }));

Deno.test("text that waits never exceeds its bound in memory", () =>
  withFolder(async (folder) => {
    const time = world();
    const limits = { ...QUEUE_LIMITS, chars: 1_000_000 };
    const text = recordSection(folder) + oneProvider("http://up");
    const gateway = await recordingGateway(text, time, limits);
    gateway.thread.block();
    for (let call = 0; call < 15; call++) {
      assertEquals(await send(gateway, "a".repeat(90_000)), 200);
      assert(gateway.recorder.sizes().queueChars <= limits.chars);
    }
    assertEquals(gateway.counts, { queue: 5 });
    gateway.thread.unblock();
    await gateway.finish();
  }));

Deno.test("headers and queries that wait count as text does", () =>
  withFolder(async (folder) => {
    const limits = { ...QUEUE_LIMITS, chars: 100_000 };
    const text = recordSection(folder) + oneProvider("http://up");
    const gateway = await recordingGateway(text, world(), limits);
    gateway.thread.block();
    const long = "a".repeat(30_000);
    for (let call = 0; call < 4; call++) {
      const sent = chatRequest({ body: { messages: [{ role: "user", content: "Hi" }] } });
      const request = new Request(`${sent.url}?page=${long}`, sent);
      request.headers.set("traceparent", long);
      assertEquals((await gateway.app(request)).status, 200);
    }
    assertEquals(gateway.counts, { queue: 3 });
    gateway.thread.unblock();
    await gateway.finish();
  }));

Deno.test("a running response for which there is no room loses its text, and not its request", () =>
  withFolder(async (folder) => {
    const time = world();
    const limits = { ...QUEUE_LIMITS, chars: 100_000 };
    const long = { message: { role: "assistant", content: "b".repeat(200_000) } };
    const answer = { ...COMPLETION, choices: [{ index: 0, ...long, finish_reason: "stop" }] };
    const text = recordSection(folder) + oneProvider("http://up");
    const gateway = await recordingGateway(
      text,
      scriptedWorld({ fetch: () => answers(200, answer) }),
      limits,
    );
    assertEquals(await send(gateway), 200);
    await time.advance(1);
    const [record] = await gateway.finish();
    assertEquals([record?.head.cut, record?.response?.body], [["response"], null]);
    assert(record?.request?.body?.includes("Hi"));
  }));

Deno.test("a warning names the number of dropped records, at once and then once a minute", () =>
  withFolder(async (folder) => {
    const time = world();
    const limits = { ...QUEUE_LIMITS, records: 1 };
    const text = recordSection(folder) + oneProvider("http://up");
    const gateway = await recordingGateway(text, time, limits);
    gateway.thread.block();
    for (let call = 0; call < 4; call++) await send(gateway);
    const dropped = () => gateway.lines.filter((line) => line.startsWith("records dropped"));
    assertEquals(dropped(), ['records dropped {"queue":1}']);
    await time.advance(59_999);
    assertEquals(dropped().length, 1);
    await time.advance(1);
    assertEquals(dropped().slice(1), ['records dropped {"queue":2}']);
    await time.advance(120_000);
    assertEquals(dropped().length, 2);
    gateway.thread.unblock();
    await gateway.finish();
  }));

Deno.test("a thread that ends stops the recording for good, and no call; what waits is counted", () =>
  withFolder(async (folder) => {
    const time = world();
    const gateway = await recordingGateway(recordSection(folder) + oneProvider("http://up"), time);
    for (let call = 0; call < 3; call++) await send(gateway);
    gateway.thread.crash();
    assertEquals(gateway.counts, { worker: 3 });
    const { isOn, queueChars, dropped } = gateway.recorder.sizes();
    assertEquals([await send(gateway), isOn, queueChars], [200, false, 0]);
    assertEquals(dropped, gateway.counts.worker);
    assertEquals(
      await gateway.recorder.scan({ filter: {}, before: null, limit: 1, withContent: false }),
      null,
    );
    assertMatch(
      gateway.lines.join("\n"),
      /recording has ended; a restart .* \{"reason":"worker"\}/,
    );
    assertEquals(gateway.reports.at(-1)?.recorded, null);
    await gateway.recorder.close();
  }));

Deno.test("a full disk pauses the recording for a minute, and drops what comes meanwhile", () =>
  withFolder(async (folder) => {
    const time = world();
    const gateway = await recordingGateway(recordSection(folder) + oneProvider("http://up"), time);
    await send(gateway);
    gateway.thread.replaceNext({ kind: "written", written: { ok: false, problem: "full" } });
    await time.advance(500);
    assertEquals(gateway.counts, { disk: 1 });
    await send(gateway);
    await time.advance(59_000);
    assertEquals(gateway.counts, { disk: 2 });
    await time.advance(1_000);
    await send(gateway);
    await time.advance(500);
    assertEquals(gateway.counts, { disk: 2, all: 1 });
    assertMatch(gateway.lines.join("\n"), /recording paused for a minute \{"reason":"full"\}/);
    assertMatch(gateway.lines.join("\n"), /records dropped \{"disk":1\}/);
    await gateway.recorder.close();
  }));

Deno.test("at shutdown what waits is written within two seconds, and the rest is counted", () =>
  withFolder(async (folder) => {
    const time = world();
    const gateway = await recordingGateway(recordSection(folder) + oneProvider("http://up"), time);
    for (let call = 0; call < 40; call++) await send(gateway);
    assertEquals((await gateway.finish()).length, 40);

    const other = await recordingGateway(recordSection(folder) + oneProvider("http://up"), time);
    other.thread.block();
    await send(other);
    const closing = other.recorder.close();
    await time.advance(2_000);
    await closing;
    assertEquals(other.counts, { shutdown: 1 });
    assertMatch(other.lines.join("\n"), /records dropped \{"shutdown":1\}/);
    assertEquals(time.waiting, 0);
  }));

Deno.test("old records are deleted once a minute, without a new one", () =>
  withFolder(async (folder) => {
    const time = world();
    const settings = "calls: all, keep: 1h";
    const gateway = await recordingGateway(
      recordSection(folder, settings) + oneProvider("http://up"),
      time,
    );
    await send(gateway);
    await time.advance(3_600_000);
    assert(gateway.recorder.sizes().oldestMs > 0);
    await time.advance(60_000);
    assertEquals(gateway.recorder.sizes().oldestMs, 0);
    assertEquals(await gateway.finish(), []);
  }));

Deno.test("a reload changes what is recorded of the next calls, and the bounds of the file", () =>
  withFolder(async (folder) => {
    const time = world();
    const gateway = await recordingGateway(recordSection(folder) + oneProvider("http://up"), time);
    await send(gateway);
    const next = parsedConfig(
      `${recordSection(folder, "calls: heads, keep: 2h")}${oneProvider("http://up")}`,
    );
    gateway.gateway.reload(next);
    gateway.recorder.apply(next);
    await send(gateway);
    gateway.gateway.reload(
      parsedConfig(oneProvider("http://up")),
    );
    await send(gateway);
    assertEquals(gateway.reports.map(({ recorded }) => recorded), ["all", "heads", null]);
    assertEquals((await gateway.finish()).length, 2);
    const applied = gateway.thread.requests.flatMap((one) =>
      one.kind === "apply" ? [one.settings.keepMs] : []
    );
    assertEquals(applied, [7_200_000]);
  }));

Deno.test("a record that waits is masked by the policy of its time, whatever a reload brings meanwhile", () =>
  withFolder(async (folder) => {
    const time = world();
    const secret = `AKIA${"Q7MZ".repeat(4)}`;
    const text = (policy: string) =>
      recordSection(folder, `calls: all, policy: ${policy}`) + oneProvider("http://up");
    const gateway = await recordingGateway(text("credentials"), time);
    for (const policy of ["none", "credentials", "none"]) {
      await send(gateway, `It is ${secret}`);
      gateway.recorder.apply(parsedConfig(text(policy)));
    }
    await time.advance(500);
    await time.advance(500);
    await time.advance(500);
    const records = await gateway.finish();
    assertEquals(
      records.map(({ request }) => request?.body?.includes(secret)),
      [false, true, false],
    );
  }));

Deno.test("a file in a missing folder, or one that is a folder, is refused with one sentence", () =>
  withFolder(async (folder) => {
    const ignore = () => {};
    for (
      const [path, reason] of [["none/record.db", "no_folder"], ["", "no_file"]] as const
    ) {
      const config = parsedConfig(
        recordSection(folder).replace("/record.db", `/${path}`) + oneProvider("http://up"),
      );
      const opened = await openRecorder(config, {
        world: scriptedWorld(),
        log: { info: ignore, warn: ignore, error: ignore },
        recorded: ignore,
        dropped: ignore,
        start: heldThread().start,
      });
      assert(!opened.ok);
      assertMatch(opened.problem, /^The database ".*" \(record\.path\) .*\.$/);
      assertEquals(opened.reason, reason);
    }
  }));
