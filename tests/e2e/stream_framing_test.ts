import { endOf } from "../../src/observe/report.ts";
import { assertEquals } from "../support/assert.ts";
import { chunk, finish, HELLO, ROLE, sse, streamed } from "./streamed.ts";

const SIZES = [1, 7, 10_000];
const HI = JSON.stringify(HELLO);

/** A record in its other spellings; all of them mean the same. */
const SPELLINGS: Readonly<Record<string, string>> = {
  "an event name": `event: message\ndata: ${HI}\n\n`,
  "an id and a time to wait": `id: 17\nretry: 10\ndata: ${HI}\n\n`,
  "lines that end in CR alone": `data: ${HI}\r\r`,
  "data on several lines": `data: ${HI.replaceAll(",", "\ndata: ,")}\n\n`,
  "data on several lines that end in CRLF": `data: ${HI.replaceAll(",", "\r\ndata:,")}\r\n\r\n`,
  "all of it": `: hi\rid: 1\rdata: ${HI.replaceAll("{", "{\rdata: ")}\revent: chunk\rretry: 1\r\r`,
};

for (const [name, text] of Object.entries(SPELLINGS)) {
  Deno.test(`a relayed record with ${name} becomes one line of data, however it is cut`, async () => {
    // More than one, because most are compared with the one before.
    const body = sse(ROLE) + text + text + sse(HELLO) + text + sse(finish(), "[DONE]");
    for (const readSize of SIZES) {
      const call = await streamed(body, { readSize });
      assertEquals(call.text, sse(ROLE, HELLO, HELLO, HELLO, HELLO, finish(), "[DONE]"));
      assertEquals(endOf(call.report), "complete");
    }
  });
}

Deno.test("a stream with CR alone at every line end is relayed as any other", async () => {
  const text = sse(ROLE, HELLO, finish(), "[DONE]");
  for (const readSize of SIZES) {
    assertEquals((await streamed(text.replaceAll("\n", "\r"), { readSize })).text, text);
  }
});

/** Records with nothing for a client. */
const NOTHING = [
  "data:\n\n",
  "data\n\n",
  "data:   \n\n",
  "event: ping\n\n",
  "event: ping\ndata: {}\n\n",
  "id: 1\n\n",
  "retry: 1000\n\n",
  sse("{}"),
  sse({ choices: null }),
  sse({ choices: null, usage: null, id: "other" }),
  sse({ type: "ping" }),
  sse({ object: "chat.completion.metadata", data: [1] }),
];

for (const nothing of NOTHING) {
  Deno.test(`a relayed stream continues behind ${JSON.stringify(nothing)}, which is dropped`, async () => {
    const text = nothing + sse(ROLE) + nothing + sse(HELLO) + nothing + sse(HELLO) + nothing +
      sse(finish()) + nothing + sse("[DONE]");
    for (const readSize of SIZES) {
      const call = await streamed(text, { readSize });
      assertEquals(call.text, sse(ROLE, HELLO, HELLO, finish(), "[DONE]"));
      assertEquals(endOf(call.report), "complete");
    }
  });
}

Deno.test("comments are relayed to the client as keep-alives", async () => {
  const text = sse(ROLE, HELLO) + ": alive\n\n" + sse(HELLO) + ": one\n: two\n\n" +
    sse(finish(), "[DONE]");
  for (const readSize of SIZES) assertEquals((await streamed(text, { readSize })).text, text);
});

Deno.test("[DONE] with blanks around it is [DONE]", async () => {
  const text = sse(ROLE, HELLO, finish());
  const ends = [
    "data:  [DONE]\n\n",
    "data: [DONE] \n\n",
    "data: \t[DONE]\t\r\n\r\n",
    "data:[DONE]\r\r",
  ];
  for (const end of [...ends, "event: done\ndata: [DONE]\n\n", "data:\ndata: [DONE]\n\n"]) {
    const call = await streamed(text + end + sse(HELLO));
    assertEquals(call.text, text + sse("[DONE]"));
    assertEquals(endOf(call.report), "complete");
  }
});

Deno.test("a record that must change for another reason is written on one line, too", async () => {
  const other = JSON.stringify(chunk({ content: "x" }, { id: "other" }));
  const text = sse(HELLO) + `id: 1\ndata: ${other.replaceAll(",", ",\ndata:")}\n\n` +
    sse(finish(), "[DONE]");
  assertEquals(
    (await streamed(text)).text,
    sse(HELLO, chunk({ content: "x" }), finish(), "[DONE]"),
  );
});

Deno.test("an error without an error member is an error of the provider", async () => {
  for (const error of [{ object: "error", message: "No." }, { type: "error", message: "No." }]) {
    const early = await streamed(sse(ROLE, { ...error, code: 400 }));
    assertEquals([early.status, JSON.parse(early.text).error.message], [400, "No."]);
    const late = await streamed(sse(ROLE, HELLO, error, finish(), "[DONE]"));
    assertEquals(endOf(late.report), "stream_broken");
  }
});
