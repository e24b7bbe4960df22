import fc from "fast-check";
import { newReplyFramer } from "../../../src/store/valkey/reply_framer.ts";
import { assertEquals } from "../../support/assert.ts";

const encoder = new TextEncoder();

const REPLIES = ["+OK\r\n", "-ERR no\r\n", ":12\r\n", "$-1\r\n", "$0\r\n\r\n", "$5\r\na\r\nbc\r\n"];

const reply = fc.letrec<{ reply: string }>((tie) => ({
  reply: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...REPLIES, "*0\r\n", "*-1\r\n"),
    fc.array(tie("reply"), { minLength: 1, maxLength: 3 }).map((all) =>
      `*${all.length}\r\n${all.join("")}`
    ),
  ),
})).reply;

Deno.test("the ends of replies are found however their bytes are divided", () => {
  const pieces = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
  fc.assert(fc.property(fc.array(reply, { minLength: 1 }), pieces, (replies, sizes) => {
    const bytes = encoder.encode(replies.join(""));
    const ends = new Set<number>();
    const known = new Set<number>();
    let length = 0;
    for (const text of replies) known.add(length += text.length);
    const framer = newReplyFramer();
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const piece = bytes.subarray(at, at + (sizes[turn % sizes.length] ?? 1));
      const complete = framer.take(piece);
      if (complete > 0) ends.add(at + complete);
      at += piece.length;
    }
    for (const end of ends) assertEquals(known.has(end), true);
    assertEquals(ends.has(bytes.length), true);
  }));
});
