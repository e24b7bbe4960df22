import { newLargeCounts } from "../../src/upstream/large_counts.ts";
import { assertEquals } from "../support/assert.ts";

const USAGE = `"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}`;

/** Members of 100 steps each. */
function members(count: number): string {
  return Array(count).fill('"\\u0061":0').join(",");
}

/** A reader of counts whose body is read no more after `maxTurns`. */
function readerOf(maxTurns = Infinity) {
  let turns = 0;
  const turn = () => {
    turns++;
    return null;
  };
  return { read: newLargeCounts({ turn, isOver: () => turns > maxTurns }), turns: () => turns };
}

Deno.test("counts are read in 16 million steps, of all texts of an attempt together", async () => {
  const text = (count: number) => `{"a":{"b":"1234",${members(count)}},${USAGE}}`;
  const { read } = readerOf();
  assertEquals((await read(text(100_000))).usage?.total, 3);
  assertEquals(await read(text(100_000)), { usage: null, textBytes: 4 });
  assertEquals(await read(`{${USAGE}}`), { usage: null, textBytes: 0 });
});

Deno.test("a member with counts is not read after the steps are used up", async () => {
  const { read, turns } = readerOf();
  const text = new TextEncoder().encode(`{"response":{${members(200_000)}}}`);
  assertEquals((await read(text)).usage, null);
  // 160,000 members of 11 bytes, 256 KiB in each turn, and none of them again.
  assertEquals(turns(), 7 + 1);
});

Deno.test("a text is read no further once its call is cancelled, and has the counts before", async () => {
  const { read, turns } = readerOf(3);
  const text = new TextEncoder().encode(`{${USAGE},"a":"${"x".repeat(4 * 1024 * 1024)}"}`);
  const { usage, textBytes } = await read(text);
  assertEquals([usage?.total, turns()], [3, 4]);
  assertEquals(Math.round(textBytes / 1024), 768);
  assertEquals(await readerOf(0).read("x".repeat(4 * 1024 * 1024)), { usage: null, textBytes: 0 });
});

Deno.test("of a text that breaks off, counts are read that are whole", async () => {
  const { read } = readerOf();
  assertEquals((await read(`{${USAGE}`)).usage?.total, 3);
  // The last number may lack digits.
  for (const end of [-1, -2, -6]) {
    assertEquals((await read(`{${USAGE.slice(0, end)}`)).usage?.total, 3, `${end}`);
  }
  const cut = await read('{"usage":{"prompt_tokens":5,"completion_tokens":4,"total_tokens":1');
  assertEquals([cut.usage?.input, cut.usage?.output, cut.usage?.total], [5, 4, 9]);
  const details = '{"prompt_tokens_details":{"cached_tokens":2,"audio_tokens":0},"prompt_tokens":7';
  for (const end of [-1, -20, -30]) {
    const beginning = `{"usage":{"completion_tokens":3,${details.slice(1, end)}`;
    assertEquals((await read(beginning)).usage?.output, 3, beginning);
  }
  assertEquals((await read('{"usage":{"prompt_tokens":5')).usage, null);
  const { input, unknown } = (await read('{"prompt_eval_count":12,"eval_count":3')).usage ?? {};
  assertEquals<unknown>([input, unknown], [12, "output"]);
});

Deno.test("a `response` that is no object hides no counts", async () => {
  for (const response of ["null", '"x"', "[]"]) {
    const message = `"message":{"content":"x"},"prompt_eval_count":1,"eval_count":2`;
    const local = await readerOf().read(`{"response":${response},${message}}`);
    assertEquals(local.usage?.total, 3);
  }
});
