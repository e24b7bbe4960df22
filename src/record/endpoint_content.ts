/** Content in the records of the calls of an endpoint. */
export interface EndpointContent {
  readonly request: boolean;
  readonly response: boolean;
}

const BOTH = { request: true, response: true }, REQUEST = { request: true, response: false };
const NOTHING: EndpointContent = { request: false, response: false };

/**
 * Endpoints whose calls have content in a record. Vectors, pictures and sounds are no text, so
 * their endpoints have the request alone; every other endpoint has the head alone.
 */
const CONTENT: ReadonlyMap<string, EndpointContent> = new Map([
  ["/v1/chat/completions", BOTH],
  ["/v1/responses", BOTH],
  ["/v1/responses/input_tokens", BOTH],
  ["/v1/responses/compact", BOTH],
  ["/v1/messages", BOTH],
  ["/v1/messages/count_tokens", BOTH],
  ["/v1/completions", BOTH],
  ["/v1/moderations", BOTH],
  ["/v1/rerank", BOTH],
  ["/v2/rerank", BOTH],
  ["/rerank", BOTH],
  ["/v1/embeddings", REQUEST],
  ["/v1/images/generations", REQUEST],
  ["/v1/audio/speech", REQUEST],
]);

/**
 * Returns what a record has of a call. Only a turn of a WebSocket has content with another method
 * than POST; `GET` of the same path lists stored objects.
 */
export function endpointContent(method: string, path: string): EndpointContent {
  if (method !== "POST" && path !== "/v1/responses") return NOTHING;
  return CONTENT.get(path) ?? NOTHING;
}
