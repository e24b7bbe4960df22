import fc from "fast-check";
import { isObject, type JsonObject, parseExact } from "../../../src/core/json/json.ts";
import { newSentBackFilter } from "../../../src/prompt/chat/sent_back.ts";
import { encodeSpoken, TRANSLATED } from "../../support/sent_back.ts";
import { assertFailed, valueOf, type Written } from "../../support/translated.ts";
import { assert, assertEquals } from "../../support/assert.ts";

function text(content: string, members: Written = {}): Written {
  return { type: "text", text: content, ...members };
}

function call(members: Written = {}, id = "c1"): Written {
  return { id, type: "function", function: { name: "f", arguments: '{"a":1.0}', ...members } };
}

const RESULT = { role: "tool", tool_call_id: "c1", content: "done" };
const PLAIN = { content: "Ok" };
const JSON_TEXT = '{"a":1.0,"b":[null,"x"]}';
/** The copy of its message that an agent library writes into the text part. */
const COPY = { role: "assistant", refusal: null, annotations: [], tool_calls: [call()] };

/** Messages as clients send them back, with the message that says the same. */
const EQUAL: readonly [sent: Written, plain: Written][] = [
  [{ ...PLAIN, id: "chatcmpl-1", refusal: null, audio: null, function_call: null }, PLAIN],
  [{ ...PLAIN, annotations: [], thinking_blocks: [], parsed: null }, PLAIN],
  [{ content: JSON_TEXT, parsed: { b: [null, "x"], a: 1 } }, { content: JSON_TEXT }],
  [{ content: [text('{"a"'), text(":2}")], parsed: { a: 2 } }, {
    content: [text('{"a"'), text(":2}")],
  }],
  [{ tool_calls: [call({ parsed_arguments: { a: 1 } })] }, { tool_calls: [call()] }],
  [{ tool_calls: [call({ parsed_arguments: null })] }, { tool_calls: [call()] }],
  [{ tool_calls: [call({ arguments: "", parsed_arguments: {} })] }, {
    tool_calls: [call({ arguments: "" })],
  }],
  [{ content: [text("Ok", COPY)], tool_calls: [call()] }, {
    content: [text("Ok")],
    tool_calls: [call()],
  }],
  [{ content: [text("Ok", { id: "msg_1", audio: null, name: null, other: [] })] }, {
    content: [text("Ok")],
  }],
  [{ content: [text("Ok", { reasoning_content: "" })] }, { content: [text("Ok")] }],
  [{ content: [text("{}", { parsed: {} })] }, { content: [text("{}")] }],
  [{ content: [text("Ok", { refusal: "No." })], refusal: "No." }, {
    content: [text("Ok")],
    refusal: "No.",
  }],
  [{ content: [{ type: "refusal", refusal: "No.", content: null, role: "assistant" }] }, {
    content: [{ type: "refusal", refusal: "No." }],
  }],
  [{ ...PLAIN, provider_specific_fields: null }, PLAIN],
  [{ ...PLAIN, provider_specific_fields: { refusal: null, other: [], role: "assistant" } }, PLAIN],
];

for (const wire of TRANSLATED) {
  Deno.test(`what clients send back is left out where it holds nothing new, over ${wire}`, () => {
    for (const [sent, plain] of EQUAL) {
      const others = Array.isArray(sent.tool_calls) ? [RESULT] : [];
      assertEquals(
        valueOf(encodeSpoken(wire, sent, ...others)),
        valueOf(encodeSpoken(wire, plain, ...others)),
      );
    }
  });
}

const NEW: readonly [sent: Written, param: string][] = [
  [{ ...PLAIN, id: 1 }, "id"],
  [{ ...PLAIN, parsed: { a: 1 } }, "parsed"],
  [{ content: JSON_TEXT, parsed: { a: 1 } }, "parsed"],
  [{ content: null, refusal: "No.", parsed: {} }, "parsed"],
  [{ ...PLAIN, audio: { id: "a" } }, "audio"],
  [
    { tool_calls: [call({ parsed_arguments: { a: 2 } })] },
    "tool_calls[0].function.parsed_arguments",
  ],
  [
    { tool_calls: [call({ arguments: "{", parsed_arguments: {} })] },
    "tool_calls[0].function.parsed_arguments",
  ],
  [
    { function_call: { name: "f", arguments: "{}", parsed_arguments: [] } },
    "function_call.parsed_arguments",
  ],
  [{ content: [text("a"), text("b", { role: "user" })] }, "content[1].role"],
  [{ content: [text("a", { tool_calls: [call()] })] }, "content[0].tool_calls"],
  [
    { content: [text("a", { tool_calls: [call({}, "c2")] })], tool_calls: [call()] },
    "content[0].tool_calls",
  ],
  [{ content: [text("a", { refusal: "No." })] }, "content[0].refusal"],
  [{ content: [text("a", { parsed: {} })] }, "content[0].parsed"],
  [
    { content: [text("a", { reasoning_content: "b" })], reasoning_content: "c" },
    "content[0].reasoning_content",
  ],
  [
    { content: [text("a", { reasoning_content: "b" }), text("c", { reasoning_content: "d" })] },
    "content[1].reasoning_content",
  ],
  [{ content: [text("a", { id: 1 })] }, "content[0].id"],
  [{ ...PLAIN, provider_specific_fields: "a" }, "provider_specific_fields"],
  [{ ...PLAIN, provider_specific_fields: { other: 1 } }, "provider_specific_fields.other"],
  [{ ...PLAIN, provider_specific_fields: { refusal: "No." } }, "provider_specific_fields.refusal"],
  [
    { ...PLAIN, provider_specific_fields: { type: "text", text: "a" } },
    "provider_specific_fields.type",
  ],
  [
    { ...PLAIN, reasoning_content: "a", provider_specific_fields: { reasoning_content: "b" } },
    "provider_specific_fields.reasoning_content",
  ],
  [{ content: [text("a", { other: {} })] }, "content[0].other"],
];

for (const wire of TRANSLATED) {
  Deno.test(`what clients send back is refused by name where it holds something new, over ${wire}`, () => {
    for (const [sent, param] of NEW) {
      const refused = encodeSpoken(wire, sent, RESULT);
      assertFailed(refused, "unsupported_feature", `messages[1].${param}`);
    }
  });
}

const USER = { role: "user", content: "Hi", id: "msg_1" };

Deno.test("the ID of a message of any role is left out", () => {
  const filter = newSentBackFilter();
  for (const role of ["user", "system", "tool", "function", "developer", "assistant"]) {
    const plain = valueOf(filter({ ...USER, role }, "messages[0]"));
    assertEquals<JsonObject>(plain, { role, content: "Hi" });
  }
});

const THINKING = [{ type: "thinking", thinking: "hm", signature: "s" }];

Deno.test("reasoning inside a part moves to a message that has none", () => {
  const filter = newSentBackFilter();
  const thought = { reasoning_content: "hm", thinking_blocks: THINKING };
  const message = { role: "assistant", content: [text("Ok", thought), text("!", thought)] };
  const plain = { role: "assistant", content: [text("Ok"), text("!")] };
  for (const given of [message, { ...message, ...thought }]) {
    const filtered = valueOf(filter(JSON.parse(JSON.stringify(given)), "messages[1]"));
    assertEquals<unknown>(filtered, { ...plain, ...thought });
  }
  const sent = JSON.parse(valueOf(encodeSpoken("messages", message)));
  assertEquals(sent.messages[1].content, [...THINKING, text("Ok"), text("!")]);
  const local = { content: [text("Ok", { reasoning_content: "hm" })] };
  assertEquals(JSON.parse(valueOf(encodeSpoken("local", local))).messages[1].thinking, "hm");
});

Deno.test("copied fields of a message are left out, or move to a message that has none", () => {
  const filter = newSentBackFilter();
  const thought = { reasoning_content: "hm", thinking_blocks: THINKING };
  const plain = { role: "assistant", content: "Ok", ...thought };
  const copies = { provider_specific_fields: { refusal: null, ...thought } };
  for (const given of [{ ...plain, ...copies }, { role: "assistant", content: "Ok", ...copies }]) {
    const filtered = valueOf(filter(JSON.parse(JSON.stringify(given)), "messages[1]"));
    assertEquals<unknown>(filtered, plain);
  }
});

const CITED = { url: "http://a.test", title: "A", start_index: 0, end_index: 2 };
const ANNOTATIONS = [{ type: "url_citation", url_citation: CITED }];

Deno.test("citations of the gateway are accepted over every wire, also inside the first part", () => {
  const inside = { content: [text("Ok", { annotations: ANNOTATIONS })] };
  const beside = { content: [text("Ok")], annotations: ANNOTATIONS };
  for (const wire of ["messages", "local"] as const) {
    const plain = valueOf(encodeSpoken(wire, { content: [text("Ok")] }));
    for (const message of [inside, beside]) {
      assertEquals(valueOf(encodeSpoken(wire, message)), plain);
    }
  }
  const cited = valueOf(encodeSpoken("responses", beside));
  assert(cited.includes('"annotations":[{"type":"url_citation"'));
  assertEquals(valueOf(encodeSpoken("responses", inside)), cited);
});

Deno.test("annotations that are no citations are refused by name", () => {
  for (const wire of TRANSLATED) {
    const refused = encodeSpoken(wire, { ...PLAIN, annotations: [{ type: "file_path" }] });
    assertFailed(refused, "unsupported_feature", "messages[1].annotations[0].type");
    // Citations count from the start of the message, so those of a later part cannot move.
    const late = { content: [text("Ok"), text("!", { annotations: ANNOTATIONS })] };
    assertFailed(
      encodeSpoken(wire, late),
      "unsupported_feature",
      "messages[1].content[1].annotations",
    );
  }
});

Deno.test("a text that is compared may have no more members than all texts of a request", () => {
  const many = `[${"0,".repeat(200_000)}0]`;
  const message = { role: "assistant", content: many, parsed: [0] };
  assertFailed(newSentBackFilter()(message, "m"), "request_too_large", "m.parsed");
});

Deno.test("a message without such fields is the same object", () => {
  const filter = newSentBackFilter();
  const plain = [{ role: "user", content: "a" }, { role: "assistant", content: [text("a")] }, {
    role: "assistant",
    tool_calls: [call()],
  }];
  for (const message of plain) {
    const given = JSON.parse(JSON.stringify(message));
    assert(valueOf(filter(given, "m")) === given);
  }
});

Deno.test("whatever JSON a model writes, its parsed copy is accepted and another value is not", () => {
  const filter = newSentBackFilter();
  fc.assert(fc.property(fc.object(), fc.jsonValue(), (value, other) => {
    const content = JSON.stringify(value);
    const parsed = JSON.parse(content);
    const given = parseExact(JSON.stringify({ role: "assistant", content, parsed }));
    assert(isObject(given));
    assertEquals<JsonObject>(valueOf(filter(given, "m")), { role: "assistant", content });
    fc.pre(other !== null && JSON.stringify(other) !== content);
    const wrong = filter({
      role: "assistant",
      content,
      parsed: [JSON.parse(JSON.stringify(other))],
    }, "m");
    assertFailed(wrong, "unsupported_feature", "m.parsed");
  }));
});
