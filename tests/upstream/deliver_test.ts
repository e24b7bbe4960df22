import type { Outcome } from "../../src/core/stream/stream.ts";
import type { StreamRecord } from "../../src/core/stream/reply.ts";
import { refuse, type Result, success } from "../../src/core/failure/result.ts";
import { commit, type Stream } from "../../src/upstream/deliver.ts";
import { assert, assertEquals } from "../support/assert.ts";

const RECORD: StreamRecord = { event: null, data: "word", raw: null };
const TERMINAL: StreamRecord = { event: null, data: "broken", raw: null };

Deno.test("a codec that throws mid-stream leaves one terminal, and its bug is logged", async () => {
  const ends: string[] = [];
  let pushed = 0;
  const stream: Stream = {
    source: { next: () => Promise.resolve(success([RECORD])) },
    translation: {
      push(record) {
        if (pushed++ > 0) throw new RangeError("the prompt");
        return success([record]);
      },
      end: () => success([]),
      fail: () => [TERMINAL],
      done: () => false,
      outcome: () => null,
      usage: () => null,
    },
    onComplete: () => null,
    onBug: (error) => void ends.push(error instanceof Error ? error.name : "no error"),
    onEnd: (failure) => Promise.resolve(void ends.push(failure?.kind ?? "complete")),
  };
  const committed = await commit(stream);
  assert(committed.ok);
  const records = await Array.fromAsync(committed.value);
  assertEquals(records, [[RECORD], [TERMINAL]]);
  assertEquals(ends, ["RangeError", "internal_error"]);
});

/** A stream of these records, of which only the last is sent to the client. */
function waitingStream(groups: readonly (readonly StreamRecord[])[]) {
  const ends: string[] = [];
  const left = [...groups];
  const stream: Stream = {
    source: { next: () => Promise.resolve(success(left.shift() ?? null)) },
    translation: {
      push: (record) => success(record === RECORD ? [record] : []),
      end: () => success([]),
      fail: () => [TERMINAL],
      done: () => false,
      outcome: () => null,
      usage: () => null,
    },
    onComplete: () => null,
    onBug() {},
    onEnd: (failure) => Promise.resolve(void ends.push(failure?.kind ?? "complete")),
  };
  return { stream, ends };
}

/** A record of `size` bytes without content. */
function silent(size: number): StreamRecord {
  return { event: null, data: "", raw: "x".repeat(size) };
}

const MIB = 1024 * 1024;

Deno.test("1,024 records without content may come first, in any groups, and one more may not", async () => {
  const records = (count: number) => Array.from({ length: count }, () => silent(1));
  for (const size of [1, 7, 2000]) {
    const groups = (all: readonly StreamRecord[]) =>
      Array.from(
        { length: Math.ceil(all.length / size) },
        (_, at) => all.slice(at * size, (at + 1) * size),
      );
    const most = waitingStream(groups([...records(1024), RECORD]));
    assert((await commit(most.stream)).ok);
    const more = waitingStream(groups([...records(1025), RECORD]));
    const committed = await commit(more.stream);
    assertEquals(committed.ok ? "" : committed.failure.kind, "upstream_response_too_large");
    assertEquals(more.ends, ["upstream_response_too_large"]);
  }
});

Deno.test("4 MiB of records without content may come first, and one byte more may not", async () => {
  const most = waitingStream([[silent(3 * MIB)], [silent(MIB)], [RECORD]]);
  assert((await commit(most.stream)).ok);
  const more = waitingStream([[silent(3 * MIB)], [silent(MIB + 1)], [RECORD]]);
  const committed = await commit(more.stream);
  assertEquals(committed.ok ? "" : committed.failure.kind, "upstream_response_too_large");
});

Deno.test("records of a call that is held back count with their bytes only", async () => {
  const { stream } = waitingStream([[...Array.from({ length: 2000 }, () => silent(1)), RECORD]]);
  const held = { ...stream, translation: { ...stream.translation, isHolding: () => true } };
  assert((await commit(held)).ok);
  const large = waitingStream([[silent(3 * MIB)], [silent(MIB + 1)], [RECORD]]).stream;
  const translation = { ...large.translation, isHolding: () => true };
  const committed = await commit({ ...large, translation });
  assertEquals(committed.ok ? "" : committed.failure.kind, "upstream_response_too_large");
});

Deno.test("the limit on records without content counts bytes, not characters", async () => {
  const record = { event: null, data: "", raw: "世".repeat(MIB) };
  const committed = await commit(waitingStream([[record], [record], [RECORD]]).stream);
  assertEquals(committed.ok ? "" : committed.failure.kind, "upstream_response_too_large");
  assert((await commit(waitingStream([[record], [RECORD]]).stream)).ok);
});

Deno.test("records without content have no limit once delivery has begun", async () => {
  const behind = Array.from({ length: 5000 }, () => silent(1024));
  const { stream, ends } = waitingStream([[RECORD, ...behind], behind, [RECORD]]);
  const committed = await commit(stream);
  assert(committed.ok);
  const sent: StreamRecord[] = [];
  for await (const group of committed.value) {
    sent.push(...group);
    if (sent.length === 2) break;
  }
  assertEquals([sent, ends], [[RECORD, RECORD], ["client_cancelled"]]);
});

Deno.test("a group of very many records is delivered whole", async () => {
  const many = Array.from({ length: 200_000 }, () => RECORD);
  const { stream } = waitingStream([[silent(1)]]);
  const committed = await commit({
    ...stream,
    translation: { ...stream.translation, push: () => success(many) },
  });
  assert(committed.ok);
  for await (const group of committed.value) {
    assertEquals(group.length, 200_000);
    break;
  }
});

const OUTCOME: Outcome = { resource: { id: "x" }, usage: null };
const DONE: StreamRecord = { event: null, data: "done", raw: null };

/** A stream of one group, a word and the terminal, whose outcome and ID are stored by `storing`. */
function storingStream(storing: Pick<Stream, "onComplete" | "identify">) {
  const ends: string[] = [];
  let isDone = false;
  const stream: Stream = {
    source: { next: () => Promise.resolve(success([RECORD, DONE])) },
    translation: {
      push(record) {
        isDone = record === DONE;
        return success([record]);
      },
      end: () => success([]),
      fail: () => [TERMINAL],
      done: () => isDone,
      outcome: () => isDone ? OUTCOME : null,
      usage: () => null,
      identity: () => "resp_1",
    },
    ...storing,
    onBug: (error) => void ends.push(error instanceof Error ? error.name : "no error"),
    onEnd: (failure) => Promise.resolve(void ends.push(failure?.kind ?? "complete")),
  };
  return { stream, ends };
}

async function sentBy(stream: Stream): Promise<readonly (readonly StreamRecord[])[]> {
  const committed = await commit(stream);
  assert(committed.ok);
  return await Array.fromAsync(committed.value);
}

Deno.test("the terminal is not sent before the outcome is stored", async () => {
  const storing = Promise.withResolvers<Result<void>>();
  const outcomes: Outcome[] = [];
  const { stream, ends } = storingStream({
    onComplete(outcome) {
      outcomes.push(outcome);
      return storing.promise;
    },
  });
  let isSent = false;
  const sent = sentBy(stream).then((groups) => {
    isSent = true;
    return groups;
  });
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  assertEquals([outcomes, isSent], [[OUTCOME], false]);
  storing.resolve(success(undefined));
  assertEquals(await sent, [[RECORD, DONE]]);
  assertEquals(ends, ["complete"]);
});

Deno.test("an outcome that cannot be stored fails the stream in place of its terminal", async () => {
  const full = refuse("state_too_large", "full");
  const { stream, ends } = storingStream({ onComplete: () => Promise.resolve(full) });
  assertEquals(await sentBy(stream), [[RECORD], [TERMINAL]]);
  assertEquals(ends, ["state_too_large"]);
});

Deno.test("a store that throws is a bug, and leaves one terminal", async () => {
  const { stream, ends } = storingStream({ onComplete: () => Promise.reject(new RangeError("x")) });
  assertEquals(await sentBy(stream), [[RECORD], [TERMINAL]]);
  assertEquals(ends, ["RangeError", "internal_error"]);
});

Deno.test("the ID of a stream is stored once, before the first record with it is sent", async () => {
  const steps: string[] = [];
  const groups = [[RECORD], [RECORD], [RECORD, DONE]];
  const { stream } = storingStream({
    onComplete() {
      steps.push("onComplete");
      return null;
    },
    async identify(id) {
      await Promise.resolve();
      steps.push(id);
      return success(undefined);
    },
  });
  const source = { next: () => Promise.resolve(success(groups.shift() ?? null)) };
  const committed = await commit({ ...stream, source });
  assert(committed.ok);
  for await (const group of committed.value) steps.push(...group.map(({ data }) => data));
  assertEquals(steps, ["resp_1", "word", "word", "onComplete", "word", "done"]);
});

Deno.test("a client that leaves while the outcome is stored does not undo a complete stream", async () => {
  const storing = Promise.withResolvers<Result<void>>();
  const { stream, ends } = storingStream({ onComplete: () => storing.promise });
  const groups = [[RECORD], [DONE]];
  const source = { next: () => Promise.resolve(success(groups.shift() ?? null)) };
  const committed = await commit({ ...stream, source });
  assert(committed.ok);
  const records = committed.value[Symbol.asyncIterator]();
  assertEquals(await records.next(), { done: false, value: [RECORD] });
  const last = records.next();
  const left = records.return?.();
  storing.resolve(success(undefined));
  assertEquals(await last, { done: false, value: [DONE] });
  await left;
  assertEquals(ends, ["complete"]);
});

Deno.test("a stream that was held back ends after the read that was awaited, if its client has left", async () => {
  const { stream, ends } = waitingStream([[RECORD]]);
  const second = Promise.withResolvers<Result<readonly StreamRecord[]>>();
  const reads = [Promise.resolve(success([RECORD])), second.promise];
  const committed = await commit({
    ...stream,
    source: { next: () => reads.shift() ?? Promise.resolve(success(null)) },
    hold: {
      maxBytes: 1_000,
      begin(release) {
        queueMicrotask(release);
        return () => {};
      },
      onHeld: () => {},
      onDelivery: () => {},
      onTaken: () => {},
    },
  });
  assert(committed.ok);
  const iterator = committed.value[Symbol.asyncIterator]();
  assertEquals((await iterator.next()).value, [RECORD]);
  const ended = iterator.return?.();
  await Promise.resolve();
  assertEquals(ends, []);
  second.resolve(success([RECORD]));
  await ended;
  assertEquals(ends, ["client_cancelled"]);
});
