import fc from "fast-check";
import { newChannel, type Slot } from "../../src/privacy/channel.ts";
import { finishText } from "../../src/privacy/finish.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answerOf, anySizes, anyWords, CORES, cut, type Word } from "./answer_cases.ts";

const textOf = (words: readonly Word[]) => words.map(({ sent }) => sent).join("");
const receivedOf = (words: readonly Word[]) => words.map(({ received }) => received).join("");

Deno.test("a whole text has the values of its tokens, in any letter case, with and without label", () => {
  fc.assert(
    fc.property(anyWords, (words) => {
      const { answer, counts } = answerOf();
      assertEquals(finishText(answer, textOf(words), "plain"), receivedOf(words));
      assertEquals(counts.restored, words.filter(({ isToken }) => isToken).length);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("any cut of a text gives the same text in as many pieces, of which at most two are held", () => {
  fc.assert(
    fc.property(anyWords, anySizes, (words, sizes) => {
      const { answer, counts } = answerOf();
      const channel = newChannel(answer, "plain", 2);
      const slots: Slot[] = [];
      for (const piece of cut(textOf(words), sizes)) {
        const slot = { text: "", isOpen: true };
        slots.push(slot);
        channel.push(slot, piece);
        const open = slots.filter(({ isOpen }) => isOpen);
        assert(open.length <= 2);
        assert(
          slots.slice(-2).every((one, at, last) =>
            !one.isOpen || last.slice(at).every((two) => two.isOpen)
          ),
        );
      }
      channel.end();
      assertEquals(slots.map(({ text }) => text).join(""), receivedOf(words));
      assert(slots.every(({ isOpen }) => !isOpen));
      assertEquals(counts.restored, words.filter(({ isToken }) => isToken).length);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("text without a token arrives in the pieces in which it came, if one ends in a single q", () => {
  const { answer } = answerOf();
  const channel = newChannel(answer, "plain", 2);
  const slots = ["seq", "uence q", "z", "ero"].map((text) => {
    const slot = { text: "", isOpen: true };
    channel.push(slot, text);
    return slot;
  });
  channel.end();
  assertEquals(slots.map(({ text }) => text), ["seq", "uence q", "z", "ero"]);
});

Deno.test("a word in the form of a core without a value stays, and counts as unknown once in any cut", () => {
  fc.assert(
    fc.property(anySizes, (sizes) => {
      const { answer, counts } = answerOf();
      const channel = newChannel(answer, "plain", 2);
      const slots: Slot[] = [];
      const text = `mail ${CORES.unknown}email and ${CORES.mail}`;
      for (const piece of cut(text, sizes)) {
        const slot = { text: "", isOpen: true };
        slots.push(slot);
        channel.push(slot, piece);
      }
      channel.end();
      assertEquals(
        slots.map((slot) => slot.text).join(""),
        `mail ${CORES.unknown}email and bob.miller@example.com`,
      );
      assertEquals([counts.unknown, counts.restored], [1, 1]);
    }),
    { numRuns: 200 },
  );
});

Deno.test("a value in the content of JSON is escaped, so that the JSON has the value", () => {
  fc.assert(
    fc.property(anyWords, anySizes, (words, sizes) => {
      const { answer } = answerOf();
      const channel = newChannel(answer, "json", 2);
      const slots: Slot[] = [];
      for (const piece of cut(JSON.stringify({ value: textOf(words) }), sizes)) {
        const slot = { text: "", isOpen: true };
        slots.push(slot);
        channel.push(slot, piece);
      }
      channel.end();
      assertEquals(JSON.parse(slots.map(({ text }) => text).join("")), {
        value: receivedOf(words),
      });
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("a value of a text that was 10 times as long takes at most about 10 times as long", () => {
  const pieces = (count: number) => {
    const { answer } = answerOf();
    const channel = newChannel(answer, "plain", 2);
    let looked = 0;
    const parts = answer.parts;
    Object.assign(answer, {
      parts: (text: string, kind: "plain") => {
        looked += text.length;
        return parts(text, kind);
      },
    });
    for (let at = 0; at < count; at++) {
      channel.push({ text: "", isOpen: true }, "qzb qzbadofi q");
    }
    return looked;
  };
  assert(pieces(100) > 0);
  assert(pieces(1_000) <= 11 * pieces(100));
});
