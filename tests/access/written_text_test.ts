import fc from "fast-check";
import { streamedTextBytes, wholeTextBytes } from "../../src/access/written_text.ts";
import { countedBytes } from "../../src/access/text_bytes.ts";
import { anyCharacter } from "../support/any_character.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";

const bytes = (text: string) => new TextEncoder().encode(text).length;
const text = fc.string({ unit: anyCharacter }).filter((one) => one.isWellFormed());

Deno.test("the texts of a delta are counted in the format of each client API, whatever is in them", () => {
  fc.assert(fc.property(text, text, (one, other) => {
    const records = [
      { choices: [{ delta: { role: "assistant", content: one } }, { delta: { content: other } }] },
      { choices: [{ delta: { reasoning_content: one, content: other }, finish_reason: null }] },
      {
        choices: [{
          delta: { tool_calls: [{ id: "x", function: { name: one, arguments: other } }] },
        }],
      },
      { type: "content_block_delta", delta: { type: "text_delta", text: one + other } },
      {
        type: "content_block_delta",
        delta: { type: "input_json_delta", partial_json: one + other },
      },
      { type: "response.output_text.delta", item_id: "msg", delta: one + other },
    ];
    for (const record of records) {
      for (const indent of [undefined, 1]) {
        assertEquals(
          streamedTextBytes(JSON.stringify(record, null, indent)),
          bytes(one) + bytes(other),
        );
      }
    }
  }));
});

Deno.test("the texts of a stream of a local runtime are counted, whatever is in them", () => {
  fc.assert(fc.property(text, text, (one, other) => {
    const calls = [{ function: { name: "f", arguments: { message: other } } }];
    const message = { role: "assistant", content: one, tool_calls: calls };
    const record = { model: "m", message, done: true, done_reason: "stop" };
    assertEquals(
      streamedTextBytes(JSON.stringify(record), "message"),
      bytes(one) + bytes(`f${other}`),
    );
  }));
});

Deno.test("media, a text once more and an error are no texts of a model, and all arguments of a call are", () => {
  const logprobs = { content: [{ token: "a", bytes: [97], top_logprobs: [{ token: "b" }] }] };
  const images = [{ type: "image_url", image_url: { url: "data:," } }, "aGk="];
  const audio = { id: "a", data: "aGk=", transcript: "hi" };
  const delta = { finish_reason: null, logprobs, images, audio, tool_calls: [{ id: null }] };
  const chunk = { choices: [{ delta: { ...delta, content: "hey" } }] };
  assertEquals(streamedTextBytes(JSON.stringify(chunk)), "hihey".length);
  const made = { data: ["a"], url: { id: "b" }, logprobs: "c" };
  const message = { images, tool_calls: [{ function: { arguments: made } }], content: "d" };
  assertEquals(streamedTextBytes(JSON.stringify({ message }), "message"), "abcd".length);
  assertEquals(streamedTextBytes(JSON.stringify({ error: { message: "no" } }), "message"), 0);
  const whole = (answer: JsonObject) =>
    wholeTextBytes(new TextEncoder().encode(JSON.stringify(answer)));
  const input = { type: "b", data: ["c"] };
  assertEquals(whole({ content: [{ type: "tool_use", id: "i", name: "a", input }] }), "abc".length);
});

Deno.test("reasoning that is in a message twice is counted once, and details alone are counted", () => {
  const details = [{ type: "reasoning.text", text: "why" }];
  for (
    const [members, texts] of [
      [{ reasoning_details: details }, "why"],
      [{ reasoning_details: details, reasoning: "", content: "a" }, "whya"],
      [{ reasoning_details: details, reasoning: "why" }, "why"],
      [{ reasoning_details: details, reasoning_content: "why" }, "why"],
    ] as const
  ) {
    assertEquals(
      streamedTextBytes(JSON.stringify({ choices: [{ delta: members }] })),
      texts.length,
    );
    const whole = { choices: [{ message: members }] };
    assertEquals(wholeTextBytes(new TextEncoder().encode(JSON.stringify(whole))), texts.length);
  }
  const both = { choices: [{ message: { reasoning: "why", reasoning_content: "why" } }] };
  assertEquals(wholeTextBytes(new TextEncoder().encode(JSON.stringify(both))), "why".length);
});

Deno.test("a schema that a response or an item repeats is no text of a model, whatever its members are", () => {
  const delta = { type: "string", description: "a change", delta: "no" };
  const tools = [{ name: "f", parameters: { type: "object", properties: { delta } } }];
  const records = [
    { type: "response.created", response: { tools, metadata: { delta: "no" } } },
    { type: "response.completed", response: { text: { format: { schema: { delta } } } } },
    { type: "response.output_item.done", item: { type: "mcp_list_tools", tools } },
  ];
  for (const record of records) {
    for (const indent of [undefined, 1]) {
      assertEquals(streamedTextBytes(JSON.stringify(record, null, indent)), 0);
    }
  }
});

Deno.test("the texts of a stream of completions are counted, whatever is in them", () => {
  fc.assert(fc.property(text, text, (one, other) => {
    const logprobs = { tokens: [one], text_offset: [0], top_logprobs: [{ text: -1 }] };
    const record = { choices: [{ text: one, logprobs }, { index: 1, text: other }] };
    assertEquals(streamedTextBytes(JSON.stringify(record), "text"), bytes(one) + bytes(other));
  }));
});

Deno.test("a record without a delta, and one that is no JSON, has no text and no endless search", () => {
  for (
    const data of ["", "[DONE]", '{"usage":{"input_tokens":3}}', '{"text":"a \\"delta\\": b"}']
  ) {
    assertEquals(streamedTextBytes(data), 0);
  }
  for (
    const data of ['"delta"', '"delta":', '"delta": 1', '"delta":{', '"delta":{"a', '"delta":"a']
  ) {
    assertEquals(streamedTextBytes(data) <= data.length, true);
  }
  assertEquals(streamedTextBytes('"delta" '.repeat(10_000)), 0);
});

Deno.test("the texts of a whole response are counted in the format of each client API", () => {
  const count = (body: unknown) => wholeTextBytes(new TextEncoder().encode(JSON.stringify(body)));
  const spoken = "déjà vu";
  assertEquals(
    [
      count({ id: "c", choices: [{ message: { role: "assistant", content: spoken } }] }),
      count({ id: "m", type: "message", content: [{ type: "text", text: spoken }] }),
      count({
        instructions: "not written",
        output: [{ id: "o", content: [{ type: "output_text", text: spoken }] }],
      }),
      count({ data: [{ embedding: [1, 2] }] }),
      count([]),
    ],
    [bytes(spoken), bytes(spoken), bytes(spoken), 0, 0],
  );
  assertEquals(wholeTextBytes(new TextEncoder().encode("no JSON")), 0);
});

Deno.test("of a record above 1 MiB all bytes count apart from media, if it has a text", () => {
  const texts = { a: Array(300_000).fill("\n") };
  const completion = JSON.stringify({ choices: [{ text: texts }] });
  assertEquals(streamedTextBytes(completion, "text"), completion.length);
  const url = `data:image/png;base64,${"A".repeat(1024 * 1024)}`;
  const image = JSON.stringify({ choices: [{ delta: { images: [{ image_url: { url } }] } }] });
  assertEquals(streamedTextBytes(image), countedBytes(image));
  assertEquals(streamedTextBytes(image) < 10_000, true);
  assertEquals(streamedTextBytes(JSON.stringify({ partial_image_b64: url })), 0);
  const item = { type: "response.output_item.done", item: { delta: url } };
  assertEquals(streamedTextBytes(JSON.stringify(item)), 0);
});

Deno.test("reasoning under two names counts once, and a signature of a call does not", () => {
  const call = { function: { arguments: "{}" }, extra_content: { google: {} } };
  const signed = { ...call, extra_content: { google: { thought_signature: "A".repeat(800) } } };
  const counts: readonly (readonly [JsonObject, number])[] = [
    [{ reasoning: "why", reasoning_content: "why" }, 3],
    [{ reasoning: "why", content: "why", reasoning_content: "why" }, 6],
    [{ reasoning: "why", reasoning_content: "how" }, 6],
    [{ content: "why", reasoning: "why" }, 6],
    [{ tool_calls: [signed] }, 2],
  ];
  for (const [delta, expected] of counts) {
    assertEquals(streamedTextBytes(JSON.stringify({ choices: [{ delta }] })), expected);
  }
});
