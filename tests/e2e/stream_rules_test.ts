import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { assertRefused, contentOf, delivered } from "./delivered.ts";
import { chunk, finish, HELLO, IDENTITY, ROLE, sse, streamed } from "./streamed.ts";

Deno.test("all chunks of a stream have the ID and creation time of the first chunk", async () => {
  const text = sse(
    ROLE,
    chunk({ content: "a" }, { id: "chatcmpl-8" }),
    chunk({ content: "b" }, { created: 5 }),
    finish({ id: "", created: 1_700_000_009 }),
    "[DONE]",
  );
  const { ending, chunks } = delivered((await streamed(text)).text);
  assertEquals(ending, "complete");
  for (const { id, created } of chunks) {
    assertEquals([id, created], [IDENTITY.id, IDENTITY.created]);
  }
});

Deno.test("missing members of chunks are filled in, the same in all chunks", async () => {
  const choices = (delta: unknown, end: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason: end }],
  });
  const text = sse(
    choices({ role: "assistant", content: "a" }),
    { id: null, object: null, created: null, model: null, ...choices({ content: "b" }) },
    { id: "theirs", ...choices({}, "stop") },
    "[DONE]",
  );
  const { ending, chunks } = delivered((await streamed(text)).text);
  assertEquals(ending, "complete");
  assertEquals(chunks.length, 3);
  const [first] = chunks;
  assertMatch(String(first?.id), /^chatcmpl-[0-9a-f]{32}$/);
  for (const { id, object, created, model } of chunks) {
    assertEquals([id, created], [first?.id ?? "", 1_700_000_000]);
    assertEquals([object, model], ["chat.completion.chunk", "m"]);
  }
});

Deno.test("a response without content is complete", async () => {
  const text = sse(ROLE, finish(), "[DONE]");
  const call = await streamed(text);
  assertEquals(call.text, text);
  assertEquals(endOf(call.report), "complete");
});

Deno.test("a missing [DONE] is added", async () => {
  const text = sse(ROLE, HELLO, finish());
  const call = await streamed(text);
  assertEquals(call.text, `${text}data: [DONE]\n\n`);
  assertEquals(endOf(call.report), "complete");
});

Deno.test("a [DONE] or an end of the stream before the finish is a failure", async () => {
  for (const end of [sse("[DONE]"), ""]) {
    const late = await streamed(sse(ROLE, HELLO) + end);
    assertEquals(delivered(late.text).ending, "broken");
    assertEquals(contentOf(delivered(late.text)), "Hello");
    assertEquals(endOf(late.report), "stream_broken");
    const early = await streamed(sse(ROLE) + end);
    assertRefused(early.status, early.text, 502, /^invalid_upstream_response$/);
    assertEquals(endOf(early.report), "upstream_invalid");
  }
});

Deno.test("nothing after [DONE] is delivered", async () => {
  const text = sse(ROLE, HELLO, finish(), "[DONE]");
  for (const rest of [sse(HELLO), sse("[DONE]"), sse("{broken"), ": bye\n\n", "data: {"]) {
    for (const readSize of [5, 10_000]) {
      const call = await streamed(text + rest, { readSize });
      assertEquals(call.text, text);
      assertEquals(endOf(call.report), "complete");
    }
  }
});

Deno.test("a stream with an unfinished choice is incomplete", async () => {
  const other = { index: 1, delta: { content: "b" }, finish_reason: null };
  const both = chunk({}, {
    choices: [{ index: 0, delta: { content: "a" }, finish_reason: null }, other],
  });
  const otherEnd = chunk({}, { choices: [{ index: 1, delta: {}, finish_reason: "length" }] });
  assertEquals(delivered((await streamed(sse(both, finish()))).text).ending, "broken");
  assertEquals(delivered((await streamed(sse(both, finish(), otherEnd))).text).ending, "complete");
});

/** Records that are no chunk. */
const MALFORMED = [
  "{broken",
  '{"a":1}trailing',
  "[1]",
  '"text"',
  "null",
  "7",
  '{"choices":3}',
  '{"choices":{}}',
];

for (const record of MALFORMED) {
  Deno.test(`the record ${record} is malformed before delivery and after`, async () => {
    const early = await streamed(sse(ROLE, record, HELLO, finish(), "[DONE]"));
    assertRefused(early.status, early.text, 502, /^invalid_upstream_response$/);
    assertEquals(endOf(early.report), "upstream_invalid");
    const late = await streamed(sse(ROLE, HELLO, record, HELLO, finish(), "[DONE]"));
    assertEquals(delivered(late.text).ending, "broken");
    assertEquals(delivered(late.text).texts, [JSON.stringify(ROLE), JSON.stringify(HELLO)]);
    assertEquals(endOf(late.report), "stream_broken");
  });
}

Deno.test("bytes that are no UTF-8 are malformed before delivery and after", async () => {
  const bytes = (text: string) => [...new TextEncoder().encode(text)];
  const bad = [...bytes('data: {"a":"'), 0xc3, 0x28, ...bytes('"}\n\n')];
  const early = await streamed(Uint8Array.from([...bytes(sse(ROLE)), ...bad]));
  assertRefused(early.status, early.text, 502, /^invalid_upstream_response$/);
  const begun = bytes(sse(ROLE, HELLO));
  const late = await streamed(Uint8Array.from([...begun, ...bad]), { readSize: begun.length });
  assertEquals(delivered(late.text).ending, "broken");
});

const SECRET = "internal detail";
/**
 * Records with an error, and the status of an answer that begins with it: 502 unless its type has
 * one.
 */
const ERRORS: readonly (readonly [record: string, status: number])[] = [
  [sse({ error: { message: SECRET, type: "server_error", code: "oops" } }), 500],
  [sse({ error: SECRET }), 502],
  [`event: error\n${sse({ error: { message: SECRET } })}`, 502],
  [`event: error\n${sse({ message: SECRET })}`, 502],
];

for (const [record, status] of ERRORS) {
  Deno.test(`a stream may begin with an error: ${JSON.stringify(record)}`, async () => {
    const call = await streamed(sse(ROLE) + record);
    assertEquals(call.status, status);
    assert(call.text.includes(SECRET) && call.text.startsWith('{"error":{'), call.text);
    assertEquals(endOf(call.report), "upstream_status");
  });

  Deno.test(`a stream may break with an error: ${JSON.stringify(record)}`, async () => {
    const call = await streamed(sse(ROLE, HELLO) + record + sse(HELLO, finish(), "[DONE]"));
    assertEquals(delivered(call.text).ending, "broken");
    assertEquals(contentOf(delivered(call.text)), "Hello");
    assert(!call.text.includes(SECRET), call.text);
    assertEquals(endOf(call.report), "stream_broken");
  });
}

Deno.test("an error in a stream that names its status is sent with that status", async () => {
  const error = { message: "slow down", type: "rate_limit_error", code: 429 };
  const call = await streamed(sse({ error }));
  assertEquals(call.status, 429);
  assert(call.text.includes("slow down"));
});

Deno.test("an error member that is null is no error", async () => {
  const text = sse({ ...HELLO, error: null }, finish(), "[DONE]");
  assertEquals((await streamed(text)).text, text);
});

Deno.test("a chunk whose event name is error is an error at any position of the stream", async () => {
  const named = `event: error\n${sse(HELLO)}`;
  const call = await streamed(sse(HELLO, HELLO, HELLO) + named + sse(finish(), "[DONE]"));
  assertEquals(delivered(call.text).ending, "broken");
  assertEquals(delivered(call.text).chunks.length, 3);
});
