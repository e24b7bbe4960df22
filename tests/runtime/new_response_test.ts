import {
  type HeaderPair,
  innerSymbolOf,
  newResponse,
  setField,
} from "../../src/runtime/new_response.ts";
import { assertEquals } from "../support/assert.ts";

const BYTES = new TextEncoder().encode("a body");

/** Returns the response as a client receives it. */
async function received(response: () => Response): Promise<Response> {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => response(),
  );
  const answer = await fetch(`http://127.0.0.1:${server.addr.port}/`);
  const body = await answer.text();
  return new Response(answer.status === 204 ? null : body, answer);
}

async function assertReceived(
  body: Uint8Array<ArrayBuffer> | null,
  status: number,
  fields: readonly HeaderPair[],
): Promise<void> {
  const own = await received(() => newResponse(body, status, fields));
  const usual = await received(() => new Response(body, { status, headers: [...fields] }));
  const [names, expected] = [own, usual].map(({ headers }) =>
    [...headers].filter(([name]) => name !== "date")
  );
  assertEquals([own.status, names], [usual.status, expected]);
  assertEquals(await own.text(), await usual.text());
}

Deno.test("a client receives the header fields of a response as from the runtime's constructor", async () => {
  const fields: HeaderPair[] = [
    ["cache-control", "no-transform"],
    ["content-type", "application/json; charset=utf-8"],
    ["x-request-id", "0-1-2"],
    ["x-quoted", '"a", b\tc'],
  ];
  await assertReceived(BYTES, 200, fields);
  await assertReceived(BYTES, 503, [...fields, ["retry-after", "1"]]);
  await assertReceived(null, 204, [["vary", "origin"]]);
  await assertReceived(BYTES, 200, []);
});

Deno.test("header fields that the runtime changes are changed in the same way", async () => {
  for (const value of ["", " a ", "\ta", "b\u00e9", "c\t"]) {
    await assertReceived(BYTES, 200, [["x-odd", value], ["content-type", "text/html"]]);
  }
});

Deno.test("a header field that cannot be sent is refused and never splits a response", () => {
  const odd: HeaderPair[] = [
    ["x-a", "b\r\nx-c: d"],
    ["x-a", "b\nc"],
    ["x-a", "b\0"],
    ["x-a", "\u0100"],
    ["x-a\r\nx-b", "c"],
    ["", "a"],
    ["a b", "c"],
  ];
  for (const field of odd) {
    let isRefused = false;
    try {
      newResponse(BYTES, 200, [["content-type", "text/html"], field]);
    } catch (error) {
      isRefused = error instanceof TypeError;
    }
    assertEquals([field, isRefused], [field, true]);
  }
});

Deno.test("the header fields of a response are read as usual before it is sent", () => {
  const { headers } = newResponse(BYTES, 200, [["x-a", "b"], ["content-type", "text/html"]]);
  assertEquals([headers.get("X-A"), headers.get("content-type"), [...headers].length], [
    "b",
    "text/html",
    2,
  ]);
});

Deno.test("a later header field replaces an earlier one of the same name in its place", () => {
  const fields: HeaderPair[] = [["a", "1"], ["b", "2"]];
  setField(fields, "a", "3");
  setField(fields, "c", "4");
  assertEquals(fields, [["a", "3"], ["b", "2"], ["c", "4"]]);
});

Deno.test("the list of a response is not used if the runtime stores more with a response than is known", () => {
  const response = new Response(BYTES);
  const unknown = Symbol("serve fast header kind");
  assertEquals(innerSymbolOf(Object.assign(response, { [unknown]: 0 })), null);
});
