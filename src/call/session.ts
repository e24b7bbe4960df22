import { createHash } from "node:crypto";
import type { EndpointName } from "../core/endpoint.ts";
import { decodeHeaderText } from "../core/header_fields.ts";
import { type Session, SESSION_HEADERS, type SessionSource } from "../core/session.ts";
import { isObject, type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import type { Call } from "./call.ts";

const [FIRST_HEADER] = SESSION_HEADERS;

/** Maximum length of a name; a longer one is replaced by its digest. */
const MAX_CHARS = 256;

/** Maximum length of a user ID that names anything; the vendor's own limit is 256 characters. */
const MAX_USER_CHARS = 4_096;

/** The beginning of the session in the user IDs of older versions of Claude Code. */
const SESSION_MARK = "_session_";

/** Sources of the session of a call besides its headers, as far as they are known. */
export interface SessionParts {
  /** Client API of the body. */
  readonly api?: EndpointName | null;
  readonly body?: JsonObject;
  /** ID of the first item of the dialogue that the request continues. */
  readonly root?: string | null;
}

/**
 * Returns the session of a call: of the first header that names one, else of the body, else of the
 * dialogue that it continues; null for none. With `routing.sessions: header` only the gateway's own
 * header counts.
 */
export function sessionOf(call: Named, parts: SessionParts = {}): Session | null {
  return namedByHeader(call) ?? namedByParts(call, parts);
}

/** The parts of a call that name its session, besides its body. */
type Named = Pick<Call, "headers" | "generation">;

function namedByHeader(call: Named): Session | null {
  for (const [header, from] of isHeaderOnly(call) ? [FIRST_HEADER] : SESSION_HEADERS) {
    const value = call.headers.get(header);
    const name = value === null ? null : nameIn(decodeHeaderText(value));
    if (name !== null) return { name, from };
  }
  return null;
}

function isHeaderOnly({ generation }: Named): boolean {
  return generation.config.routing.sessions === "header";
}

function namedByParts(call: Named, parts: SessionParts): Session | null {
  if (isHeaderOnly(call)) return null;
  return namedByBody(parts) ?? sessionFrom("previous_response_id", parts.root);
}

function namedByBody({ api, body }: SessionParts): Session | null {
  if (body === undefined) return null;
  const keyed = sessionFrom("prompt_cache_key", body.prompt_cache_key);
  if (keyed !== null) return keyed;
  switch (api) {
    case "messages":
      return sessionFrom("user_id", sessionIn(userId(body)));
    case "responses":
      return sessionFrom("conversation", conversationIn(body));
    default:
      return null;
  }
}

/** Returns the ID of the conversation that a request or a response names. */
export function conversationIn({ conversation }: JsonObject): string | undefined {
  const id = isObject(conversation) ? conversation.id : conversation;
  return typeof id === "string" ? id : undefined;
}

function sessionFrom(from: SessionSource, value: JsonValue | undefined): Session | null {
  const name = typeof value === "string" ? nameIn(value) : null;
  return name === null ? null : { name, from };
}

/** Returns the name of a session in a written value; null if it is blank. */
function nameIn(value: string): string | null {
  const name = value.trim();
  if (name.length <= MAX_CHARS) return name === "" ? null : name;
  return createHash("sha256").update(name).digest("hex");
}

/** Returns the user ID of a Messages request; null if it has none, or one that is too long. */
function userId({ metadata }: JsonObject): string | null {
  const user = isObject(metadata) ? metadata.user_id : null;
  return typeof user === "string" && user.length <= MAX_USER_CHARS ? user : null;
}

/** Returns the session in a user ID: a member of a JSON text, or the end of an older text. */
function sessionIn(user: string | null): JsonValue | undefined {
  if (user === null) return null;
  if (!user.startsWith("{")) {
    const at = user.lastIndexOf(SESSION_MARK);
    return at < 0 ? null : user.slice(at + SESSION_MARK.length);
  }
  const parsed = parseJson(user);
  return isObject(parsed) ? parsed.session_id : null;
}

/** Records the session that a header names, for routing and for the report. */
export function recordSession(call: Call): void {
  const named = namedByHeader(call);
  if (named !== null) setSession(call, named);
}

/**
 * Records the session that the rest of a request names, unless a header has: it replaces only the
 * name of a WebSocket. A Messages call without a session is logged with its user ID. The
 * conversation of a Responses request is recorded besides.
 */
export function recordBodySession(call: Call, parts: Omit<SessionParts, "api">): void {
  const { client, report } = call;
  if (report.endpoint.api === "responses" && parts.body !== undefined) {
    const id = conversationIn(parts.body);
    report.conversation = id === undefined ? null : nameIn(id);
  }
  if (client.session !== null && client.session.from !== "connection") return;
  const { api } = report.endpoint;
  const named = namedByParts(call, { ...parts, api });
  if (named !== null) setSession(call, named);
  else if (api === "messages" && parts.body !== undefined) {
    report.session ??= nameIn(userId(parts.body) ?? "");
  }
}

/** Sets the session of a call. */
export function setSession({ client, report }: Pick<Call, "client" | "report">, session: Session) {
  client.session = session;
  report.session = session.name;
  report.sessionFrom = session.from;
}

/**
 * Returns what identifies the session of a call among those of all clients: two client keys never
 * share one. Null without a session.
 */
export function sessionKey(caller: string | null, session: Session | null): string | null {
  return session === null ? null : `session ${JSON.stringify([caller, session.name])}`;
}
