/** Header fields with lower-case names. A plain object: a `Headers` costs ten times as much to copy. */
export type HeaderFields = Readonly<Record<string, string>>;

/** A whole HTTP answer. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A whole HTTP answer of an upstream. */
export interface UpstreamResponse {
  readonly status: number;
  /** Those that may go to the client. Copied when asked for: most answers do not hand them on. */
  headers(): HeaderFields;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** One whole unit of a stream: an SSE event, an NDJSON line, a WebSocket message. */
export interface StreamRecord {
  /** Name of an SSE event; null when the record has none. */
  readonly event: string | null;
  readonly data: string;
  /** The text as received, separators included, when the record passes untouched. */
  readonly raw: string | null;
}

/** What a call gives back: a whole answer, or records in groups that arrived together. */
export type Reply = WholeReply | StreamReply;

/** A whole answer. */
export interface WholeReply {
  readonly kind: "whole";
  readonly answer: HttpResponse;
}

/** Records in groups that arrived together. */
export interface StreamReply {
  readonly kind: "stream";
  /** What the upstream's own headers have for the client. */
  readonly headers: HeaderFields;
  readonly records: AsyncIterable<readonly StreamRecord[]>;
}
