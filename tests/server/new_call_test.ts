import fc from "fast-check";
import { requestHeaders } from "../../src/server/new_call.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { connectRaw } from "./raw_connection.ts";

/** Header fields as the runtime and as the table of the gateway see them. */
interface Seen {
  readonly own: readonly (readonly [name: string, own: string | null, runtime: string | null])[];
  readonly has: readonly boolean[];
  readonly repeated: readonly (boolean | undefined)[];
  readonly entries: readonly (readonly [string, string])[];
}

/** Serves one request with these fields over a listener and looks up all of `names` in it. */
async function seen(
  fields: readonly (readonly [string, string])[],
  names: readonly string[],
): Promise<Seen> {
  const found = Promise.withResolvers<Seen>();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const table = requestHeaders(request);
    found.resolve({
      has: names.map((name) => table.has(name)),
      repeated: names.map((name) => table.isRepeated?.(name)),
      entries: [...table],
      own: names.map((name) => [name, table.get(name), request.headers.get(name)]),
    });
    return new Response();
  });
  await using connection = await connectRaw(`http://127.0.0.1:${server.addr.port}`);
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await connection.send(`GET / HTTP/1.1\r\nhost: localhost\r\n${lines}\r\n`);
  return await found.promise;
}

const token = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9-]{0,8}$/).filter((name) =>
  !/^(?:host|connection|content-length|transfer-encoding|upgrade|expect|te)$/i.test(name)
);
const value = fc.stringMatching(/^[!-~](?:[ -~]{0,12}[!-~])?$/);

Deno.test("the fields of a request from the listener are those of the runtime, in any case, repeated ones too", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(token, value), { maxLength: 12 }), async (fields) => {
      const sent = fields.map(([name]) => name);
      const lower = sent.map((name) => name.toLowerCase());
      const names = [...sent, ...lower, "host", "x-absent", "HOST"];
      const { own, has } = await seen(fields, names);
      for (const [name, ours, runtime] of own) assertEquals([name, ours], [name, runtime]);
      assertEquals(has, own.map(([, ours]) => ours !== null));
    }),
    { numRuns: 50 },
  );
});

Deno.test("repeated fields are one entry, with their values in the order of arrival", async () => {
  const names = ["x-a", "X-A", "b", "x-absent"];
  const { entries, repeated } = await seen([["X-A", "1"], ["b", "2"], ["x-a", "3"]], names);
  assertEquals(repeated, [true, true, false, false]);
  assertEquals(entries.toSorted(), [["b", "2"], ["host", "localhost"], ["x-a", "1, 3"]]);
});

Deno.test("bytes beyond ASCII in a field are those of the runtime", async () => {
  const { own } = await seen([["x-name", "na\u00efve"]], ["x-name"]);
  const [[, ours, runtime] = ["", null, null]] = own;
  assert(ours !== null && ours.startsWith("na"));
  assertEquals(ours, runtime);
});

Deno.test("a request made in this process has the fields of its Headers", () => {
  const request = new Request("http://localhost/", { headers: { "X-Name": "value" } });
  assertEquals(requestHeaders(request), request.headers);
});
