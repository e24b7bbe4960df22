import type { Outcome } from "../../../core/stream/stream.ts";
import { isExactId } from "../../../core/ids.ts";
import { isObject, parseExact } from "../../../core/json/json.ts";
import { skipBlanks } from "../../../core/json/scan.ts";
import type { HttpResponse, UpstreamResponse } from "../../../core/stream/reply.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import { hasKeyTwice } from "../../../formats/document.ts";
import { splice } from "../../../formats/edit.ts";
import { utf8Bytes } from "../../../formats/utf8.ts";
import { malformed, providerError } from "../../../wires/openai/errors.ts";
import { parseResponseUsage } from "../../../wires/openai/responses_usage.ts";
import { parseResponseDocument } from "../../stored/response_document.ts";
import { memberEdits, type OwnMembers, ownMembers } from "./own_members.ts";
import type { NativeOptions } from "./relay.ts";

/**
 * Returns a provider's unstreamed Response object with its outcome. The bytes change only to set
 * the gateway's own members. Fails if the body is not the requested Response object.
 */
export function parseNativeResponse(
  answer: UpstreamResponse,
  { expected, ...own }: OwnMembers & Pick<NativeOptions, "expected">,
): Result<{ readonly response: HttpResponse; readonly outcome: Outcome }> {
  const document = parseResponseDocument(answer);
  if (!document.ok) return document;
  const { text, value, members } = document.value;
  // The ID is stored with an owner, so no parser may read a different ID from the same bytes.
  if (hasKeyTwice(members, value)) return malformed("a response in which a key comes twice");
  if (value.object !== "response") {
    return (value.error ?? null) === null
      ? malformed("a response that is no Response object")
      : providerError(value);
  }
  if (!isExactId(value.id)) return malformed("a response without an exact id");
  if (expected !== null && value.id !== expected) {
    return malformed("a response with a different ID than the requested one");
  }
  const entries = ownMembers(value, own);
  const sent = entries.length === 0
    ? text
    : splice(text, memberEdits(text, skipBlanks(text, 0), entries));
  const exact = parseExact(sent, entries.length === 0 ? value : undefined);
  const resource = isObject(exact) ? exact : value;
  const usage = parseResponseUsage(resource);
  if (!usage.ok) return usage;
  const { incomplete_details: details, output } = value;
  const isFiltered = isObject(details) && details.reason === "content_filter" &&
    Array.isArray(output) && output.length === 0;
  return success({
    response: {
      status: answer.status,
      headers: { ...answer.headers(), "content-type": "application/json" },
      body: entries.length === 0 ? answer.body : utf8Bytes(sent),
    },
    outcome: {
      resource,
      usage: usage.value,
      ...isFiltered && { isFiltered },
      ...value.status === "failed" && { isFailed: true },
    },
  });
}
