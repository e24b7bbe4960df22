import type { OwnedReasoning } from "../../../src/core/stream/reasoning.ts";
import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { newDocument } from "../../../src/formats/document.ts";
import { compat } from "../../../src/wires/compat/compat.ts";
import { responses } from "../../../src/wires/responses/responses.ts";
import type { UpstreamRequest } from "../../../src/wires/wire.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { encodeAs, providerOf, targetAt, valueOf } from "../../support/translated.ts";
import { added, decodeStream, decodeText, streamOf } from "./encoded_request.ts";
import { CALL, created, done, ended, LABELS } from "./events.ts";

const USER = { role: "user", content: "Hi" };

function item(id: string): JsonObject {
  return { type: "reasoning", id, summary: [], encrypted_content: `sealed ${id}` };
}

function stored(account: string, ...places: readonly number[]): OwnedReasoning {
  const blocks = places.map((callsBefore, at) => ({ value: item(`rs_${at}`), callsBefore }));
  return { account, blocks };
}

function called(...ids: readonly string[]) {
  const tool_calls = ids.map((id) => ({ id, type: "function", function: { name: "f" } }));
  return { role: "assistant", content: "So", reasoning_content: "hm", tool_calls };
}

function encode(
  messages: readonly JsonObject[],
  reasoning: readonly (readonly [number, OwnedReasoning])[],
): UpstreamRequest {
  const chat = {
    document: newDocument({ messages: [...messages] }),
    stream: false,
    includeUsage: false,
    reasoning: new Map(reasoning),
  };
  const provider = providerOf(compat);
  return valueOf(responses.encode(chat, targetAt(provider, responses)));
}

/** Returns the ID, call ID or role of each item of the upstream request. */
function itemsOf({ payload }: UpstreamRequest): readonly unknown[] {
  const body = parseJson(payload?.text() ?? "");
  assert(isObject(body) && Array.isArray(body.input));
  return body.input.filter(isObject).map(({ id, call_id, role }) => id ?? call_id ?? role);
}

Deno.test("stored reasoning is sent unchanged, each item before the call that followed it", () => {
  const sent = encode([USER, called("a", "b")], [[1, stored("account", 0, 0, 1)]]);
  assertEquals(itemsOf(sent), ["user", "rs_0", "rs_1", "assistant", "a", "rs_2", "b"]);
  assertEquals(sent.lossy, undefined);
  assert(sent.payload?.text().includes(JSON.stringify(item("rs_0"))));
});

Deno.test("reasoning that another account has made is not sent, and its text is named", () => {
  const sent = encode([USER, called("a"), USER], [[1, stored("other", 0)]]);
  assertEquals(itemsOf(sent), ["user", "assistant", "a", "user"]);
  assertEquals(sent.lossy, ["messages[1].reasoning_content"]);
});

Deno.test("a reasoning text inside a content part is named if it is not sent", () => {
  const content = [{ type: "text", text: "So", reasoning_content: "hm" }];
  const sent = encode([USER, { role: "assistant", content }, USER], []);
  assertEquals(itemsOf(sent), ["user", "msg_1", "user"]);
  assertEquals(sent.lossy, ["messages[1].reasoning_content"]);
});

Deno.test("encrypted reasoning is requested together with tools, and not of models that do not reason", () => {
  const tools = [{ type: "function", function: { name: "f" } }];
  const include = ["reasoning.encrypted_content"];
  assertEquals(added({ tools }).include, include);
  assertEquals<unknown>(added({ tools, logprobs: true }).include, [
    "message.output_text.logprobs",
    ...include,
  ]);
  assertEquals(added({ tools: [] }).include, undefined);
  const requested = (model: string) => {
    const text = JSON.stringify({ messages: [USER], tools });
    const sent = encodeAs("POST /responses", text, providerOf(compat), model, responses);
    return valueOf(sent).includes('"include":["reasoning.encrypted_content"]');
  };
  for (const model of ["o3", "gpt-5", "gpt-5.2-codex", "ft:gpt-5:org", "deployment-1"]) {
    assertEquals(requested(model), true, model);
  }
  for (const model of ["gpt-4o", "gpt-4.1-mini", "ft:gpt-4o:org", "gpt-5-chat-latest"]) {
    assertEquals(requested(model), false, model);
  }
});

Deno.test("an encrypted reasoning item is one event with the whole item, whole or streamed", () => {
  const summary = [{ type: "summary_text", text: "hm" }];
  const reasoning = { ...item("rs_1"), summary };
  const bare = { type: "reasoning", id: "rs_1", summary };
  const expected = [
    { type: "reasoning", delta: "hm" },
    { type: "reasoning_item", value: reasoning },
  ];
  const output = [reasoning, CALL];
  const whole = decodeText(JSON.stringify({ ...LABELS, status: "completed", output }));
  assertEquals<unknown>(valueOf(whole).slice(1, 3), expected);
  const stream = (last: JsonObject) =>
    valueOf(decodeStream(streamOf([created(), done(0, last), done(1, CALL), ended()])));
  assertEquals<unknown>(stream(reasoning).slice(1, 3), expected);
  const repeated = streamOf([created(), done(0, reasoning), ended("completed", { output })]);
  const items = valueOf(decodeStream(repeated)).filter(({ type }) => type === "reasoning_item");
  assertEquals(items.length, 1);
  for (
    const other of [bare, { ...bare, encrypted_content: null }, { ...bare, encrypted_content: "" }]
  ) {
    assertEquals(stream(other).map(({ type }) => type).includes("reasoning_item"), false);
  }
});
