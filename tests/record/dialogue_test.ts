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
