import { dialogueOf } from "../../src/record/dialogue.ts";
import { assertEquals } from "../support/assert.ts";
import { newRecord } from "../support/records.ts";

Deno.test("a request or a response with too many levels has no dialogue, and the other one has", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}"deep"${"]".repeat(levels)}`;
  const body = (levels: number) => `{"messages":[{"role":"user","content":${nested(levels)}}]}`;
  const answer = (levels: number) =>
    `{"choices":[],"output":[{"type":"message","content":${nested(levels)}}]}`;
  const dialogue = (asked: number, answered: number) =>
    dialogueOf(newRecord({
      request: { body: body(asked) },
      response: { headers: {}, body: answer(answered), events: null },
    })).map(({ role }) => role);
  assertEquals(dialogue(2, 2), ["user", "assistant"]);
  assertEquals(dialogue(2, 200_000), ["user"]);
  assertEquals(dialogue(200_000, 2), ["assistant"]);
});

Deno.test("a body that was cut is in the dialogue as it is", () => {
  assertEquals(
    dialogueOf(newRecord({
      request: { body: '{"messages":[{"role":"user","content":"Hel' },
      response: { headers: {}, body: '{"choices":[{"message":{"content":"Wor', events: null },
    })),
    [
      { role: "request", text: '{"messages":[{"role":"user","content":"Hel' },
      { role: "response", text: '{"choices":[{"message":{"content":"Wor' },
    ],
  );
});

Deno.test("the dialogue of a stream names the tools that it calls, and has the beginnings of blocks", () => {
  const dialogue = (events: readonly object[]) =>
    dialogueOf(newRecord({
      response: {
        headers: {},
        body: null,
        events: events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""),
      },
    })).slice(1);
  const call = { type: "tool_use", id: "c", name: "Bash", input: {} };
  const messages = [
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "I " } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "look." } },
    { type: "content_block_start", index: 1, content_block: call },
    { type: "content_block_delta", index: 1, delta: { partial_json: '{"command":' } },
    { type: "content_block_delta", index: 1, delta: { partial_json: '"ls"}' } },
  ];
  const item = { type: "custom_tool_call", name: "Bash" };
  const responses = [
    { type: "response.output_text.delta", delta: "I look." },
    { type: "response.output_item.added", item },
    { type: "response.custom_tool_call_input.delta", delta: '{"command":' },
    { type: "response.custom_tool_call_input.delta", delta: '"ls"}' },
  ];
  const wanted = [
    { role: "assistant", text: "I look." },
    { role: "tool call Bash", text: '{"command":"ls"}' },
  ];
  assertEquals([dialogue(messages), dialogue(responses)], [wanted, wanted]);
});

Deno.test("a refusal is what the model says, and the call of a custom tool has its input, whole and in a stream", () => {
  const events = (...values: readonly object[]) => ({
    headers: {},
    body: null,
    events: values.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""),
  });
  const whole = (value: object) => ({ headers: {}, body: JSON.stringify(value), events: null });
  const chat = (name: string, message: object) => ({ choices: [{ index: 0, [name]: message }] });
  const custom = (name: string | undefined, input: string) => ({
    tool_calls: [{ index: 0, custom: { name, input } }],
  });
  const part = { type: "refusal", refusal: "I will not." };
  for (
    const response of [
      whole(chat("message", { content: null, refusal: "I will not." })),
      whole({ output: [{ type: "message", content: [part] }] }),
      events(chat("delta", { refusal: "I will " }), chat("delta", { refusal: "not." })),
      events(
        { type: "response.refusal.delta", delta: "I will " },
        { type: "response.refusal.delta", delta: "not." },
      ),
    ]
  ) {
    const [, answer] = dialogueOf(newRecord({ response }));
    assertEquals(answer, { role: "assistant", text: "I will not." });
  }
  for (
    const response of [
      whole(chat("message", custom("sql", "select 1"))),
      events(chat("delta", custom("sql", "select ")), chat("delta", custom(undefined, "1"))),
    ]
  ) {
    const [, called] = dialogueOf(newRecord({ response }));
    assertEquals(called, { role: "tool call sql", text: "select 1" });
  }
  const messages = [{ role: "assistant", ...custom("sql", "select 1") }];
  const [asked] = dialogueOf(newRecord({ request: { body: JSON.stringify({ messages }) } }));
  assertEquals(asked, { role: "assistant", text: "sql(select 1)" });
});
