import { isObject, parseJson } from "../../../core/json/json.ts";
import type { HttpResponse, UpstreamResponse } from "../../../core/stream/reply.ts";
import { invalidResponse, type Result, success } from "../../../core/failure/result.ts";
import type { Outcome } from "../../../core/stream/stream.ts";
import { jsonHeaders } from "../../stored/response_document.ts";
import { findValue, replaceValue, splice } from "../../../formats/edit.ts";
import { utf8Bytes, utf8Text } from "../../../formats/utf8.ts";
import { reportedFault } from "../../../wires/messages/errors.ts";
import { parseUsage } from "../../../wires/messages/response.ts";

/**
 * Relays a whole message with its own bytes and headers, and with another model if the client of a
 * named model sees one. An error under status 200 is the fault of
 * the status that belongs to it; any other body that is no message is a fault too. Token counts
 * that cannot be read are not counted.
 */
export function relayWhole(
  answer: UpstreamResponse,
  shownModel: string | null = null,
): Result<{ readonly response: HttpResponse; readonly outcome: Outcome }> {
  const text = utf8Text(answer.body);
  const value = text === null ? undefined : parseJson(text);
  if (text === null || !isObject(value)) {
    return invalidResponse("The provider's response is not a JSON object.");
  }
  if (value.type === "error") return reportedFault(value);
  if (value.type !== "message") {
    return isObject(value.error)
      ? reportedFault(value)
      : invalidResponse("The provider's response is no message.");
  }
  const usage = parseUsage(value.usage);
  const span = shownModel === null ? null : findValue(text, ["model"]);
  const body = span === null
    ? answer.body
    : utf8Bytes(splice(text, [replaceValue(span, JSON.stringify(shownModel))]));
  const { stop_reason, content } = value;
  const isFiltered = stop_reason === "refusal" && Array.isArray(content) && content.length === 0;
  return success({
    response: { status: 200, headers: jsonHeaders(answer), body },
    outcome: {
      resource: null,
      usage: usage.ok ? usage.value : null,
      ...isFiltered && { isFiltered },
    },
  });
}
