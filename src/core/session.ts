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

/**
 * Source of a session: the gateway's own header, the header of an agent, a member of the body, or
 * the gateway for a WebSocket whose handshake names none.
 */
export type SessionSource =
  | (typeof SESSION_HEADERS)[number][1]
  | "prompt_cache_key"
  | "user_id"
  | "conversation"
  | "previous_response_id"
  | "connection";

/** The conversation that a call belongs to, as far as its client says. */
export interface Session {
  /** Name within its client key, of 1 to 256 characters. */
  readonly name: string;
  readonly from: SessionSource;
}
