import fc from "fast-check";
import { newRepeatFastPath } from "../../../src/api/chat/repeat_fast_path.ts";
import { anyCharacter } from "../../support/any_character.ts";
import { assertEquals } from "../../support/assert.ts";

const BEFORE = '{"id":"c","choices":[{"index":0,"delta":{"content":"';
const BEHIND = '"},"finish_reason":null}],"usage":null}';
const SENT_BEHIND = '"},"finish_reason":null}]}';

function taught() {
  const like = newRepeatFastPath();
  like.learn(`${BEFORE}first${BEHIND}`, `${BEFORE}first${SENT_BEHIND}`);
  return like;
}

Deno.test("fast path: a record that differs only in content is relayed like the learned record", () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (content) => {
    const text = JSON.stringify(content).slice(1, -1);
    assertEquals(taught().relayed(BEFORE + text + BEHIND), BEFORE + text + SENT_BEHIND);
  }));
});

Deno.test("fast path: an unparsed record is always JSON with one changed string", () => {
  const piece = fc.constantFrom(
    "a",
    '"',
    "\\",
    '\\"',
    "\\u00",
    "\\u0041",
    "\n",
    "\t",
    "}",
    '","x":"',
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
    const middle = pieces.join("");
    const relayed = taught().relayed(BEFORE + middle + BEHIND);
    if (relayed === null) return;
    const { choices, ...others } = JSON.parse(relayed);
    assertEquals(JSON.stringify(choices[0].delta.content).length >= 2, true);
    assertEquals(JSON.parse(`"${middle}"`), choices[0].delta.content);
    assertEquals(others, { id: "c" });
  }));
});

Deno.test("fast path: a record with any other change is parsed", () => {
  const like = taught();
  for (
    const other of [
      `${BEFORE}x"},"finish_reason":"stop"}],"usage":null}`,
      `${BEFORE}x"},"finish_reason":null}],"usage":{"total_tokens":1}}`,
      `{"id":"d","choices":[{"index":0,"delta":{"content":"x${BEHIND}`,
      `${BEFORE}x","refusal":"y${BEHIND}`,
      BEFORE.slice(0, -1) + BEHIND,
      "",
    ]
  ) {
    assertEquals(like.relayed(other), null, other);
  }
});

Deno.test("fast path: off until a checked record with content has arrived", () => {
  const like = newRepeatFastPath();
  assertEquals(like.relayed(`${BEFORE}x${BEHIND}`), null);
  like.learn('{"choices":[]}', '{"choices":[]}');
  assertEquals(like.relayed('{"choices":[]}'), null);
});
