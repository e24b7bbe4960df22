import { closed, HELLO, kept, OK, refused, type Vector } from "./vector.ts";

const CHUNKED = "5\r\nhello\r\n0\r\n\r\n";

/** Returns an answer whose body, in one chunk, is said to have these codings. */
function coded(codings: string): string {
  return `${OK}Transfer-Encoding: ${codings}\r\n\r\n${CHUNKED}`;
}

/** Transfer codings. */
export const CODINGS: readonly Vector[] = [
  kept("in another case", coded("CHUNKED")),
  kept("with blanks around", coded("   chunked  ")),
  closed("with a tab behind", coded("chunked\t")),
  closed("chunked twice", coded("chunked, chunked")),
  closed(
    "chunked in two fields",
    `${OK}transfer-encoding: chunked\r\n` + coded("chunked").slice(OK.length),
  ),
  closed("with a comma before", coded(", chunked")),
  closed("with a comma behind", coded("chunked,")),
  closed("behind a length", `${OK}content-length: 9\r\n${coded("chunked").slice(OK.length)}`),
  closed(
    "before a length",
    `${OK}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n${CHUNKED}`,
  ),
  closed("a field of another name", `${OK}TE: chunked\r\n\r\n${CHUNKED}`, CHUNKED),
  refused("identity", `${OK}transfer-encoding: identity\r\n\r\nhello`),
  refused("identity in another case", `${OK}Transfer-Encoding: Identity\r\n\r\nhello`),
  refused("identity with a length", `${OK}transfer-encoding: identity\r\n${HELLO}`),
  refused("identity in HTTP/1.0", "HTTP/1.0 200 OK\r\ntransfer-encoding: identity\r\n\r\nhello"),
  refused("identity before chunked", coded("identity, chunked")),
  refused("identity behind chunked", coded("chunked, identity")),
  refused("gzip before chunked", coded("gzip, chunked")),
  refused("gzip behind chunked", coded("chunked, gzip")),
  refused("gzip alone", coded("gzip")),
  refused(
    "deflate in a field before",
    `${OK}transfer-encoding: deflate\r\n` + coded("chunked").slice(OK.length),
  ),
  refused("with a parameter", coded("chunked;q=1")),
  refused("in quotation marks", coded('"chunked"')),
  refused("with a letter before", coded("xchunked")),
  refused("with a letter behind", coded("chunkedx")),
  refused("with a vertical tab before", coded("\x0bchunked")),
  refused("of two words", coded("chun ked")),
  refused("of no word", coded("")),
  refused("chunked in HTTP/1.0", `HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${CHUNKED}`),
];

/** Answers with header fields about their connection. */
export const CONNECTIONS: readonly Vector[] = [
  kept("it stays", `${OK}connection: keep-alive\r\n${HELLO}`),
  kept("it stays, in another case", `${OK}Connection: Keep-Alive\r\n${HELLO}`),
  kept("something unknown", `${OK}connection: x-option\r\n${HELLO}`),
  kept("a word that begins like the one for its end", `${OK}connection: closed\r\n${HELLO}`),
  kept("nothing in an empty field", `${OK}connection:\r\n${HELLO}`),
  kept("another protocol is there", `${OK}connection: upgrade\r\nupgrade: h2c\r\n${HELLO}`),
  closed("it ends", `${OK}connection: close\r\n${HELLO}`),
  closed("it ends, in another case", `${OK}CONNECTION: CLOSE\r\n${HELLO}`),
  closed("it ends, behind another option", `${OK}connection: x-option, close\r\n${HELLO}`),
  closed("it stays and it ends", `${OK}connection: keep-alive, close\r\n${HELLO}`),
  closed("it ends and it stays", `${OK}connection: close\r\nconnection: keep-alive\r\n${HELLO}`),
  closed("it ends, by an old field for proxies", `${OK}proxy-connection: close\r\n${HELLO}`),
  closed("it stays, in HTTP/1.0", `HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n${HELLO}`),
  closed("it ends behind 204", "HTTP/1.1 204 x\r\nconnection: close\r\n\r\n", "", 204),
  closed(
    "it ends behind chunks",
    `${OK}connection: close\r\ntransfer-encoding: chunked\r\n\r\n${CHUNKED}`,
  ),
];

/** Bytes behind an answer, without a request for them. They arrive in one piece with it. */
export const SURPLUS: readonly Vector[] = [
  closed("one byte behind a length", `${OK}${HELLO}X`),
  closed("a line end behind a length", `${OK}${HELLO}\r\n`),
  closed("another answer behind a length", `${OK}${HELLO}${OK}content-length: 3\r\n\r\nbad`),
  closed("another answer behind chunks", `${coded("chunked")}${OK}${HELLO}`),
  closed("a byte behind no bytes", `${OK}content-length: 0\r\n\r\nX`, ""),
  closed("a body behind 204", `HTTP/1.1 204 No Content\r\n${HELLO}`, "", 204),
  closed("a body behind 304", `HTTP/1.1 304 Not Modified\r\n${HELLO}`, "", 304),
  closed(
    "chunks behind 304",
    `HTTP/1.1 304 x\r\ntransfer-encoding: chunked\r\n\r\n${CHUNKED}`,
    "",
    304,
  ),
  closed("a trailer behind the end of chunks", `${coded("chunked")}x-a: 1\r\n\r\n`),
];
