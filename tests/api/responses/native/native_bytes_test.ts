import { assertEquals } from "../../../support/assert.ts";
import { NATIVE_RECORDS } from "./native_recording.ts";
import { relayed } from "./native_stream.ts";

const TEXT = NATIVE_RECORDS.join("");
const READ_SIZES = [1, 7, TEXT.length * 4];

Deno.test("a native stream keeps every byte, however it is split into reads", async () => {
  for (const text of [TEXT, TEXT.replaceAll("\n", "\r\n"), TEXT.replaceAll("\n", "\r")]) {
    for (const readSize of READ_SIZES) {
      const answer = await relayed(`${text}data: [DONE]\n\n`, { readSize });
      assertEquals([answer.text, answer.broken], [text, null], `${readSize} bytes a read`);
    }
  }
});

Deno.test("a local conversation is set in every Response object, and no other byte changes", async () => {
  const wanted = TEXT
    .replace('"conversation":null', '"conversation":{"id":"conv_1"}')
    .replace('data:{"response" : {', 'data:{"response" : {"conversation":{"id":"conv_1"},')
    .replace(
      '"sequence_number":12,"response":{',
      '"sequence_number":12,"response":{"conversation":{"id":"conv_1"},',
    );
  for (const readSize of READ_SIZES) {
    const answer = await relayed(TEXT, { readSize, conversation: "conv_1" });
    assertEquals([answer.text, answer.broken], [wanted, null]);
    assertEquals<unknown>(answer.outcome?.resource?.conversation, { id: "conv_1" });
  }
});

Deno.test("the local conversation replaces a conversation that the provider sends", async () => {
  const theirs = TEXT.replace('"conversation":null', '"conversation":{"id":"conv_x","a":[1.0]}');
  const [, given] = (await relayed(theirs, { conversation: 'a"b' })).text.split("\n\n");
  const kept = NATIVE_RECORDS[1]?.replace('"conversation":null', '"conversation":{"id":"a\\"b"}');
  assertEquals(`${given}\n\n`, kept);
});
