import { assertEquals, assertThrows } from "./assert.ts";
import { goldenCases, parseGolden, readGolden, withCrlf } from "./golden.ts";

const CASE = `=== client request
POST /v1/chat/completions
X-Gateway-No-Cache: true

{"model":"m",
 "stream":true}
=== upstream request
POST /chat/completions
authorization: Bearer key

{"model":"m"}
=== upstream answer
200 text/event-stream
x-request-id: up

data: {"a":1}

data: [DONE]

=== client answer
200 text/event-stream

data: [DONE]

=== end
`;

Deno.test("a golden case is read in its four parts", () => {
  assertEquals(parseGolden("stream", CASE), {
    name: "stream",
    clientRequest: {
      method: "POST",
      path: "/v1/chat/completions",
      headers: { "x-gateway-no-cache": "true" },
      body: '{"model":"m",\n "stream":true}',
    },
    upstreamRequest: {
      method: "POST",
      path: "/chat/completions",
      headers: { authorization: "Bearer key" },
      body: '{"model":"m"}',
    },
    upstreamAnswer: {
      status: 200,
      headers: { "content-type": "text/event-stream", "x-request-id": "up" },
      body: 'data: {"a":1}\n\ndata: [DONE]\n\n',
    },
    clientAnswer: {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: "data: [DONE]\n\n",
    },
  });
});

Deno.test("a stream that is cut off has no line break at its end", () => {
  const text = CASE.replace("=== upstream answer", "=== upstream answer, cut off")
    .replace("data: [DONE]\n\n=== client", "data: [DO\n=== client");
  assertEquals(parseGolden("cut", text).upstreamAnswer.body, 'data: {"a":1}\n\ndata: [DO');
});

Deno.test("a response may have no type and no body", () => {
  const text = CASE.replace(/=== client answer[^]*=== end/, "=== client answer\n204\n=== end");
  assertEquals(parseGolden("empty", text).clientAnswer, { status: 204, headers: {}, body: "" });
});

Deno.test("a text that lacks a part or its first line is no golden case", () => {
  assertThrows(() => parseGolden("x", CASE.replace("=== end\n", "")));
  assertThrows(() => parseGolden("x", CASE.replace("=== upstream request", "=== request")));
  assertThrows(() => parseGolden("x", CASE.replace("POST /chat", "chat")));
  assertThrows(() => parseGolden("x", CASE.replace("200 text", "OK text")));
});

Deno.test("a folder gives its cases by name, those of its folders too", () => {
  const folder = Deno.makeTempDirSync();
  try {
    Deno.mkdirSync(`${folder}/compat`);
    Deno.writeTextFileSync(`${folder}/compat/b.txt`, CASE);
    Deno.writeTextFileSync(`${folder}/compat/a.txt`, CASE);
    Deno.writeTextFileSync(`${folder}/notes.md`, "no case");
    assertEquals(goldenCases(folder).map((found) => found.name), ["compat/a", "compat/b"]);
    assertEquals(readGolden(`${folder}/compat/a.txt`), parseGolden("a", CASE));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("a golden stream can be replayed with CRLF", () => {
  assertEquals(withCrlf("data: 1\n\n"), "data: 1\r\n\r\n");
});
