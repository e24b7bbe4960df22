import { type EventEncoder, translateStream } from "../core/stream.ts";
import type { StreamEvent, Usage } from "../core/events.ts";
import type { JsonObject } from "../core/json/json.ts";
import { extractFromEvents, newExtractingDecoder } from "../core/reasoning_tags.ts";
import { type Result, success } from "../core/result.ts";
import { utf8Bytes } from "../formats/utf8.ts";
import type { ResponseHandler } from "../call/inference.ts";
import type { IdSource, Target } from "../wires/wire.ts";
import { parseResponseDocument } from "./response_document.ts";

/** A whole response in the protocol of the client. */
export interface EncodedResponse {
  readonly body: JsonObject;
  /** The resource that the client API stores; null if it stores none. */
  readonly resource: JsonObject | null;
  readonly usage: Usage | null;
}

/** Encoding of model responses for a client API. */
export interface ResponseEncoding {
  /** Prefix of the IDs of tool calls to which the upstream gave none; `call_` if absent. */
  readonly callIdPrefix?: string;
  /** Returns an encoder of a stream of events as records. */
  newEncoder(): EventEncoder;
  /** Encodes the events of a whole response. */
  encodeWhole(events: readonly StreamEvent[]): Result<EncodedResponse>;
}

/**
 * Returns the handler of a response in another protocol: decodes it into events, moves `<think>` regions
 * if the provider is configured so, and encodes the events for the client.
 */
export function newTranslatedHandler(
  { wire, provider }: Target,
  world: IdSource,
  isStream: boolean,
  { newEncoder, encodeWhole, callIdPrefix }: ResponseEncoding,
): ResponseHandler {
  const mint: IdSource = callIdPrefix === undefined
    ? world
    : { uuid: () => world.uuid(), unix: () => world.unix(), callIdPrefix };
  const extracts = provider.settings.extract_reasoning_tags;
  if (isStream) {
    const decoder = wire.newDecoder(mint);
    return {
      kind: "stream",
      translation: translateStream(
        extracts ? newExtractingDecoder(decoder) : decoder,
        newEncoder(),
      ),
    };
  }
  return {
    kind: "whole",
    read(answer) {
      const document = parseResponseDocument(answer);
      if (!document.ok) return document;
      const events = wire.decode(document.value, mint);
      if (!events.ok) return events;
      const encoded = encodeWhole(extracts ? extractFromEvents(events.value) : events.value);
      if (!encoded.ok) return encoded;
      const { body, resource, usage } = encoded.value;
      const headers = { "content-type": "application/json" };
      return success({
        response: { status: 200, headers, body: utf8Bytes(JSON.stringify(body)) },
        outcome: { resource, usage },
      });
    },
  };
}
