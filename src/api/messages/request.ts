import type { JsonDocument } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { wrongType } from "./refusals.ts";

/** Parsed request to create a message. What the fields mean is for each target to judge. */
export interface MessagesRequest {
  readonly document: JsonDocument;
  /** Requested model name; empty if the route decides. */
  readonly model: string;
  readonly stream: boolean;
  /** True if the query has `beta=true`, which the Messages API still reads. */
  readonly isBeta: boolean;
}

/**
 * Parses a Messages request. Checks only what every target needs: fields that the gateway does not
 * know must reach a target that passes them on.
 */
export function parseMessagesRequest(
  document: JsonDocument,
  query: URLSearchParams,
): Result<MessagesRequest> {
  const { model = null, messages, stream = null } = document.value;
  if (model !== null && typeof model !== "string") {
    return wrongType(model, "model", "a valid string");
  }
  if (!Array.isArray(messages)) return wrongType(messages, "messages", "a valid list");
  if (stream !== null && typeof stream !== "boolean") {
    return wrongType(stream, "stream", "a valid boolean");
  }
  return success({
    document,
    model: model ?? "",
    stream: stream === true,
    isBeta: query.get("beta") === "true",
  });
}
