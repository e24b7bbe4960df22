import { Buffer, isUtf8 } from "node:buffer";
import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type { Given } from "../../prompt/prompt.ts";
import { standardBase64 } from "../standard_base64.ts";

/** Image types of the Messages API. The first is often written `image/jpg`. */
const IMAGE_TYPES: readonly string[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

interface DataUrl {
  /** Media type in lower case, without parameters. */
  readonly mime: string;
  readonly charset: string | null;
  /** Standard base64 with padding. */
  readonly data: string;
}

/** Returns the source of an image: its data, or a URL that the upstream fetches. */
export function imageSource(given: Given<string>, carrier: Carrier): Result<JsonObject> {
  const { value: url, at } = given;
  if (/^https?:\/\//i.test(url)) return success({ type: "url", url });
  const read = parseDataUrl(given, carrier);
  if (!read.ok) return read;
  const mime = read.value.mime === "image/jpg" ? "image/jpeg" : read.value.mime;
  if (!IMAGE_TYPES.includes(mime)) {
    return carrier.refuse(at, "Send a JPEG, PNG, GIF or WebP image.");
  }
  return success({ type: "base64", media_type: mime, data: read.value.data });
}

/** Returns the source of a document: a PDF unchanged, plain text decoded. */
export function documentSource(given: Given<string>, carrier: Carrier): Result<JsonObject> {
  const { at } = given;
  const read = parseDataUrl(given, carrier);
  if (!read.ok) return read;
  const { mime, charset, data } = read.value;
  if (mime === "application/pdf") return success({ type: "base64", media_type: mime, data });
  if (mime !== "text/plain" || !["utf-8", "us-ascii", null].includes(charset)) {
    return carrier.refuse(at, "Send a PDF or a plain text in UTF-8.");
  }
  const bytes = Buffer.from(data, "base64");
  if (!isUtf8(bytes)) return carrier.refuseValue(at.path, "must be a text in UTF-8");
  return success({ type: "text", media_type: mime, data: bytes.toString("utf8") });
}

/** Longest header of a `data:` URL, with all parameters. */
const MAX_HEADER_CHARS = 1_024;

/** Parses a base64 `data:` URL; its header is `mime[;param=value]*;base64` (RFC 2397). */
function parseDataUrl({ value: url, at }: Given<string>, carrier: Carrier): Result<DataUrl> {
  const comma = url.indexOf(",");
  const isHeader = comma > 0 && comma <= MAX_HEADER_CHARS;
  const header = isHeader ? url.slice(0, comma).toLowerCase() : "";
  const [mime = "", ...parameters] = header.replace(/^data:/, "").split(";");
  if (!header.startsWith("data:") || parameters.at(-1)?.trim() !== "base64") {
    return carrier.refuse(at, "Send an http address or a data: URL in base64.");
  }
  const data = standardBase64(url.slice(comma + 1));
  if (data === null) return carrier.refuseValue(at.path, "must be a data: URL with valid base64");
  const charset = parameters.find((parameter) => parameter.trim().startsWith("charset="));
  return success({ mime: mime.trim(), charset: charset?.split("=")[1]?.trim() ?? null, data });
}
