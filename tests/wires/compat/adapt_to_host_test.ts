import { isObject, parseJson } from "../../../src/core/json/json.ts";
import type { OwnedReasoning } from "../../../src/core/stream/reasoning.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { compat } from "../../../src/wires/compat/compat.ts";
import { storedBlocks } from "../../../src/wires/compat/host_reasoning.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { targetAt } from "../../support/translated.ts";
import { provider } from "./encoded_request.ts";

const SIGNED = { google: { thought_signature: "real" } };
const UNSIGNED = { google: { thought_signature: "skip_thought_signature_validator" } };
const USER = { role: "user", content: "Hi" };
const call = (id: string, more = {}) => ({
  id,
  type: "function",
  function: { name: "f", arguments: "{}" },
  ...more,
});
const calling = (...calls: readonly unknown[]) => ({
  role: "assistant",
  content: null,
  tool_calls: calls,
});
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "1" });

interface Sent {
  readonly body: Readonly<Record<string, unknown>>;
  readonly lossy: readonly string[];
}

/** Returns the Chat request that the host with this profile receives. */
function sentTo(
  profile: string,
  body: object,
  reasoning: ReadonlyMap<number, OwnedReasoning> = new Map(),
): Sent {
  const document = parseDocument(JSON.stringify(body));
  assert(document.ok);
  const target = targetAt(provider(`compatibility_profile: ${profile}`));
  const request = compat.encode({
    document: document.value,
    stream: false,
    includeUsage: false,
    reasoning,
  }, target);
  assert(request.ok && request.value.payload !== null);
  const sent = parseJson(request.value.payload.text());
  assert(isObject(sent));
  return { body: sent, lossy: request.value.lossy ?? [] };
}

/** Stored signatures of the account and model of the target, for calls by their IDs. */
function signed(
  callIds: readonly string[],
  { model = "m", account }: { readonly model?: string; readonly account?: string } = {},
): OwnedReasoning {
  const blocks = callIds.map((_id, at) => ({
    value: { type: "extra_content", signature: SIGNED, call: at },
    callsBefore: at,
  }));
  const own = account ?? targetAt(provider("compatibility_profile: gemini")).account.digest;
  return { account: own, blocks: storedBlocks(blocks, callIds, model) };
}

Deno.test("a call that the host signed gets its signature back, in whatever order the calls come", () => {
  const messages = [USER, calling(call("b"), call("a")), result("a"), result("b")];
  const { body, lossy } = sentTo("gemini", { messages }, new Map([[1, signed(["a"])]]));
  assertEquals(body.messages, [
    USER,
    calling(
      call("b", { extra_content: UNSIGNED }),
      call("a", { extra_content: SIGNED }),
    ),
    result("a"),
    result("b"),
  ]);
  assertEquals(lossy, ["messages[1].tool_calls[0]"]);
});

Deno.test("the signature that a client sends wins over the stored one", () => {
  const own = calling(call("a", { extra_content: { google: { thought_signature: "own" } } }));
  const messages = [USER, own, result("a")];
  const sent = sentTo("gemini", { messages }, new Map([[1, signed(["a"])]]));
  assertEquals(sent, { body: { ...sent.body, messages }, lossy: [] });
});

for (
  const [what, stored] of Object.entries({
    "another model": signed(["a"], { model: "other" }),
    "another account": signed(["a"], { account: "other" }),
  })
) {
  Deno.test(`a signature of ${what} is not sent`, () => {
    const messages = [USER, calling(call("a"), call("b")), result("a")];
    const { body, lossy } = sentTo("gemini", { messages }, new Map([[1, stored]]));
    const unsigned = calling(call("a", { extra_content: UNSIGNED }), call("b"));
    assertEquals(body.messages, [USER, unsigned, result("a")]);
    assertEquals(lossy, ["messages[1].tool_calls[0]"]);
  });

  Deno.test(`a signature of ${what} that the client sends back is not sent, and named`, () => {
    const extra_content = SIGNED;
    const messages = [
      { ...calling(call("a", { extra_content })), extra_content },
      result("a"),
      USER,
      calling(call("a", { extra_content }), call("b", { extra_content })),
      result("a"),
    ];
    const known = new Map([[0, stored], [3, stored]]);
    const { body, lossy } = sentTo("gemini", { messages }, known);
    const unsigned = calling(call("a", { extra_content: UNSIGNED }), call("b"));
    assertEquals(body.messages, [calling(call("a")), result("a"), USER, unsigned, result("a")]);
    assertEquals(lossy, [
      "messages[0].extra_content",
      "messages[0].tool_calls[0].extra_content",
      "messages[3].tool_calls[0]",
      "messages[3].tool_calls[1].extra_content",
    ]);
  });
}

Deno.test("only the first call of each step after the last user message needs a signature", () => {
  const old = [USER, calling(call("a")), result("a")];
  const messages = [
    ...old,
    USER,
    calling(call("b"), call("c")),
    result("b"),
    result("c"),
    calling(call("d")),
    result("d"),
  ];
  const { body, lossy } = sentTo("gemini", { messages });
  const extra_content = UNSIGNED;
  assertEquals(body.messages, [
    ...old,
    USER,
    calling(call("b", { extra_content }), call("c")),
    result("b"),
    result("c"),
    calling(call("d", { extra_content })),
    result("d"),
  ]);
  assertEquals(lossy, ["messages[4].tool_calls[0]", "messages[7].tool_calls[0]"]);
});

Deno.test("the limit of completion tokens has the name that the host takes, with the client's digits", () => {
  const limits = (profile: string, body: object) => {
    const { max_tokens, max_completion_tokens } =
      sentTo(profile, { messages: [USER], ...body }).body;
    return [max_tokens, max_completion_tokens];
  };
  assertEquals(limits("deepseek", { max_completion_tokens: 5 }), [5, undefined]);
  assertEquals(limits("deepseek", { max_tokens: 5 }), [5, undefined]);
  assertEquals(limits("deepseek", { max_tokens: 5, max_completion_tokens: 6 }), [5, undefined]);
  assertEquals(limits("deepseek", { max_tokens: null, max_completion_tokens: 6 }), [6, undefined]);
  assertEquals(limits("groq", { max_tokens: 5 }), [undefined, 5]);
  assertEquals(limits("vllm", { max_tokens: 5 }), [5, undefined]);
});

Deno.test("deepseek gets reasoning with every call, if only an empty one", () => {
  const thought = { ...calling(call("b")), reasoning_content: "Hm." };
  const messages = [USER, calling(call("a")), result("a"), thought, result("b")];
  const { body, lossy } = sentTo("deepseek", { messages });
  const empty = { ...calling(call("a")), reasoning_content: "" };
  assertEquals(body.messages, [USER, empty, result("a"), thought, result("b")]);
  assertEquals(lossy, []);
  const other = { ...calling(call("a")), reasoning: "Hm." };
  const moved = sentTo("deepseek", { messages: [USER, other, result("a")] }).body;
  assertEquals(moved.messages, [USER, { ...other, reasoning_content: "Hm." }, result("a")]);
});

Deno.test("groq gets the members of Chat Completions, and what else a message said is named", () => {
  const message = {
    role: "assistant",
    content: "Hi",
    reasoning_content: "Hm.",
    annotations: [],
    refusal: null,
    name: "a",
    extra: { a: 1 },
  };
  const { body, lossy } = sentTo("groq", { messages: [message, USER] });
  assertEquals(body.messages, [{ role: "assistant", content: "Hi", name: "a" }, USER]);
  assertEquals(lossy, ["messages[0].reasoning_content", "messages[0].extra"]);
});

Deno.test("groq gets no signature of another host in a tool call, which is named", () => {
  const signed = calling(
    call("a", { index: 0, extra_content: SIGNED }),
    call("b", { extra_content: null }),
  );
  const { body, lossy } = sentTo("groq", { messages: [USER, signed, result("a"), result("b")] });
  const plain = calling(call("a", { index: 0 }), call("b"));
  assertEquals(body.messages, [USER, plain, result("a"), result("b")]);
  assertEquals(lossy, ["messages[1].tool_calls[0].extra_content"]);
});

Deno.test("reasoning goes back in the member that the host takes", () => {
  const thought = { role: "assistant", content: "Hi", reasoning_content: "Hm." };
  const renamed = { role: "assistant", content: "Hi", reasoning: "Hm." };
  assertEquals(sentTo("vllm", { messages: [thought, USER] }).body.messages, [renamed, USER]);
  assertEquals(sentTo("openrouter", { messages: [thought, USER] }).body.messages, [renamed, USER]);
  const details = [{ type: "reasoning.encrypted", data: "x" }];
  const account = targetAt(provider("compatibility_profile: openrouter")).account.digest;
  const block = { value: { type: "reasoning_details", details }, callsBefore: 1 };
  const stored = { account, blocks: storedBlocks([block], ["a"], "m") };
  const called = { ...calling(call("a")), reasoning_content: "Hm." };
  const sent = sentTo(
    "openrouter",
    { messages: [USER, called, result("a")] },
    new Map([[1, stored]]),
  );
  assertEquals(sent.body.messages, [
    USER,
    { ...calling(call("a")), reasoning_details: details },
    result("a"),
  ]);
});

Deno.test("signatures of more than 256 KiB of one response are not stored", () => {
  const signature = { google: { thought_signature: "x".repeat(200 * 1024) } };
  const blocks = [1, 2].map((callsBefore) => ({
    value: { type: "extra_content", signature },
    callsBefore,
  }));
  assertEquals(storedBlocks(blocks, ["a", "b"], "m"), []);
  assertEquals(storedBlocks(blocks.slice(0, 1), ["a"], "m").length, 1);
});
