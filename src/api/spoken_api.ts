import { type EndpointFacts, UNKNOWN_ENDPOINT } from "../core/endpoint.ts";
import { messagesErrors } from "./messages/errors.ts";
import type { RequestHeaders } from "../core/header_fields.ts";

/** Every path at or below this one is of the Messages API. */
const MESSAGES = "/v1/messages";

/** The paths that the Messages API shares with another API. */
const MODELS = "/v1/models";

/** The path of files in both APIs, which only one of them is served at. */
const FILES = "/v1/files";

/** Clients of the Messages API send their protocol version with every request. */
const VERSION = "anthropic-version";

/** True if a request for models is one of the Messages API. */
export function wantsMessagesShape(headers: RequestHeaders): boolean {
  return headers.has(VERSION);
}

/**
 * True for a request of the Messages API for its files, which are not offered: they are none of the files
 * that providers of type compat store.
 */
export function isForeignFile(path: string, headers: RequestHeaders): boolean {
  return isAtOrBelow(path, FILES) && wantsMessagesShape(headers);
}

/**
 * Returns the facts of an endpoint for one request: the error format follows the API that the client
 * speaks. That is the Messages API at and below its path, and, if the request has
 * `anthropic-version`, for models and on paths that no API has.
 */
export function factsFor(
  known: EndpointFacts,
  { path, headers }: { readonly path: string; readonly headers: RequestHeaders },
): EndpointFacts {
  const isMeant = isAtOrBelow(path, MESSAGES) || isForeignFile(path, headers) ||
    ((known === UNKNOWN_ENDPOINT || isAtOrBelow(path, MODELS)) && wantsMessagesShape(headers));
  return isMeant && known.errors !== messagesErrors ? { ...known, errors: messagesErrors } : known;
}

function isAtOrBelow(path: string, top: string): boolean {
  return path.startsWith(top) && (path.length === top.length || path[top.length] === "/");
}
