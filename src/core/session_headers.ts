/** The header that names a session of any client, which is also sent upstream from WebSockets. */
export const SESSION_HEADER = "x-gateway-sessionid";

/** Request headers that name a session, and who sends each; the first one of a request counts. */
export const SESSION_HEADERS = [
  [SESSION_HEADER, "header"],
  ["x-claude-code-session-id", "claude-code"],
  ["session-id", "codex"],
  ["session_id", "pi"],
  ["x-session-id", "opencode"],
  ["x-session-affinity", "opencode"],
] as const;
