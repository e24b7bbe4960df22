import type { StreamRecord } from "../../src/core/reply.ts";
import { success } from "../../src/core/result.ts";
import { commit, type Stream } from "../../src/upstream/deliver.ts";
import { assert, assertEquals } from "../support/assert.ts";

const RECORD: StreamRecord = { event: null, data: "word", raw: null };
const TERMINAL: StreamRecord = { event: null, data: "broken", raw: null };

Deno.test("a codec that throws mid-stream leaves one terminal, and its bug is told", async () => {
  const told: string[] = [];
  let pushed = 0;
  const stream: Stream = {
    source: { next: () => Promise.resolve(success([RECORD])) },
    delivery: {
      push(record) {
        if (pushed++ > 0) throw new RangeError("the prompt");
        return success([record]);
      },
      end: () => success([]),
      fail: () => [TERMINAL],
      done: () => false,
      outcome: () => null,
    },
    settle() {},
    threw: (error) => void told.push(error instanceof Error ? error.name : "no error"),
    over: (failure) => Promise.resolve(void told.push(failure?.kind ?? "complete")),
  };
  const committed = await commit(stream);
  assert(committed.ok);
  const records = await Array.fromAsync(committed.value);
  assertEquals(records, [[RECORD], [TERMINAL]]);
  assertEquals(told, ["RangeError", "internal_error"]);
});
