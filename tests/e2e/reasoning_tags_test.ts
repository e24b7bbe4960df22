import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";
import { choicesOf, delivered } from "./delivered.ts";
import { chunk, finish, HELLO, ROLE, sse, streamed } from "./streamed.ts";

const SET = ", extract_reasoning_tags: true";
const TAGGED = "<think>hm</think>Hello";
const EXTRACTED = { content: "Hello", reasoning_content: "hm" };

/** Returns content and reasoning of each chunk; chunks without either are left out. */
function messagesIn(text: string): readonly JsonObject[] {
  const { ending, chunks } = delivered(text);
  assertEquals(ending, "complete");
  return chunks.flatMap(choicesOf).flatMap(({ delta }) => isObject(delta) ? spoken(delta) : []);
}

function spoken({ content = "", reasoning_content = "" }: JsonObject): JsonObject[] {
  return [
    ...(reasoning_content === "" ? [] : [{ reasoning_content }]),
    ...(content === "" || content === null ? [] : [{ content }]),
  ];
}

Deno.test("complete reasoning regions of a stream become reasoning when that is set", async () => {
  const tagged = chunk({ content: TAGGED });
  const text = sse(ROLE, tagged, HELLO, HELLO, tagged, finish(), "[DONE]");
  assertEquals((await streamed(text)).text, text);
  const plain = { content: "Hello" };
  const reasoning = { reasoning_content: "hm" };
  assertEquals(
    messagesIn((await streamed(text, { settings: SET })).text),
    [reasoning, plain, plain, plain, reasoning, plain],
  );
});

Deno.test("a reasoning region that is split between records stays in the content", async () => {
  const text = sse(
    ROLE,
    chunk({ content: "<think>hm" }),
    chunk({ content: "</think>Hello" }),
    finish(),
    "[DONE]",
  );
  assertEquals((await streamed(text, { settings: SET })).text, text);
});

Deno.test("complete reasoning regions of an answer become reasoning when that is set", async () => {
  const answer = (message: JsonObject) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }],
  });
  const body = JSON.stringify(answer({ content: TAGGED }));
  const fields = { stream: false };
  assertEquals((await streamed(body, { fields })).text, body);
  const { text } = await streamed(body, { fields, settings: SET });
  assertEquals<unknown>(parseJson(text), answer(EXTRACTED));
});

Deno.test("a translated upstream's regions become reasoning as well", async () => {
  const line = (content: string, done: boolean) =>
    JSON.stringify({ message: { role: "assistant", content }, done }) + "\n";
  const text = line(TAGGED, false) + line("!", false) + line("", true);
  const wire = "local";
  assertEquals(messagesIn((await streamed(text, { wire })).text), [{ content: TAGGED }, {
    content: "!",
  }]);
  assertEquals(messagesIn((await streamed(text, { wire, settings: SET })).text), [
    { reasoning_content: "hm" },
    { content: "Hello" },
    { content: "!" },
  ]);
});
