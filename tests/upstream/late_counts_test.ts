import { success } from "../../src/core/failure/result.ts";
import { newSseFraming } from "../../src/formats/sse.ts";
import { newLargeCounts } from "../../src/upstream/large_counts.ts";
import { readCounts } from "../../src/upstream/late_counts.ts";
import { newRecordReader } from "../../src/upstream/record_reader.ts";
import { assertEquals } from "../support/assert.ts";

const encoder = new TextEncoder();

/** Returns a body of these texts, each of which has arrived in one piece. */
function bodyOf(...texts: readonly string[]) {
  const left = [...texts];
  let turns = 0;
  return {
    read() {
      const text = left.shift();
      return Promise.resolve(success(text === undefined ? null : encoder.encode(text)));
    },
    turn() {
      turns++;
      return null;
    },
    isOver: () => false,
    turnToParse: () => null,
    turns: () => turns,
  };
}

Deno.test("records above 64 KiB are read for counts in turns, of which each reads 256 KiB", async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const record = `data: ${JSON.stringify({ keys: "x".repeat(700 * 1024), usage })}\n\n`;
  const body = bodyOf(record, `data: [DONE]\n\n`);
  const counts = await readCounts(
    null,
    newRecordReader(body, newSseFraming()),
    newLargeCounts(body),
    Infinity,
    () => {},
  );
  assertEquals([counts.usage?.total, body.turns()], [3, 7]);
});

Deno.test("a large record is decoded in turns, of which each takes 256 KiB", async () => {
  const text = "é".repeat(512 * 1024);
  for (const end of ["\n\n:", ""]) {
    const body = bodyOf(`data: ${text}`, end);
    const reader = newRecordReader(body, newSseFraming());
    reader.readOn(64 * 1024 * 1024);
    await reader.next();
    assertEquals(body.turns() >= 4, true);
    if (end !== "") assertEquals(reader.latest()[0]?.data === text, true);
  }
});

Deno.test("nothing is read after the last record of a stream, whose provider may keep its connection open", async () => {
  const ends = [
    "data: [DONE]",
    `data: {"type":"message_stop"}`,
    ...["completed", "incomplete", "failed"].map((end) => `data: {"type": "response.${end}"}`),
    `data: {"model":"m","done":true}`,
  ];
  for (const end of ends) {
    const body = bodyOf("data: {}\n\n", `${end}\n\n`, "data: {}\n\n");
    const source = newRecordReader(body, newSseFraming());
    await readCounts(null, source, newLargeCounts(body), Infinity, () => {});
    assertEquals(await body.read(), success(encoder.encode("data: {}\n\n")), end);
  }
  // Arguments of a call are no end.
  const call = `data: {"message":{"tool_calls":[{"function":{"arguments":{"done":true}}}]}}`;
  const body = bodyOf(`${call}\n\n`, "data: {}\n\n");
  const source = newRecordReader(body, newSseFraming());
  await readCounts(null, source, newLargeCounts(body), Infinity, () => {});
  assertEquals(await body.read(), success(null));
});
