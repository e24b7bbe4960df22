import { newDiscardBody } from "../../src/server/discard_body.ts";
import type { HeaderFields } from "../../src/core/header_fields.ts";
import { assertEquals } from "../support/assert.ts";

const KIB = 1024;

/** True if the response to a request with this body and content length ends its connection. */
function isLast(
  discard: ReturnType<typeof newDiscardBody>,
  body: ReadableStream<Uint8Array>,
  bytes: number,
): boolean {
  const responseHeaders: Record<string, string> = {};
  const headers = new Headers({ "content-length": String(bytes) });
  discard({ headers, responseHeaders }, new Request("http://up", { method: "POST", body }));
  return "connection" in (responseHeaders satisfies HeaderFields);
}

Deno.test("bodies of 8 MiB together may still come; the connection of a further one ends", async () => {
  const discard = newDiscardBody();
  const bodies = Array.from({ length: 256 }, () => new TransformStream<Uint8Array, Uint8Array>());
  for (const { readable } of bodies) assertEquals(isLast(discard, readable, 32 * KIB), false);
  assertEquals(isLast(discard, ReadableStream.from([new Uint8Array(1)]), 1), true);
  const [whole, broken] = bodies;
  await whole?.writable.close();
  await broken?.writable.abort();
  // The turns in which the reads end.
  await new Promise<void>((go) => setTimeout(go, 0));
  for (const bytes of [32 * KIB, 32 * KIB, 1]) {
    const { readable } = new TransformStream<Uint8Array, Uint8Array>();
    assertEquals(isLast(discard, readable, bytes), bytes === 1);
  }
});

Deno.test("the response to a request with a body of more than 32 KiB ends its connection", () => {
  const discard = newDiscardBody();
  for (const bytes of [0, 1, 32 * KIB, 32 * KIB + 1, Infinity]) {
    const body = ReadableStream.from([new Uint8Array()]);
    assertEquals(isLast(discard, body, bytes), bytes > 32 * KIB);
  }
});
