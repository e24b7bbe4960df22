import type { JsonObject } from "../json/json.ts";
import type { HeaderFields } from "../header_fields.ts";
import type { Failure } from "../failure/failure.ts";
import { ownText } from "../text_beginning.ts";
import type { Result } from "../failure/result.ts";

/** A whole HTTP answer. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Members of a large JSON object that are read without parsing it. */
export interface JsonOutline {
  /** The needed members up to 64 KiB. An array has only its last element. */
  readonly value: JsonObject;
  /** Number of elements of each needed array. */
  readonly lengths: ReadonlyMap<string, number>;
}

/** A whole HTTP response of an upstream. */
export interface UpstreamResponse {
  readonly status: number;
  /**
   * Returns the header fields that may be sent to the client. They are copied on each call, because
   * most responses do not need them.
   */
  headers(): HeaderFields;
  readonly body: Uint8Array<ArrayBuffer>;
  /**
   * Outline of a body that is too large to be parsed for its few needed members; absent for any
   * other one.
   */
  readonly outline?: JsonOutline;
}

/** One whole record of a stream: an SSE event, an NDJSON line, a WebSocket message. */
export interface StreamRecord {
  /** Name of an SSE event; null when the record has none. */
  readonly event: string | null;
  readonly data: string;
  /** The received text with its separators, if the record can be sent unchanged. */
  readonly raw: string | null;
  /**
   * Outline of data that is too large to be parsed for its few needed members; absent for any other
   * one.
   */
  readonly outline?: JsonOutline;
}

/**
 * Returns a record that keeps a silent stream alive, which must be written before any later record
 * of the stream; null if none may be written now.
 */
export type KeepAlive = () => StreamRecord | null;

/**
 * Response of a call: a whole HTTP response, an object that the gateway stores, a stream of
 * records, or bytes as they arrive.
 */
export type Reply = WholeReply | StoredReply | StreamReply | BytesReply;

/** A whole answer. */
export interface WholeReply {
  readonly kind: "whole";
  readonly response: HttpResponse;
  /**
   * False if it is for this request alone: the next request of the client needs state that is
   * stored for this client, or it answers another request than was planned. Absent otherwise.
   */
  readonly isCacheable?: false;
}

/**
 * An object or a list that the gateway stores, with status 200. Its JSON is written element by
 * element, and a read of it is refused while responses fill their memory: nothing is lost, as it
 * stays stored.
 */
export interface StoredReply {
  readonly kind: "stored";
  readonly value: JsonObject;
}

/** Records in groups that arrived together. */
export interface StreamReply {
  readonly kind: "stream";
  /** Status of the response; 200 if absent. */
  readonly status?: number;
  /** Headers of the upstream's response to send to the client. */
  readonly headers: HeaderFields;
  /** Sent whenever nothing was written for `server.ping_interval`; absent for none. */
  readonly keepAlive?: KeepAlive;
  /** Returns the terminal records with which the gateway ends the stream; absent without them. */
  fail?(failure: Failure): readonly StreamRecord[];
  readonly records: AsyncIterable<readonly StreamRecord[]>;
}

/** A response body whose bytes are sent as they arrive, such as audio or the content of a file. */
export interface BytesReply {
  readonly kind: "bytes";
  readonly status: number;
  /** Headers of the upstream's response to send to the client, with its content type. */
  readonly headers: HeaderFields;
  /** The pieces of the body in order. A failure is the last one: the response has broken off. */
  readonly pieces: AsyncIterable<Result<Uint8Array<ArrayBuffer>>>;
}

/**
 * Returns a record that waits for others: its texts are no longer parts of all that has arrived
 * with it.
 */
export function keptRecord(record: StreamRecord): StreamRecord {
  const { data, raw } = record;
  return { ...record, data: ownText(data), raw: raw === null ? null : ownText(raw) };
}

/** Returns the characters of records. */
export function charsOf(records: readonly StreamRecord[]): number {
  return records.reduce((chars, { raw, data }) => chars + (raw ?? data).length, 0);
}
