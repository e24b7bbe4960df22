import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import type { Call } from "../../call/call.ts";
import { decodeHeaderText } from "../../core/header_fields.ts";

/** Maximum length of a user ID that is parsed as JSON; the vendor's own limit is 256 characters. */
const MAX_PARSED_CHARS = 4_096;

/**
 * Records the session of a call for the logs if the client names none with `X-Gateway-SessionID`:
 * the session of Claude Code, else the one in `metadata.user_id`, else that ID itself.
 */
export function recordSession({ headers, report }: Call, { metadata }: JsonObject): void {
  if (report.session !== null) return;
  const named = headers.get("x-claude-code-session-id");
  if (named !== null && named !== "") {
    report.session = decodeHeaderText(named);
    return;
  }
  const user = isObject(metadata) ? metadata.user_id : null;
  if (typeof user === "string" && user !== "") report.session = sessionIn(user);
}

/** Returns the session in a user ID, which is a JSON text in newer clients. */
function sessionIn(user: string): string {
  const parsed = user.startsWith("{") && user.length <= MAX_PARSED_CHARS ? parseJson(user) : null;
  return isObject(parsed) && typeof parsed.session_id === "string" ? parsed.session_id : user;
}
