import { assertEquals } from "../support/assert.ts";
import { heard } from "./heard.ts";
import { CHUNKS, LENGTHS } from "./vectors/bodies.ts";
import { CODINGS, CONNECTIONS, SURPLUS } from "./vectors/connections.ts";
import { FIELDS, INTERIM, STATUS_LINES } from "./vectors/heads.ts";
import type { Expected, Vector } from "./vectors/vector.ts";

/** Reads an answer that comes in these pieces. */
async function outcome(pieces: readonly string[]): Promise<Expected> {
  try {
    const { answer, body, fate } = await heard(pieces);
    if (fate !== "kept" && fate !== "closed") throw new RangeError(`the connection is ${fate}`);
    return { kind: "read", status: answer.status, body, fate };
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return { kind: "refused" };
  }
}

async function check(vectors: readonly Vector[]): Promise<void> {
  for (const { name, bytes, expected } of vectors) {
    assertEquals(await outcome([bytes]), expected, name);
    if (!SURPLUS.some((vector) => vector.bytes === bytes)) {
      assertEquals(await outcome([...bytes]), expected, `${name}, byte by byte`);
    }
  }
}

const TABLES = {
  "status lines are read or refused": STATUS_LINES,
  "header fields are read or refused, in a head of at most 64 KiB": FIELDS,
  "interim answers are passed over": INTERIM,
  "bodies end where their length, their status or the connection ends them": LENGTHS,
  "chunks are read, and framing that other parsers refuse ends the connection": CHUNKS,
  "chunked is the only transfer coding": CODINGS,
  "a connection that the server closes is not used again": CONNECTIONS,
  "bytes behind an answer end the connection": SURPLUS,
};

for (const [name, vectors] of Object.entries(TABLES)) {
  Deno.test(`answers of odd servers: ${name}`, () => check(vectors));
}
