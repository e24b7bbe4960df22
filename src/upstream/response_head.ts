import type { ResponseHandler } from "../call/inference.ts";
import type { HeaderFields } from "../core/header_fields.ts";
import type { Incoming } from "../core/world.ts";
import { codingOf } from "./content_encoding.ts";

/** True for a status that the handler reads; any other is an error of the provider. */
export function isSuccess(status: number, handler: ResponseHandler): boolean {
  if (handler.kind === "by_type") return hasBody(status);
  if (handler.kind === "bytes") {
    return hasBody(status) || (status === 206 && handler.isRange === true);
  }
  const takesAny = handler.kind === "whole" && handler.takesAnySuccess === true;
  return status === 200 || (takesAny && status > 200 && status < 300);
}

/** True for a status of success with a body that is complete in itself (RFC 9110, section 15.3). */
export function hasBody(status: number): boolean {
  return status >= 200 && status <= 203;
}

/** Returns the content type of a response in lower case, without parameters, or an empty text. */
export function contentType({ headers }: Incoming): string {
  const [type = ""] = (headers.get("content-type") ?? "").split(";", 1);
  return type.trim().toLowerCase();
}

/** True if the body of a response has a length or a last chunk (RFC 9112, section 6.3). */
export function isDelimited({ headers }: Incoming): boolean {
  return headers.get("content-length") !== null || headers.get("transfer-encoding") !== null;
}

/**
 * Returns the header of a coding that the gateway has not undone: without it, bytes look
 * uncompressed.
 */
export function unknownCoding({ headers }: Incoming): HeaderFields {
  const coding = headers.get("content-encoding") ?? null;
  return coding === null || codingOf(coding) !== "unknown" ? {} : { "content-encoding": coding };
}

/** Returns the length of a body that is sent as it came: neither in chunks nor decompressed. */
export function unchangedLength({ headers }: Incoming): HeaderFields {
  const length = headers.get("content-length") ?? "";
  const isChunked = (headers.get("transfer-encoding") ?? null) !== null;
  const isUnpacked = codingOf(headers.get("content-encoding")) === "known";
  return isChunked || isUnpacked || !/^\d{1,15}$/.test(length) ? {} : { "content-length": length };
}
