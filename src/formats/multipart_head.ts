import type { Refusal } from "../core/failure.ts";
import { type Failed, refuse, type Result, success } from "../core/result.ts";
import { parseFormParameters } from "./form_parameters.ts";
import { utf8Text } from "./utf8.ts";

/** What the headers of a part say about it. */
export interface PartHead {
  readonly name: string;
  readonly isFile: boolean;
  /** Charset of a text in lower case; empty without one, and null if it is written in another way. */
  readonly charset: string | null;
}

/** Encodings of a part that leave its bytes as they are. */
const PLAIN_ENCODINGS: readonly string[] = ["7bit", "8bit", "binary"];

const latin1 = new TextDecoder("latin1");

/** Parses the header lines of a part (RFC 7578, section 4). Refused as `invalid_multipart`. */
export function parsePartHead(head: Uint8Array): Result<PartHead> {
  // File names may have any charset of which the delimiters are ASCII.
  const text = utf8Text(head) ?? latin1.decode(head);
  const fields = new Map<string, string>();
  for (const line of text.split("\r\n").slice(0, -1)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    // A line that begins with white space would continue the one before it (RFC 5322, 2.2.3).
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || /[\r\n\0]/.test(line) || fields.has(name)) {
      return refusal("A header of a part is malformed or repeated.");
    }
    fields.set(name, line.slice(colon + 1).trim());
  }
  if (/^multipart\//i.test(fields.get("content-type") ?? "")) {
    return refusal("A part is a multipart body itself; send its parts as parts of the request.");
  }
  const encoding = fields.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (!PLAIN_ENCODINGS.includes(encoding)) {
    return refusal("A part has a content transfer encoding; send its bytes as they are.");
  }
  const disposition = parseDisposition(fields.get("content-disposition") ?? "");
  if (!disposition.ok) return disposition;
  return success({ ...disposition.value, charset: charsetOf(fields.get("content-type") ?? "") });
}

const CHARSET = /;[ \t]*charset=("?)([a-z0-9._-]+)\1[ \t]*(?:;|$)/i;

/** Returns the charset of a content type; empty without one, and null if it is written in another way. */
function charsetOf(contentType: string): string | null {
  const times = contentType.match(/charset/gi)?.length ?? 0;
  if (times === 0) return "";
  return times > 1 ? null : CHARSET.exec(contentType)?.[2]?.toLowerCase() ?? null;
}

function parseDisposition(disposition: string): Result<Omit<PartHead, "charset">> {
  const type = /^form-data(?=[ \t]*(?:;|$))/i.exec(disposition);
  const parameters = type === null ? null : parseFormParameters(disposition, type[0].length);
  if (parameters === null) return noName();
  const values = new Map<string, string>();
  for (const { name, written, value } of parameters) {
    // With `name*` or `name*0` (RFC 2231), or with a name twice, another parser could take another name.
    if (values.has(name) || name.startsWith("name*")) return noName();
    // To a parser without escapes the value ends here, and it could take the rest for parameters.
    if (written.includes('\\"') && /[;=]/.test(written)) return noName();
    values.set(name, value);
  }
  const name = values.get("name");
  if (name === undefined) return noName();
  const isFile = [...values.keys()].some((key) =>
    key === "filename" || key.startsWith("filename*")
  );
  return success({ name, isFile });
}

function noName(): Failed<Refusal> {
  return refusal("Each part needs one header Content-Disposition: form-data with one name.");
}

function refusal(message: string): Failed<Refusal> {
  return refuse("invalid_multipart", message);
}
