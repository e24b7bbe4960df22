import type { Refusal } from "../core/failure/failure.ts";
import { type Failed, refuse, type Result, success } from "../core/failure/result.ts";
import { utf8Text } from "./utf8.ts";

/** Parsed headers of a part. */
export interface PartHead {
  readonly name: string;
  readonly isFile: boolean;
  /** Content type in lower case, with its parameters, or an empty text. */
  readonly type: string;
  /** `Content-Length` in bytes. */
  readonly length: number | null;
}

/** Encodings of a part that leave its bytes as they are. */
const PLAIN_ENCODINGS: readonly string[] = ["7bit", "8bit", "binary"];

/** A header line: its name, and a value whose only control characters are tabs. */
const LINE = /^([!#$%&'*+.^_`|~0-9a-z-]+):[ \t]*((?:\P{Cc}|[\t\u0080-\u009f])*)$/iu;

/** From the first of many blanks only: a search from each would take the square. */
const BLANKS_AT_END = /(?<![ \t])[ \t]+$/;

/** Maximum number of header lines of a part: python-multipart reads no more. */
const MAX_LINES = 8;

/** Parses the header lines of a part (RFC 7578, section 4). Refused as `invalid_multipart`. */
export function parsePartHead(head: Uint8Array): Result<PartHead> {
  const lines = utf8Text(head)?.split("\r\n").slice(0, -1);
  if (lines === undefined) return refuseForm("A header of a part is not valid UTF-8.");
  if (lines.length > MAX_LINES) {
    return refuseForm(`A part has more than ${MAX_LINES} headers.`);
  }
  const fields = new Map<string, string>();
  for (const line of lines) {
    // A line that begins with white space would continue the one before it (RFC 5322, 2.2.3).
    const [, written = "", value = ""] = LINE.exec(line) ?? [];
    const name = written.toLowerCase();
    if (name === "" || fields.has(name)) {
      return refuseForm("A header of a part is malformed or repeated.");
    }
    fields.set(name, value.replace(BLANKS_AT_END, ""));
  }
  const type = fields.get("content-type")?.toLowerCase() ?? "";
  if (type.startsWith("multipart/")) {
    return refuseForm("A part is a multipart body itself; send its parts as parts of the request.");
  }
  const encoding = fields.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (!PLAIN_ENCODINGS.includes(encoding) || fields.has("content-encoding")) {
    return refuseForm("A part has an encoding; send its bytes as they are.");
  }
  const length = fields.get("content-length") ?? null;
  const disposition = parseDisposition(fields.get("content-disposition") ?? "");
  return disposition.ok
    ? success({ ...disposition.value, type, length: length === null ? null : Number(length) })
    : disposition;
}

function parseDisposition(disposition: string): Result<Pick<PartHead, "name" | "isFile">> {
  const type = /^form-data(?=[ \t]*(?:;|$))/i.exec(disposition);
  const parameters = type === null ? null : parseFormParameters(disposition, type[0].length);
  if (parameters === null || parameters.some(isAmbiguous)) return noName();
  const values = new Map(parameters.map(({ name, value }) => [name, value]));
  const name = values.get("name");
  if (values.size < parameters.length || name === undefined) return noName();
  // RFC 7578, section 4.6: the charset of all texts, which few parsers know.
  if (name === "_charset_") {
    return refuseForm("A form has UTF-8 texts, without a part '_charset_'.");
  }
  const file = values.get("filename");
  const encoded = values.get("filename*");
  if (file === undefined ? encoded !== undefined : !isFileName(file)) return noFileName();
  if (encoded !== undefined && !ENCODED_NAME.test(encoded)) return noFileName();
  return success({ name, isFile: file !== undefined });
}

/** Text of a parameter that is not in quotes: a token (RFC 9110, section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;

/**
 * A name in quotes: printable ASCII with `\"` and `\\` as the only escapes, without spaces around
 * it, which Django omits, slashes before it, which aiohttp omits, and semicolons.
 */
const QUOTED_NAME = /^"(?![ /\\])(?:[\x20\x21\x23-\x3a\x3c-\x5b\x5d-\x7e]|\\["\\])+(?<! )"$/;

/** A value with its charset (RFC 8187, section 3.2.1). */
const ENCODED_NAME = /^(?:utf-8|iso-8859-1)'[a-z-]*'(?:[!#$&+.^_`|~0-9a-z-]|%[0-9a-f]{2})+$/i;

/** True if parsers could read different parameters, or a different name, in what is written. */
function isAmbiguous({ name, written, isApart }: FormParameter): boolean {
  // With `name*` or `name*0` (RFC 2231) parsers could take another name, and so with the escape
  // `%22`.
  if (isApart || (name.includes("*") && name !== "filename*")) return true;
  if (name === "name" && written.includes("%22")) return true;
  if (!written.startsWith('"')) return !TOKEN.test(written);
  if (name === "name" && !QUOTED_NAME.test(written)) return true;
  // Python's parsers count the quotation marks up to each semicolon, without those that a backslash
  // precedes, and aiohttp's takes one semicolon in quotes for text.
  return written.includes('\\\\"') || written.split(";").length > 2 ||
    (written.includes('\\"') && /[;=]/.test(written));
}

/** HTML's character references that may stand for a slash, and those that may stand for nothing. */
const SLASHES = /&#[0-9a-fx]+;?|&[a-z0-9]+;|\\/gi, OTHERS = /&[a-z]+/gi;

/**
 * True if a part with this file name is a file to every parser: Django drops parts without a
 * printable name behind the last slash.
 */
function isFileName(name: string): boolean {
  const last = name.replace(SLASHES, "/").split("/").at(-1) ?? "";
  return /[0-9a-z_-]|(?=[\u00c0-\uffff])[\p{L}\p{N}]/iu.test(last.replace(OTHERS, ""));
}

function noName(): Failed<Refusal> {
  return refuseForm("Each part needs one header Content-Disposition: form-data with one name.");
}

function noFileName(): Failed<Refusal> {
  return refuseForm(
    "A part that is a file needs a file name of which every parser takes the same.",
  );
}

/** Returns the refusal of a multipart body; `param` is the name of the part. */
export function refuseForm(message: string, param: string | null = null): Failed<Refusal> {
  return refuse("invalid_multipart", message, param);
}

/** A parameter of a header, with its value as a token or in quotes. */
const PARAMETER = /([ \t]*);[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+)=("(?:[^"\\]|\\[^])*"|[^;"\s]*)/iy;

/** A parameter of a header of a form. */
interface FormParameter {
  /** In lower case. */
  readonly name: string;
  /** As it is written, with its quotation marks and escapes. */
  readonly written: string;
  readonly value: string;
  /** True if white space is before its semicolon. */
  readonly isApart: boolean;
}

/**
 * Parses the parameters of a `Content-Type` or `Content-Disposition` (RFC 7578) from a place on to
 * the end; null if anything else is there.
 */
export function parseFormParameters(text: string, start: number): readonly FormParameter[] | null {
  const parameters: FormParameter[] = [];
  for (let at = start; at < text.length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(text);
    if (found === null) return null;
    const [, space, name = "", written = ""] = found;
    const value = written.startsWith('"')
      ? written.slice(1, -1).replace(/\\([^])/g, "$1")
      : written;
    parameters.push({ name: name.toLowerCase(), written, value, isApart: space !== "" });
  }
  return parameters;
}
