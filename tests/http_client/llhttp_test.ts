import fc from "fast-check";
import { assertEquals } from "../support/assert.ts";
import { heard } from "./heard.ts";
import { judged, type Verdict } from "./llhttp.ts";
import { CHUNKS, LENGTHS } from "./vectors/bodies.ts";
import { CODINGS, CONNECTIONS, SURPLUS } from "./vectors/connections.ts";
import { FIELDS, INTERIM, STATUS_LINES } from "./vectors/heads.ts";

const ANSWERS = [STATUS_LINES, FIELDS, INTERIM, LENGTHS, CHUNKS, CODINGS, CONNECTIONS, SURPLUS]
  .flat().map(({ bytes }) => bytes);

/**
 * Returns what the client gets wrong about an answer: it keeps the connection although llhttp
 * refuses the response, or would not; or both read the answer and find different things. Null if it
 * is right.
 */
async function trouble(bytes: string): Promise<string | null> {
  const verdict = judged(bytes);
  const found = await heard([bytes]).catch((error: unknown) => {
    if (error instanceof RangeError) throw error;
    return null;
  });
  if (found === null) return null;
  const { answer: { status }, body, fate } = found;
  if (fate === "kept") return keptTrouble(verdict, status, body);
  // To llhttp nothing behind 101 is a body, and a list of codings has no tabs or empty elements.
  const isOther = status === 101 || /transfer-encoding/i.test(bytes);
  if (verdict.kind === "refused" || isOther) return null;
  return verdict.status === status && verdict.body === body ? null : "read otherwise";
}

function keptTrouble(verdict: Verdict, status: number, body: string): string | null {
  if (verdict.kind === "refused") return `kept, and llhttp refuses: ${verdict.reason}`;
  if (!verdict.isReusable) return "kept, and llhttp closes";
  return verdict.status === status && verdict.body === body ? null : "kept and read otherwise";
}

Deno.test("llhttp agrees with every odd server response after which the connection is reused", async () => {
  for (const bytes of ANSWERS) assertEquals(await trouble(bytes), null, JSON.stringify(bytes));
});

/** Bytes that mean something in an answer. */
const PIECES = [
  ...'\r\n\t :;,="\\-+05a\0\x0b\x0c\x7f\x80\x85\xa0\xff',
  ...[
    "\r\n",
    "\r\n\r\n",
    "\r\n ",
    "0\r\n",
    "0\r\n\r\n",
    "5\r\nhello\r\n",
    ";a=b",
    ';a="\\\xff"',
    ";",
  ],
  ...["chunked", ", chunked", "identity", "gzip, ", "close", ", close", "keep-alive", "upgrade"],
  ...["Content-Length: 5\r\n", "Content-Length: 4\r\n", "content-length: 0\r\n", "CONTENT-LENGTH:"],
  ...["Transfer-Encoding: chunked\r\n", "transfer-encoding: identity\r\n", "Trailer: x\r\n"],
  ...[
    "Connection: close\r\n",
    "Connection: upgrade\r\n",
    "Upgrade: x\r\n",
    "Keep-Alive: max=1\r\n",
  ],
  ...["Proxy-Connection: close\r\n", "x-a: b\r\n", " folded\r\n", "no colon\r\n"],
  ...["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 x\r\nConnection: close\r\n\r\n"],
  ...["HTTP/1.1 200 OK\r\n", "HTTP/1.0 ", "HTTP/1.1 204 ", "HTTP/1.1 304 ", "HTTP/1.1 122 "],
];

const piece = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...PIECES) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  },
);

/** One change of an answer: bytes at a place are removed, and others are put there. */
const change = fc.record({
  place: fc.nat(5_000),
  removed: fc.constantFrom(0, 0, 0, 1, 1, 2, 5, 12),
  put: fc.oneof(piece, fc.constant("")),
});

const changed = fc.tuple(
  fc.constantFrom(...ANSWERS.filter(({ length }) => length < 2_000)),
  fc.array(change, { minLength: 1, maxLength: 3 }),
).map(([answer, changes]) =>
  changes.reduce((text, { place, removed, put }) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + put + text.slice(at + removed);
  }, answer)
);

Deno.test("a response that llhttp refuses is refused or its connection is closed, and both parsers read the same", async () => {
  await fc.assert(
    fc.asyncProperty(changed, async (bytes) => assertEquals(await trouble(bytes), null)),
    { numRuns: 8_000 },
  );
});
