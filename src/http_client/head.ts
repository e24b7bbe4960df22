import { FIELD_NAME, FIELD_VALUE } from "../core/header_fields.ts";
import type { ReadBuffer } from "./read_buffer.ts";

/** Status line and header fields of a response. */
export interface Head {
  readonly status: number;
  /** Header fields by lower-case name; the values of repeated fields are joined by a comma. */
  readonly fields: ReadonlyMap<string, string>;
  /** True if the server speaks HTTP/1.1. */
  readonly isPersistent: boolean;
  /** True if the connection may carry another request: see `isReusable`. */
  readonly isReusable: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r?\n/;
// One search for all lines: measured, one for each takes 1.5 times as long.
const FIELD_LINES = /(?:[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*\r?\n)*\r?\n$/y;

/** Size limit of the head of one response, also of an interim response. */
const MAX_HEAD_BYTES = 64 * 1024;

/** Limit of interim responses before the final one. */
const MAX_INTERIM_RESPONSES = 20;

/** True if the header can be sent unchanged as one header field. */
export function isField(name: string, value: string): boolean {
  // Other characters could end the head.
  return FIELD_NAME.test(name) && FIELD_VALUE.test(value);
}

/** True if the line, of one character for each byte, is one header field. */
export function isFieldLine(line: string): boolean {
  const colon = line.indexOf(":");
  return isField(line.slice(0, Math.max(colon, 0)), line.slice(colon + 1));
}

/** Reads the head of the final response and skips interim ones. Throws if there is none. */
export async function readHead(received: ReadBuffer): Promise<Head> {
  let isReusable = true;
  let blankBytes = 0;
  for (let interim = 0, seen = 0; interim <= MAX_INTERIM_RESPONSES;) {
    // Without a bound a server that sends nothing else keeps the event loop for seconds.
    blankBytes += skipLineEnds(received);
    if (blankBytes > MAX_HEAD_BYTES) tooLarge();
    const head = takeHead(received, seen);
    if (head === null) {
      // The last two bytes may be the start of the blank line that ends the head.
      seen = Math.max(received.bytes().length - 2, 0);
      if (!await received.more()) throw new Error("the connection ended before a response");
      continue;
    }
    isReusable &&= head.isReusable;
    // 101 is the last response in this protocol; no upgrade was requested.
    if (head.status >= 200 || head.status === 101) {
      return head.isReusable === isReusable ? head : { ...head, isReusable };
    }
    // An interim response has no body, but some parsers look for the one that it declares.
    if (head.fields.has("content-length") || head.fields.has("transfer-encoding")) {
      isReusable = false;
    }
    interim++;
    seen = 0;
  }
  throw new Error("too many interim responses");
}

/**
 * Returns the next head and consumes it; null if it is not complete. Its end is not in the first
 * `seen` bytes.
 */
function takeHead(received: ReadBuffer, seen: number): Head | null {
  const bytes = received.bytes();
  const length = headLength(bytes, Math.min(seen, bytes.length));
  if (length > MAX_HEAD_BYTES || (length === 0 && bytes.length >= MAX_HEAD_BYTES)) {
    tooLarge();
  }
  if (length === 0) return null;
  const text = decodeLatin1(bytes.subarray(0, length));
  received.take(length);
  return parseHead(text);
}

const LF = 10, CR = 13;

/**
 * Skips blank lines before a response: some servers write one after the previous body (RFC 9112,
 * 2.2, of requests).
 */
function skipLineEnds(received: ReadBuffer): number {
  const bytes = received.bytes();
  let count = 0;
  while (bytes[count] === LF || (bytes[count] === CR && bytes[count + 1] === LF)) {
    count += bytes[count] === LF ? 1 : 2;
  }
  if (count > 0) received.take(count);
  return count;
}

function tooLarge(): never {
  throw new Error("the head of the response is larger than 64 KiB");
}

/** Returns the length of the head including the blank line that ends it; 0 if it is incomplete. */
function headLength(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return 0;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Decodes one character for each byte. ASCII is the same in UTF-8, whose decoder takes half the
 * time of the one for Latin-1, which has other characters from 128 to 159 anyway.
 */
export function decodeLatin1(bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  // A character beyond ASCII has several bytes; an invalid one is replaced.
  return text.length === bytes.length && !text.includes("\uFFFD")
    ? text
    : Array.from(bytes, (code) => String.fromCharCode(code)).join("");
}

function parseHead(text: string): Head {
  const line = STATUS_LINE.exec(text);
  // A folded line has no field name. Folding is obsolete, and parsers disagree on it.
  FIELD_LINES.lastIndex = line?.[0].length ?? 0;
  if (line === null) throw new Error("the response is not HTTP/1.1");
  if (!FIELD_LINES.test(text)) throw new Error("the response has a malformed header");
  const fields = new Map<string, string>();
  const blankLine = text.length - (text.charCodeAt(text.length - 2) === CR ? 2 : 1);
  for (let at = line[0].length; at < blankLine;) {
    const colon = text.indexOf(":", at);
    const lineEnd = text.indexOf("\n", colon);
    const name = text.slice(at, colon).toLowerCase();
    const value = trimBlanks(
      text,
      colon + 1,
      text.charCodeAt(lineEnd - 1) === CR ? lineEnd - 1 : lineEnd,
    );
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
    at = lineEnd + 1;
  }
  const isPersistent = line[1] === "1";
  return {
    status: Number(line[2]),
    fields,
    isPersistent,
    isReusable: isPersistent && !isOddlyWritten(text) && isReusable(fields),
  };
}

/**
 * True if a line ends without CR, which some parsers do not accept, or a framing field holds a tab.
 */
function isOddlyWritten(text: string): boolean {
  return /(?:^|[^\r])\n/.test(text) ||
    text.includes("\t") &&
      /^(?:content-length|transfer-encoding|(?:proxy-)?connection):.*\t/im.test(text);
}

/**
 * True if every parser finds the same end of the body, and the server keeps the connection open
 * after it. A body with both Content-Length and Transfer-Encoding is ambiguous to intermediaries
 * (request smuggling).
 */
function isReusable(fields: Head["fields"]): boolean {
  const coding = fields.get("transfer-encoding");
  const length = fields.get("content-length");
  if (coding !== undefined && (length !== undefined || coding.toLowerCase() !== "chunked")) {
    return false;
  }
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return false;
  return !isClosing(fields.get("connection")) && !isClosing(fields.get("proxy-connection"));
}

/** True if a list of connection options, which most responses do not have, ends the connection. */
function isClosing(options: string | undefined): boolean {
  return options !== undefined && parseList(options).includes("close");
}

/** Returns the elements of a list field in lower case. */
export function parseList(value: string | undefined): readonly string[] {
  return value?.toLowerCase().split(",").map((one) => one.trim()).filter((one) => one !== "") ?? [];
}

/**
 * Returns a part of the text without the surrounding blanks, which are not part of a field value.
 */
function trimBlanks(text: string, from: number, to: number): string {
  let start = from, end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (start < end && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
