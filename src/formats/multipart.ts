import { isAscii, isUtf8 } from "node:buffer";
import { concatBytes } from "../core/concat_bytes.ts";
import type { Refusal } from "../core/failure/failure.ts";
import { type Failed, type Result, success } from "../core/failure/result.ts";
import { utf8Bytes, utf8Text } from "./utf8.ts";
import { newPartScanner } from "./multipart_scan.ts";
import { parseFormParameters, parsePartHead, type PartHead, refuseForm } from "./multipart_head.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** One part of a multipart body: its name, and where its content is in the body. */
export interface FormPart extends PartHead {
  readonly start: number;
  readonly end: number;
}

/**
 * A multipart body as it was received. Only the places of its parts are known; no content is
 * copied.
 */
export interface MultipartBody {
  /** The gateway's own content type for the body. */
  readonly contentType: string;
  readonly boundary: string;
  readonly pieces: readonly Bytes[];
  readonly parts: readonly FormPart[];
}

const CR = 13;

/** Longest text of a part that is read, in bytes. */
const MAX_READ_BYTES = 64 * 1024;

/** Longest text of a part that is not a file, in bytes: busboy cuts longer ones. */
const MAX_TEXT_BYTES = 1_000_000;

/** Parser of a multipart body in pieces of any size. Its refusals are `invalid_multipart`. */
export interface FormParser {
  /** Reads the next piece of the body; returns the refusal of the body, or null if it continues. */
  push(piece: Uint8Array): Failed | null;
  /** Returns the body, which has ended; `pieces` are all pieces of it. */
  end(pieces: readonly Bytes[]): Result<MultipartBody>;
}

/**
 * Returns a parser of `multipart/form-data` (RFC 7578) that is strict, so that no upstream can find
 * other parts in the same bytes. It reads each piece as it arrives: all of a large body at once
 * would delay other requests.
 */
export function newFormParser(contentType: string): Result<FormParser> {
  const parsed = parseBoundary(contentType);
  if (!parsed.ok) return parsed;
  const boundary = parsed.value;
  const parts: FormPart[] = [];
  /** The names of the parts by their lower case. */
  const names = new Map<string, string>();
  const scanner = newPartScanner(boundary, (place) => {
    const head = parsePartHead(place.head);
    if (!head.ok) return head;
    parts.push({ ...head.value, start: place.start, end: place.end });
    const { name, length } = head.value;
    if (length !== null && length !== place.end - place.start) return refuseForm(WRONG_LENGTH);
    // The gateway may add a part `model`.
    for (const known of [names.get(name.toLowerCase()) ?? name, "model"]) {
      if (known !== name && known.toLowerCase() === name.toLowerCase()) {
        return refuseForm(TWO_CASES);
      }
    }
    names.set(name.toLowerCase(), name);
    return null;
  });
  return success({
    push: (piece) => scanner.push(piece),
    end(pieces) {
      const problem = scanner.end();
      if (problem !== null) return problem;
      const form = { contentType: contentTypeOf(boundary), boundary, pieces, parts };
      return modelProblem(form) ?? textProblem(form) ?? success(form);
    },
  });
}

/**
 * Characters of a boundary, at most 70; the last one is no space (RFC 2046, section 5.1.1).
 */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;

/** Longest content type that is parsed. */
const MAX_TYPE_CHARS = 1024;

/** Charsets that a request may declare: UTF-8 or a part of it. */
const CHARSETS: readonly string[] = ["utf-8", "utf8", "us-ascii", "ascii"];

function parseBoundary(contentType: string): Result<string> {
  const type = /^[ \t]*multipart\/form-data[ \t]*/i.exec(contentType);
  if (type === null || contentType.length > MAX_TYPE_CHARS) {
    return refuseForm("The content type of the request must be multipart/form-data.");
  }
  const parameters = parseFormParameters(contentType, type[0].length);
  if (parameters === null) return refuseForm("The content type of the request cannot be parsed.");
  const [found, ...others] = parameters.filter(({ name }) => name === "boundary");
  if (found === undefined || others.length > 0) {
    return refuseForm("The content type of the request must have one boundary.");
  }
  const [charset, ...rest] = parameters.filter((one) => one !== found);
  const isKnown = charset === undefined ||
    (charset.name === "charset" && CHARSETS.includes(charset.value.toLowerCase()));
  if (!isKnown || rest.length > 0) {
    return refuseForm("The content type may have a boundary and the charset UTF-8, nothing else.");
  }
  const boundary = found.value;
  return BOUNDARY.test(boundary) && !found.written.includes("\\")
    ? success(boundary)
    : refuseForm("The boundary must have 1 to 70 of the characters that RFC 2046 permits.");
}

/**
 * Returns the content type that a provider receives, of which every parser takes the same boundary.
 */
function contentTypeOf(boundary: string): string {
  const isToken = /^[0-9A-Za-z'+_.-]+$/.test(boundary);
  return `multipart/form-data; boundary=${isToken ? boundary : `"${boundary}"`}`;
}

/**
 * Returns the refusal of a form of which another parser could read another model: it has two, one
 * that is a file or no short text, or one in another charset. Null for any other form.
 */
function modelProblem(form: MultipartBody): Failed<Refusal> | null {
  const [model, ...others] = form.parts.filter(({ name }) => name === "model");
  if (model === undefined) return null;
  if (others.length > 0) {
    return refuseForm("The request has more than one part 'model'; send one.", "model");
  }
  const text = formText(form, "model");
  const isPlain = text !== null && !/[\p{Cc}\ufeff]/u.test(text) &&
    /^(?:text\/plain[ \t]*(?:;|$)|$)/.test(model.type) && isUnambiguous(model, utf8Bytes(text));
  return isPlain
    ? null
    : refuseForm("The part 'model' must be one short line in UTF-8, without a file name.", "model");
}

/**
 * Returns the refusal of a form with a long text, or one that is not in UTF-8; null for any other
 * form.
 */
function textProblem({ pieces, parts }: MultipartBody): Failed<Refusal> | null {
  const isWrong = (part: FormPart) =>
    !part.isFile && (part.end - part.start > MAX_TEXT_BYTES ||
      !isUnambiguous(part, concatBytes(sliced(pieces, part.start, part.end))));
  return parts.some(isWrong)
    ? refuseForm(`A part without a file name must be a text in UTF-8 of at most 1 MB.`)
    : null;
}

/**
 * True if the bytes of a part are a text that is the same as UTF-8 and in the charset of the part.
 */
function isUnambiguous({ type }: FormPart, bytes: Uint8Array): boolean {
  const times = type.split("charset").length - 1;
  if (times === 0) return isUtf8(bytes);
  const charset = CHARSET.exec(type)?.[2] ?? "";
  if (times > 1) return false;
  return /^utf-?8$/.test(charset) ? isUtf8(bytes) : OF_ASCII.test(charset) && isAscii(bytes);
}

const CHARSET = /;[ \t]*charset=("?)([a-z0-9._-]+)\1[ \t]*(?:;|$)/;

/**
 * Charsets that have the characters of ASCII in the same places; some clients write one of them by
 * default.
 */
const OF_ASCII = /^(?:us-)?ascii$|^iso-8859-(?:\d|1[01345])$|^latin-?1$|^windows-125[0-8]$/;

const WRONG_LENGTH = "The Content-Length of a part is not its length.";
const TWO_CASES = "The names of two parts differ only by case.";

/** Returns the text of the first part with a name that is not a file; null for a long one too. */
export function formText({ pieces, parts }: MultipartBody, name: string): string | null {
  const part = parts.find((one) => one.name === name && !one.isFile);
  if (part === undefined || part.end - part.start > MAX_READ_BYTES) return null;
  return utf8Text(concatBytes(sliced(pieces, part.start, part.end)));
}

/**
 * Returns the body with another text in the part `model`, in pieces that share the memory of the
 * body. Without such a part one is put first.
 */
export function withModel(
  { boundary, pieces, parts }: MultipartBody,
  model: string,
): readonly Bytes[] {
  const part = parts.find(({ name }) => name === "model");
  if (part === undefined) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n`;
    // A line end before the first boundary would end the model.
    const start = pieces.find(({ length }) => length > 0)?.[0] === CR ? 2 : 0;
    return [utf8Bytes(`${head}${model}\r\n`), ...sliced(pieces, start, Infinity)];
  }
  return [
    ...sliced(pieces, 0, part.start),
    utf8Bytes(model),
    ...sliced(pieces, part.end, Infinity),
  ];
}

/** Returns what is around the parts of a body, one after the other: their heads, as text. */
export function formHeads({ pieces, parts }: MultipartBody): string[] {
  let before = 0;
  return parts.map(({ start, end }) => {
    const head = utf8Text(concatBytes(sliced(pieces, before, start))) ?? "";
    before = end;
    return head;
  });
}

/** Returns the text of a part; null for a file. */
export function partText(
  { pieces }: MultipartBody,
  { isFile, start, end }: FormPart,
): string | null {
  return isFile ? null : utf8Text(concatBytes(sliced(pieces, start, end)));
}

/** Returns the body with other contents of its parts; null keeps what a part has. */
export function withContents(
  form: MultipartBody,
  contents: readonly (Bytes | null)[],
): MultipartBody {
  const pieces: Bytes[] = [];
  const parts: FormPart[] = [];
  let at = 0, before = 0;
  form.parts.forEach((part, index) => {
    const other = contents[index] ?? null;
    const content = other === null ? sliced(form.pieces, part.start, part.end) : [other];
    pieces.push(...sliced(form.pieces, before, part.start), ...content);
    const start = at + part.start - before;
    at = start + content.reduce((sum, { length }) => sum + length, 0);
    before = part.end;
    parts.push({ ...part, start, end: at });
  });
  return { ...form, pieces: [...pieces, ...sliced(form.pieces, before, Infinity)], parts };
}

/** Returns the part of the body between two places, in pieces that share its memory. */
function sliced(pieces: readonly Bytes[], start: number, end: number): readonly Bytes[] {
  const slices: Bytes[] = [];
  let at = 0;
  for (const piece of pieces) {
    const from = Math.max(start - at, 0);
    const to = Math.min(end - at, piece.length);
    if (from < to) slices.push(piece.subarray(from, to));
    at += piece.length;
  }
  return slices;
}
