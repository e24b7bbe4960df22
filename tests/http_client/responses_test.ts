import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { newChunkedFraming } from "../../src/http_client/chunked.ts";
import { fault, heard } from "./heard.ts";

const OK = "HTTP/1.1 200 OK\r\n";

Deno.test("a response is the same wherever it is split into pieces", async () => {
  const framed = [
    `${OK}content-length: 5\r\n\r\nhello`,
    `${OK}transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\nx-trailer: 1\r\n\r\n`,
    `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${OK}content-length: 5\r\n\r\nhello`,
  ];
  const inDoubt = [
    `${OK}content-length: 5, 5\r\nContent-Length:5\r\n\r\nhello`,
    `${OK}Transfer-Encoding: Chunked\n\n0005 ; a\t="\xe9"\r\nhello\r\n000\r\n\r\n`,
    "HTTP/1.1 200\ncontent-length: 5\n\nhello",
  ];
  for (const text of [...framed, ...inDoubt, `${OK}\r\nhello`]) {
    const end = framed.includes(text) ? "kept" : "closed";
    for (let cut = 0; cut < text.length; cut++) {
      const { answer, body, fate } = await heard([text.slice(0, cut), text.slice(cut)]);
      assertEquals([answer.status, body, fate], [200, "hello", end], `${cut} of ${text}`);
    }
    assertEquals((await heard([...text])).body, "hello");
  }
});

Deno.test("a response that ends early is an error", async () => {
  const texts = [
    `${OK}content-length: 6\r\n\r\nhello`,
    `${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`,
    `${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n`,
    `${OK}content-le`,
    "",
  ];
  for (const text of texts) assert(await fault(text) !== null, text);
});

Deno.test("bytes after a response are not part of it and end the connection", async () => {
  const framed = [
    `${OK}content-length: 5\r\n\r\nhello`,
    `${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  ];
  for (const text of framed) {
    for (const more of ["\r\n", `${OK}content-length: 0\r\n\r\n`]) {
      const { body, fate } = await heard([text + more]);
      assertEquals([body, fate], ["hello", "closed"]);
    }
  }
});

Deno.test("responses without content have no body, whatever their headers declare", async () => {
  for (const status of [204, 304]) {
    const head = `HTTP/1.1 ${status} x\r\ncontent-length: 5\r\n\r\n`;
    for (const [text, end] of [[head, "kept"], [`${head}hello`, "closed"]] as const) {
      const { answer, body, fate } = await heard([text]);
      assertEquals([answer.status, body, fate], [status, "", end]);
    }
  }
});

Deno.test("a malformed head is refused", async () => {
  const heads = [
    "HTTP/2 200 OK\r\n",
    "HTTP/1.1 20 OK\r\n",
    "HTTP/1.1 200 O\x00K\r\n",
    "HTTP/1.1 200 OK\r \r\n",
    "ICY 200 OK\r\n",
    `${OK}no colon\r\n`,
    `${OK}: no name\r\n`,
    `${OK}name : 1\r\n`,
    `${OK} folded: x\r\n`,
    `${OK}x: 1\r\n 2\r\n`,
    `${OK}x: 1\r\n\t2\r\n`,
    ...["\0", "\r", "\x01", "\x0b", "\x0c", "\x1b", "\x7f"].flatMap((code) => [
      `${OK}x: 1${code}2\r\n`,
      `${OK}x: 1\r\ny: ${code}\r\n`,
      `${OK}x${code}: 1\r\n`,
    ]),
  ];
  for (const head of heads) {
    const text = `${head}content-length: 0\r\n\r\n`;
    assert(await fault(text) !== null, JSON.stringify(text));
  }
});

Deno.test("a body whose length is in doubt is refused", async () => {
  for (const length of ["-1", "+5", "5, 6", "5,", "", "0x5", "5 5", "9999999999999999"]) {
    assert(await fault(`${OK}content-length: ${length}\r\n\r\nhello`) !== null, length);
  }
  assert(await fault(`${OK}content-length: 5\r\ncontent-length: 4\r\n\r\nhello`) !== null);
  for (const coding of ["gzip, chunked", "identity, chunked", "identity", "chunked;a=b", ""]) {
    const text = `${OK}transfer-encoding: ${coding}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
    assert(await fault(text) !== null, coding);
  }
  const old = "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  assert(await fault(old) !== null);
});

Deno.test("chunk lines with anything but a size and its extension are refused", async () => {
  const bodies = [
    "x\r\nhello",
    "\r\nhello",
    "5 6\r\nhello",
    "-5\r\nhello",
    " 5\r\nhello",
    "0x5\r\n",
  ];
  const lines = ["5;\x00\r\nhello", "5;a\rb\r\nhello", "5\nhello", "5\r\nhello\n", "5\r\nhello0"];
  const sizes = [
    "3\r\nhello",
    "5\r\nhelloX\r\n",
    `${"f".repeat(13)}\r\n`,
    `1${"0".repeat(12)}1\r\n`,
  ];
  for (const body of [...bodies, ...lines, ...sizes]) {
    const text = `${OK}transfer-encoding: chunked\r\n\r\n${body}\r\n0\r\n\r\n`;
    assert(await fault(text) !== null, JSON.stringify(body));
  }
});

Deno.test("data before a malformed chunk line is taken first, also when it arrives together with the line", () => {
  for (const line of ["x\r\n", "5\n", "f".repeat(13) + "\r\n", "5;\x00\r\n", "1".repeat(20_000)]) {
    const { take } = newChunkedFraming();
    const bytes = new TextEncoder().encode(`3\r\nhel\r\n2\r\nlo\r\n${line}`);
    const { length, used } = take(bytes);
    assertEquals(new TextDecoder().decode(bytes.subarray(0, length)), "hello", line);
    assertThrows(() => take(bytes.subarray(used)), line);
  }
});

const tooMuch = "the chunks of the response have too much that is no data";

Deno.test("heads, lines and trailers without end are refused at their limits", async () => {
  const chunked = `${OK}transfer-encoding: chunked\r\n\r\n`;
  const many = (line: string) => Array.from({ length: 100_000 }, () => line);
  const tooLarge = "the head of the response is larger than 64 KiB";
  assertEquals(await fault(OK, ...many("x: 1\r\n")), tooLarge);
  assertEquals(await fault(`${OK}x: ${"a".repeat(300_000)}`), tooLarge);
  assertEquals(
    await fault(`${chunked}5;${"a".repeat(20_000)}`),
    "a line of the response has no end",
  );
  assertEquals(await fault(chunked, "0".repeat(20_000)), "a line of the response has no end");
  const trailers = await fault(`${chunked}0\r\n`, ...many("x: 1\r\n"));
  assertEquals(trailers, "the trailers of the response have no end");
  const interim = await fault(...many("HTTP/1.1 100 Continue\r\n\r\n"));
  assertEquals(interim, "too many interim responses");
  assertEquals(await fault(...pieces("\r\n".repeat(40_000), 1_000)), tooLarge);
  const extended = `1;${"a".repeat(1_000)}\r\nx\r\n`.repeat(20);
  assertEquals(await fault(chunked, ...pieces(extended, 1_000)), tooMuch);
});

Deno.test("extensions of a chunk may have 16 bytes and two for each of its data, and 16 KiB more in all", async () => {
  const head = `${OK}transfer-encoding: chunked\r\n\r\n`;
  const chunk = (chars: number, data = "x") =>
    `${data.length.toString(16)};${"a".repeat(chars)}\r\n${data}\r\n`;
  const free = chunk(16).repeat(1_000) + chunk(10_000, "y".repeat(5_000)).repeat(10);
  const most = chunk(16 + 16 * 1024 - 1_000) + chunk(16 + 1_000);
  assertEquals((await heard([head, free, most, "0\r\n\r\n"])).body.length, 51_002);
  assertEquals(await fault(head, free, most, chunk(17)), tooMuch);
});

Deno.test("a head of 64 KiB is read, and one byte more is refused", async () => {
  const end = "\r\ncontent-length: 2\r\n\r\n";
  const length = 64 * 1024 - `${OK}x: ${end}`.length;
  for (const size of [1, 1000, 64 * 1024]) {
    const text = (count: number) => `${OK}x: ${"a".repeat(count)}${end}hi`;
    const large = await heard(pieces(text(length), size));
    assertEquals([large.answer.headers.get("x")?.length, large.body], [length, "hi"]);
    const refusal = await fault(...pieces(text(length + 1), size));
    assertEquals(refusal, "the head of the response is larger than 64 KiB");
  }
});

function pieces(text: string, size: number): string[] {
  const count = Math.ceil(text.length / size);
  return Array.from({ length: count }, (_, at) => text.slice(at * size, (at + 1) * size));
}

Deno.test("header names are read in any case, values as bytes without blanks around them", async () => {
  const { answer } = await heard([
    `${OK}X-A: \t1 \t\r\nx-b:\x80\xa0\xe9\r\nx-a: 2\r\nx-c:\r\ncontent-length: 0\r\n\r\n`,
  ]);
  assertEquals([...answer.headers], [
    ["x-a", "1, 2"],
    ["x-b", "\x80\xa0\xe9"],
    ["x-c", ""],
    ["content-length", "0"],
  ]);
  assertEquals(answer.headers.get("x-d"), null);
});

Deno.test("a connection is reused only if the end of the response is unambiguous", async () => {
  const chunked = "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  const closing = [
    `${OK}content-length: 99\r\n${chunked}`,
    `${OK}connection: x, Close\r\n${chunked}`,
    `${OK}Connection: CLOSE\r\ncontent-length: 5\r\n\r\nhello`,
    "HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello",
    "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 5\r\n\r\nhello",
    "HTTP/1.1 101 Switching\r\ncontent-length: 3\r\n\r\nhello",
    `${OK}\r\nhello`,
  ];
  for (const text of closing) {
    const { body, fate } = await heard([text]);
    assertEquals([body, fate], ["hello", "closed"], text);
  }
  assertEquals((await heard([`${OK}connection: keep-alive\r\n${chunked}`])).fate, "kept");
});
