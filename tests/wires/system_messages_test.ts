import type { JsonObject } from "../../src/core/json/json.ts";
import { messageOf } from "../../src/core/failure/openai_error.ts";
import { parseDocument } from "../../src/formats/document.ts";
import { wires } from "../../src/wires/registry.ts";
import type { WireName } from "../../src/wires/wire.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { providerOf, targetAt, valueOf, type Written } from "../support/translated.ts";

const USER = { role: "user", content: "hi" };
const TURN = { role: "assistant", content: "A" };
const LEADING: Written = { system_messages: "leading" };
const EVERY: readonly WireName[] = ["compat", "local", "messages", "responses"];

function system(content: string): JsonObject {
  return { role: "system", content };
}

function encode(text: string, wire: WireName, written: Written) {
  const document = valueOf(parseDocument(text));
  const chat = { document, stream: false, includeUsage: false };
  const target = targetAt(providerOf(wires[wire], written));
  return target.wire.encode(chat, target);
}

/** The messages that a compat upstream gets for these messages. */
function sentMessages(messages: readonly JsonObject[], written: Written = LEADING): unknown {
  const encoded = valueOf(encode(JSON.stringify({ messages }), "compat", written));
  return JSON.parse(encoded.payload?.text() ?? "").messages;
}

Deno.test("by default system messages are sent in their places", () => {
  const messages = [system("S"), USER, system("T"), TURN, system("U"), USER];
  assertEquals(sentMessages(messages, {}), messages);
});

Deno.test("with leading, a system message behind a user message ends that message", () => {
  assertEquals(sentMessages([system("S"), USER, system("T"), TURN, USER]), [
    system("S"),
    { role: "user", content: "hi\n\n[system]\nT" },
    TURN,
    USER,
  ]);
});

Deno.test("with leading, a system message before a user message begins that message", () => {
  assertEquals(sentMessages([USER, TURN, system("T"), USER]), [
    USER,
    TURN,
    { role: "user", content: "[system]\nT\n\nhi" },
  ]);
});

Deno.test("with leading, a system message without a user message next to it is one at its place", () => {
  assertEquals(sentMessages([USER, TURN, system("T"), system("U"), TURN]), [
    USER,
    TURN,
    { role: "user", content: "[system]\nT\n\n[system]\nU" },
    TURN,
  ]);
  const calls = { role: "assistant", content: null, tool_calls: [] };
  const result = { role: "tool", tool_call_id: "t", content: "R" };
  assertEquals(sentMessages([USER, calls, result, system("T")]), [
    USER,
    calls,
    result,
    { role: "user", content: "[system]\nT" },
  ]);
});

Deno.test("with leading, a system message never comes between calls and their results", () => {
  const calls = { role: "assistant", content: null, tool_calls: [] };
  const result = { role: "tool", tool_call_id: "t", content: "R" };
  assertEquals(sentMessages([USER, calls, system("T"), result, USER]), [
    USER,
    calls,
    result,
    { role: "user", content: "[system]\nT\n\nhi" },
  ]);
});

Deno.test("with leading, a system message next to a user message of parts is a part of it", () => {
  const part = (text: string) => ({ type: "text", text });
  const parts = { role: "user", content: [part("a"), part("b")] };
  const both = { role: "system", content: [part("S"), part("T")] };
  assertEquals(sentMessages([TURN, both, parts, both]), [
    TURN,
    { role: "user", content: [part("[system]\nST"), part("a"), part("b"), part("[system]\nST")] },
  ]);
});

Deno.test("with leading, developer messages are folded like system messages", () => {
  assertEquals(sentMessages([USER, { role: "developer", content: "D" }]), [
    { role: "user", content: "hi\n\n[system]\nD" },
  ]);
});

Deno.test("with leading, a request whose system messages are at the head keeps its bytes", () => {
  const text =
    '{ "model":"m", "messages" : [{"role":"system","content":"S"},{"role":"user","content":"hi"}] }';
  assertEquals(valueOf(encode(text, "compat", LEADING)).payload?.text(), text);
});

Deno.test("with leading, all other text of the request keeps its characters", () => {
  const text = '{"seed":1.0,"model":"m","messages":[{"n":1.0, "content":"\\u0041","role":"user"},' +
    '{"role":"assistant","content":"\\u0042"},{"role":"system","content":"T"}, {"x":2.0,"role":"user","content":"b"}]}';
  assertEquals(
    valueOf(encode(text, "compat", LEADING)).payload?.text(),
    '{"seed":1.0,"model":"m","messages":[{"n":1.0, "content":"\\u0041","role":"user"},' +
      '{"role":"assistant","content":"\\u0042"},{"x":2.0,"role":"user","content":"[system]\\nT\\n\\nb"}]}',
  );
});

Deno.test("with leading, every protocol gets the folded messages, and each lost role is named", () => {
  for (const wire of EVERY) {
    const text = JSON.stringify({ messages: [system("S"), USER, system("T"), TURN, USER] });
    const encoded = valueOf(encode(text, wire, LEADING));
    const sent = encoded.payload?.text() ?? "";
    assert(sent.includes("hi\\n\\n[system]\\nT"), `${wire}: ${sent}`);
    assertEquals(encoded.lossy, ["messages[2].role"]);
  }
});

Deno.test("with leading, a refusal names the message that the client sent", () => {
  const bad = { role: "user", content: [{ type: "input_audio" }] };
  const text = JSON.stringify({
    messages: [USER, TURN, system("S"), TURN, system("T"), system("U"), bad],
  });
  for (const wire of ["local", "responses", "messages"] as const) {
    const refused = encode(text, wire, LEADING);
    assert(!refused.ok && "at" in refused.failure);
    assertEquals(refused.failure.at, "messages[6].content[0].type");
    assert(messageOf(refused.failure).includes("'messages[6].content[0].type'"));
  }
});

Deno.test("with leading, stored reasoning stays with its assistant message", () => {
  const block = { type: "thinking", thinking: "hm", signature: "sig" };
  const reasoning = new Map([[2, {
    account: "account",
    blocks: [{ callsBefore: 0, value: block }],
  }]]);
  const messages = [USER, system("S"), TURN, USER];
  const document = valueOf(parseDocument(JSON.stringify({ messages })));
  const chat = { document, stream: false, includeUsage: false, reasoning };
  const provider = providerOf(wires.messages, LEADING);
  const encoded = provider.wire.encode(chat, targetAt(provider));
  const sent = JSON.parse(valueOf(encoded).payload?.text() ?? "").messages;
  assertEquals(JSON.stringify(sent).match(/"signature":"sig"/g)?.length, 1);
  assertEquals(sent[1].content[0], block);
});

Deno.test("with leading, a system message that is no text stays, for the upstream to judge", () => {
  const odd = { role: "system", content: [{ type: "image_url" }] };
  assertEquals(sentMessages([USER, odd, TURN]), [USER, odd, TURN]);
});
