import fc from "fast-check";
import { assert, assertEquals } from "../support/assert.ts";
import { fault, heard } from "./heard.ts";

/** An answer as it goes over the line. */
interface Written {
  readonly head: string;
  readonly framed: string;
  readonly body: string;
  /** The connection's end is the body's. */
  readonly isOpen: boolean;
  /** Every parser reads it in the same way. */
  readonly isExact: boolean;
}

const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const bytes = fc.array(byte, { maxLength: 40 }).map((all) => all.join(""));
const token = fc.stringMatching(/^[a-z][a-z0-9-]{0,5}$/);
const value = fc.stringMatching(
  /^[\x21-\x7e\x80-\xff]([\t -~\x80-\xff]{0,8}[\x21-\x7e\x80-\xff])?$/,
);
const fields = fc.array(fc.tuple(token, value).map(([name, text]) => `x-${name}: ${text}\r\n`), {
  maxLength: 3,
}).map((all) => all.join(""));
const interim = fc.constantFrom(
  "",
  "HTTP/1.1 100 Continue\r\n\r\n",
  "HTTP/1.1 103 x\r\na: b\r\n\r\n",
);

const chunk = fc.record({
  data: fc.array(byte, { minLength: 1, maxLength: 20 }).map((all) => all.join("")),
  zeros: fc.constantFrom("", "0", "000"),
  isUpper: fc.boolean(),
  extension: fc.constantFrom("", ";a", " ; a=b", ";b=c", ';a="\xe9 ;"'),
});

const sized = bytes.map((body) => ({
  line: `content-length: ${body.length}\r\n`,
  framed: body,
  body,
  isOpen: false,
  isExact: true,
}));

const open = bytes.map((body) => ({ line: "", framed: body, body, isOpen: true, isExact: true }));

const chunked = fc.tuple(fc.array(chunk, { maxLength: 5 }), fields).map(([chunks, trailers]) => ({
  line: "transfer-encoding: chunked\r\n",
  framed: chunks.map(({ data, zeros, isUpper, extension }) => {
    const size = data.length.toString(16);
    return `${zeros}${isUpper ? size.toUpperCase() : size}${extension}\r\n${data}\r\n`;
  }).join("") + `0\r\n${trailers}\r\n`,
  body: chunks.map(({ data }) => data).join(""),
  isOpen: false,
  isExact: chunks.every(({ extension }) => !extension.startsWith(" ")),
}));

const answer: fc.Arbitrary<Written> = fc.tuple(fc.oneof(sized, open, chunked), fields, interim)
  .map(([{ line, ...rest }, more, before]) => ({
    head: `${before}HTTP/1.1 200 OK\r\n${more}${line}\r\n`,
    ...rest,
  }));

/** A text in pieces of these lengths, again and again. */
function pieces(text: string, lengths: readonly number[]): string[] {
  const found: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1;
    found.push(text.slice(at, at + length));
    at += length;
  }
  return found;
}

const lengths = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 });

Deno.test("any response in any pieces has its body, and its connection is reused where possible", async () => {
  await fc.assert(
    fc.asyncProperty(answer, lengths, async ({ head, framed, body, isOpen, isExact }, sizes) => {
      const found = await heard(pieces(head + framed, sizes));
      assertEquals([found.answer.status, found.body], [200, body]);
      assertEquals(found.fate, isOpen || !isExact ? "closed" : "kept");
    }),
    { numRuns: 500 },
  );
});

Deno.test("a response that is cut off anywhere is an error, never a complete response", async () => {
  await fc.assert(
    fc.asyncProperty(
      answer,
      lengths,
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      async ({ head, framed, body, isOpen }, sizes, share) => {
        const text = head + framed;
        const cut = Math.floor(share * text.length);
        if (isOpen && cut >= head.length) {
          const found = await heard(pieces(text.slice(0, cut), sizes));
          assertEquals(found.body, body.slice(0, cut - head.length));
        } else {
          assert(await fault(...pieces(text.slice(0, cut), sizes)) !== null);
        }
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("a connection with extra bytes after a response is not reused", async () => {
  const garbage = fc.array(byte, { minLength: 1, maxLength: 20 }).map((all) => all.join(""));
  await fc.assert(
    fc.asyncProperty(answer, garbage, async ({ head, framed, body, isOpen }, more) => {
      const found = await heard([head + framed + more]);
      assertEquals(found.body, isOpen ? body + more : body);
      assertEquals(found.fate, "closed");
    }),
    { numRuns: 300 },
  );
});
