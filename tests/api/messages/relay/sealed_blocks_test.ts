import {
  cutEdits,
  sealedBlocks,
  sealedPaths,
  thinkingOff,
} from "../../../../src/api/messages/relay/sealed_blocks.ts";
import { sealThinking } from "../../../../src/api/reasoning/sealed_thinking.ts";
import type { JsonObject, JsonValue } from "../../../../src/core/json/json.ts";
import { parseDocument } from "../../../../src/formats/document.ts";
import { splice } from "../../../../src/formats/edit.ts";
import { assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";

const SEAL = sealThinking([{ type: "reasoning", text: "Hm" }]);
const OWN = { type: "thinking", thinking: "Hm", signature: SEAL };
const FOREIGN = { type: "thinking", thinking: "", signature: "EqQBCkYI==" };
const TEXT = { type: "text", text: "Hi" };

/** The text of a request with these messages after the cut, and the paths of what was cut. */
function cut(text: string): readonly [text: string, paths: readonly string[]] {
  const document = valueOf(parseDocument(text));
  const found = sealedBlocks(document.value.messages);
  return [splice(text, cutEdits(document, found)), sealedPaths(document.value, found)];
}

function requestOf(...messages: JsonValue[]): string {
  return JSON.stringify({ model: "m", messages, max_tokens: 9 });
}

Deno.test("thinking that this gateway made is cut out of assistant messages", () => {
  const before = requestOf({ role: "assistant", content: [OWN, TEXT, FOREIGN, OWN] });
  const after = requestOf({ role: "assistant", content: [TEXT, FOREIGN] });
  assertEquals(cut(before), [after, ["messages.0.content.0", "messages.0.content.3"]]);
});

Deno.test("a damaged seal is cut as well, because no upstream made it", () => {
  const damaged = { ...OWN, signature: `${SEAL.slice(0, -1)}!` };
  const [after] = cut(requestOf({ role: "assistant", content: [damaged, TEXT] }));
  assertEquals(after, requestOf({ role: "assistant", content: [TEXT] }));
});

Deno.test("an assistant message of which nothing is left goes too", () => {
  const user = { role: "user", content: "Hi" };
  const own = { role: "assistant", content: [OWN, OWN] };
  for (
    const [before, after] of [
      [[user, own, user], [user, user]],
      [[own, own, user], [user]],
      [[user, own], [user]],
      [[own], []],
    ] as const
  ) {
    assertEquals(cut(requestOf(...before))[0], requestOf(...after));
  }
});

Deno.test("a message that was empty before stays, and so does everything that is no sealed thinking of an assistant", () => {
  const text = requestOf(
    { role: "assistant", content: [] },
    { role: "assistant", content: SEAL },
    { role: "assistant", content: [FOREIGN, { ...OWN, type: "text" }, { ...OWN, signature: 1 }] },
    { role: "assistant", content: [{ type: "tool_use", input: { content: [OWN] } }, null, [OWN]] },
    { role: "user", content: [OWN] },
    { content: [OWN] },
    [OWN],
    "assistant",
  );
  assertEquals(cut(text), [text, []]);
});

Deno.test("blocks are found by their value, and all bytes around them stay", () => {
  const own = JSON.stringify(OWN).replace("switchyard1", "\\u0073witchyard1");
  const text =
    `{"messages" :\r\n [ {"role":"\\u0061ssistant","content":[1.0],"content":[ ${own} ,` +
    `{"type":"text","n":1E+2, "n":-0} ]}\t],"big":12345678901234567890 }\n`;
  const [after, paths] = cut(text);
  assertEquals(paths, ["messages.0.content.0"]);
  assertEquals(after, text.replace(`${own} ,`, ""));
});

const CALL = { type: "tool_use", id: "c", name: "f", input: {} };
const RESULTS = { role: "user", content: [{ type: "tool_result", tool_use_id: "c" }, TEXT] };
const ASKED = { role: "user", content: "Hi" };
const ON = { thinking: { type: "adaptive" } };

/** Requests that turn thinking off, and whether `thinking` is named. */
function off(
  messages: readonly JsonValue[],
  more: JsonObject = {},
): readonly [off: Readonly<Record<string, string | null>>, isNamed: boolean] {
  const request = { messages: [...messages], ...more };
  const found = sealedBlocks(request.messages);
  const isNamed = sealedPaths(request, found).includes("thinking");
  return [Object.fromEntries(thinkingOff(request, found)), isNamed];
}

Deno.test("thinking is off where sealed blocks are cut in the running tool loop", () => {
  const step = { role: "assistant", content: [OWN, CALL] };
  const isOff = { thinking: '{"type":"disabled"}' };
  assertEquals(off([ASKED, step, RESULTS]), [isOff, false]);
  assertEquals(off([ASKED, step, RESULTS], ON), [isOff, true]);
  // A later step had its thinking off, too.
  const bare = { role: "assistant", content: [CALL] };
  assertEquals(off([ASKED, step, RESULTS, bare, RESULTS], ON), [isOff, true]);
  const turn = { role: "assistant", content: [OWN, TEXT] };
  const signed = { role: "assistant", content: [FOREIGN, CALL] };
  const others: readonly (readonly [JsonValue[], JsonObject])[] = [
    [[ASKED, step, RESULTS], { thinking: { type: "disabled" } }],
    [[ASKED, step, RESULTS, ASKED], ON],
    [[ASKED, turn, ASKED, bare, RESULTS], ON],
    [[ASKED, signed, RESULTS], ON],
    [[ASKED, bare, RESULTS], ON],
  ];
  for (const [messages, more] of others) assertEquals(off(messages, more), [{}, false]);
});

Deno.test("enabled thinking is off in a tool loop that has none, as its model always thinks first", () => {
  const enabled = { thinking: { type: "enabled", budget_tokens: 2048 } };
  const bare = { role: "assistant", content: [TEXT, CALL] };
  const isOff = { thinking: '{"type":"disabled"}' };
  assertEquals(off([ASKED, bare, RESULTS], enabled), [isOff, true]);
  const signed = { role: "assistant", content: [FOREIGN, CALL] };
  const redacted = { role: "assistant", content: [{ type: "redacted_thinking", data: "x" }, CALL] };
  const others: readonly JsonValue[][] = [
    // Without interleaved thinking only the first step of a loop has it.
    [ASKED, signed, RESULTS, bare, RESULTS],
    [ASKED, redacted, RESULTS],
    [ASKED, bare, RESULTS, ASKED],
    [ASKED, { role: "assistant", content: [TEXT] }],
  ];
  for (const messages of others) assertEquals(off(messages, enabled), [{}, false]);
});

Deno.test("with thinking off no thinking is cleared, and other contents are", () => {
  const loop = [ASKED, { role: "assistant", content: [OWN, CALL] }, RESULTS];
  const clear = { type: "clear_thinking_20251015", keep: "all" };
  const uses = { type: "clear_tool_uses_20250919" };
  const left = (...edits: JsonValue[]) => {
    const [{ context_management: text }] = off(loop, { ...ON, context_management: { edits } });
    return text;
  };
  assertEquals(left(clear), null);
  assertEquals(left(clear, uses), JSON.stringify({ edits: [uses] }));
  assertEquals([left(uses), left()], [undefined, undefined]);
  // The provider refuses it.
  const odd = { type: { toString: 1 } };
  assertEquals(left(clear, odd), JSON.stringify({ edits: [odd] }));
});
