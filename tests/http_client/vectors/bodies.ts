import { closed, HELLO, kept, OK, refused, type Vector } from "./vector.ts";

/** Returns an answer of this length, and these bytes behind the head. */
function sized(length: string, bytes = "hello"): string {
  return `${OK}Content-Length: ${length}\r\n\r\n${bytes}`;
}

/** Bodies framed by their length, by nothing, or by their status. */
export const LENGTHS: readonly Vector[] = [
  kept("a length", sized("5")),
  kept("a length of zero", sized("0", ""), ""),
  kept("zeros before a length", sized("0005")),
  kept("blanks around a length", sized("   5  ")),
  closed("a length twice in one field", sized("5, 5")),
  closed("a length in two fields", `${OK}content-length: 5\r\n${HELLO}`),
  closed("no length", `${OK}content-type: text/plain\r\n\r\nhello`),
  closed("no length, and the connection closes", `${OK}connection: close\r\n\r\nhello`),
  closed("no length, and the connection should stay", `${OK}connection: keep-alive\r\n\r\nhello`),
  closed("no length in HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello"),
  closed(
    "parts that frame themselves do not end the body",
    [
      `${OK}content-type: multipart/byteranges; boundary=b\r\n\r\n`,
      "--b\r\n\r\nhello\r\n--b--\r\n",
    ].join(""),
    "--b\r\n\r\nhello\r\n--b--\r\n",
  ),
  closed("line ends where no length is", `${OK}\r\n\r\n\r\nhello`, "\r\n\r\nhello"),
  closed("what looks like an answer where no length is", `${OK}\r\n${OK}\r\n`, `${OK}\r\n`),
  kept("204", "HTTP/1.1 204 No Content\r\n\r\n", "", 204),
  kept("204 with a length", "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n", "", 204),
  kept("204 in chunks", "HTTP/1.1 204 x\r\ntransfer-encoding: chunked\r\n\r\n", "", 204),
  closed("204 of no known coding", "HTTP/1.1 204 x\r\ntransfer-encoding: gzip\r\n\r\n", "", 204),
  kept("304", "HTTP/1.1 304 Not Modified\r\netag: x\r\n\r\n", "", 304),
  kept("304 with a length", "HTTP/1.1 304 Not Modified\r\ncontent-length: 99\r\n\r\n", "", 304),
  closed("304 with a malformed length", "HTTP/1.1 304 x\r\ncontent-length: 5x\r\n\r\n", "", 304),
  kept("205 with no bytes", "HTTP/1.1 205 Reset\r\ncontent-length: 0\r\n\r\n", "", 205),
  refused("two lengths in one field", sized("5, 6")),
  refused("two lengths in two fields", `${OK}content-length: 4\r\n${HELLO}`),
  refused("a length with nothing behind the comma", sized("5,")),
  refused("an empty length", sized("")),
  refused("a negative length", sized("-5")),
  refused("a length with a plus", sized("+5")),
  refused("a length in hexadecimal", sized("0x5")),
  refused("a length with a point", sized("5.0")),
  refused("a length with an exponent", sized("5e0")),
  refused("a length with a unit", sized("5 bytes")),
  refused("a length of two numbers", sized("5 5")),
  refused("a length in quotation marks", sized('"5"')),
  refused("a length with a parameter", sized("5;x")),
  refused("a length in other digits", sized("\xd9\xa5")),
  refused("a length in words", sized("five")),
  refused("a length of 64 bits and more", sized("18446744073709551621")),
  refused("a length that no number holds exactly", sized("9007199254740993")),
  refused("a body shorter than its length", sized("6")),
  refused("a length and no body", sized("5", "")),
];

/** Returns an answer in chunks, which are given as they are written. */
function chunks(written: string): string {
  return `${OK}Transfer-Encoding: chunked\r\n\r\n${written}`;
}

/** Returns an answer whose one chunk has this line for its size. */
function size(line: string): string {
  return chunks(`${line}\r\nhello\r\n0\r\n\r\n`);
}

/** Returns an answer with these trailers, each with its line end. */
function trailers(lines: string): string {
  return chunks(`5\r\nhello\r\n0\r\n${lines}\r\n`);
}

/** Bodies in chunks. */
export const CHUNKS: readonly Vector[] = [
  kept("one chunk", size("5")),
  kept("several chunks", chunks("2\r\nhe\r\n1\r\nl\r\n2\r\nlo\r\n0\r\n\r\n")),
  kept("no chunk", chunks("0\r\n\r\n"), ""),
  kept("a last chunk of many zeros", chunks("5\r\nhello\r\n000000\r\n\r\n")),
  kept("zeros before a size", size("00000005")),
  kept("a size in capitals", chunks("A\r\n0123456789\r\n0\r\n\r\n"), "0123456789"),
  kept("a size in small letters", chunks("a\r\n0123456789\r\n0\r\n\r\n"), "0123456789"),
  kept("line ends as data", chunks("4\r\n\r\n\r\n\r\n0\r\n\r\n"), "\r\n\r\n"),
  kept("data that looks like the last chunk", chunks("5\r\n0\r\n\r\n\r\n0\r\n\r\n"), "0\r\n\r\n"),
  kept("an extension", size("5;a")),
  kept("an extension with a value", size("5;a=b")),
  kept("an extension with a quoted value", size('5;a="b; c=\\"d\\""')),
  kept("several extensions", size('5;a;b=c;d="e"')),
  kept("an extension of the last chunk", chunks("5\r\nhello\r\n0;a=b\r\n\r\n")),
  kept("a trailer", trailers("x-a: 1\r\n")),
  kept("several trailers", trailers("x-a: 1\r\nx-b:\r\nx-a: 2\r\n")),
  closed("a blank behind a size", size("5 ")),
  closed("many blanks behind a size", size("5          ")),
  closed("a tab behind a size", size("5\t")),
  closed("a blank before an extension", size("5 ;a=b")),
  closed("a blank in an extension", size("5; a=b")),
  closed("blanks around the value of an extension", size("5;a = b")),
  closed("an extension without a name", size("5;")),
  closed("an extension without a name, with a value", size("5;=b")),
  closed("an extension without a value behind the sign", size("5;a=")),
  closed("an extension with a quotation mark that is not closed", size('5;a="b')),
  closed("two semicolons", size("5;;a")),
  closed("text for an extension", size("5; note: {}")),
  closed("a blank behind the last size", chunks("5\r\nhello\r\n0 \r\n\r\n")),
  closed("a trailer without a colon", trailers("hello\r\n")),
  closed("a trailer without a name", trailers(": x\r\n")),
  closed("a trailer with a blank before the colon", trailers("x-a : 1\r\n")),
  closed("a trailer that continues in the next line", trailers("x-a: 1\r\n 2\r\n")),
  closed("a trailer with a NUL", trailers("x-a: \0\r\n")),
  closed("a length among the trailers", trailers("content-length: 9\r\n")),
  closed("a coding among the trailers", trailers("Transfer-Encoding: chunked\r\n")),
  closed("an end of the connection among the trailers", trailers("connection: close\r\n")),
  refused("no size", size("")),
  refused("a size that is no number", size("five")),
  refused("a size with a letter behind", size("5x")),
  refused("a size with a blank before", size(" 5")),
  refused("a negative size", size("-5")),
  refused("a size with a plus", size("+5")),
  refused("a size with 0x", size("0x5")),
  refused("two sizes", size("5 5")),
  refused("a size of 64 bits", size("ffffffffffffffff")),
  refused("a size that wraps around at 64 bits", size("10000000000000005")),
  refused("a size of very many digits", size(`${"0".repeat(20_000)}5`)),
  refused("an extension without end", size(`5;a=${"b".repeat(20_000)}`)),
  refused("a NUL in an extension", size("5;\0")),
  refused("a carriage return in an extension", size("5;a\rb")),
  refused("two carriage returns behind a size", size("5\r")),
  refused("a line feed alone behind a size", chunks("5\nhello\r\n0\r\n\r\n")),
  refused("a line feed alone behind the data", chunks("5\r\nhello\n0\r\n\r\n")),
  refused("a line feed alone behind the last size", chunks("5\r\nhello\r\n0\n\r\n")),
  refused("a line feed alone at the end", chunks("5\r\nhello\r\n0\r\n\n")),
  refused("a line feed alone behind a trailer", trailers("x-a: 1\n")),
  refused("more data than the size", size("4")),
  refused("less data than the size", size("6")),
  refused("no line end behind the data", chunks("5\r\nhello0\r\n\r\n")),
  refused("data in place of the line end", chunks("5\r\nhelloXX0\r\n\r\n")),
  refused("no last chunk", chunks("5\r\nhello\r\n")),
  refused("no line end behind the last chunk", chunks("5\r\nhello\r\n0\r\n")),
  refused("a last chunk cut in its line", chunks("5\r\nhello\r\n0")),
  refused("an end in the middle of the data", chunks("5\r\nhel")),
  refused("an end in the middle of a trailer", chunks("5\r\nhello\r\n0\r\nx-a: 1\r\n")),
  refused("trailers without end", trailers(`x-a: ${"b".repeat(990)}\r\n`.repeat(66))),
  refused("a body that is not in chunks", chunks("hello")),
  refused("an error page behind a chunk", chunks("5\r\nhello\r\n<html>oops</html>\r\n")),
];
