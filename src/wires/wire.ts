import type { ProviderConfig } from "../config/schema.ts";
import type { ChatRequest } from "./chat_request/chat_request.ts";
import type { Decoder } from "../core/codec.ts";
import type { StreamEvent } from "../core/events.ts";
import type { JsonDocument, JsonObject } from "../core/json/json.ts";
import type { ErrorFields } from "../core/openai_error.ts";
import type { HeaderFields } from "../core/reply.ts";
import type { Result } from "../core/result.ts";
import type { Transport } from "../core/transport.ts";
import type { World } from "../core/world.ts";
import type { Payload } from "./payload.ts";

/** The protocols that upstreams speak: that of each provider type, and Responses at type compat. */
export type WireName = "compat" | "responses" | "messages" | "local";

/** A configured upstream account. */
export interface Provider {
  readonly id: string;
  /** The protocol of its type. */
  readonly wire: Wire;
  readonly settings: ProviderConfig;
  /** Where the wire's paths begin; no slash at its end. */
  readonly base: string;
  /** The query of the base URL, which every call carries; empty when it has none. No question mark. */
  readonly query: string;
  /** Digest of type, base URL, organization and key: what bindings and breakers compare. */
  readonly account: string;
  /** Its id and the generation that last changed its definition: a cached answer is good for this one. */
  readonly namespace: string;
  /** Texts that must not reach a client: the key, and whatever else authenticates. */
  readonly secrets: readonly string[];
  /** Policy of the connections to it. */
  readonly transport: Transport;
}

/** A provider, the bare model it is asked for, and the protocol in which. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
  /** That of the provider's type, or Responses. */
  readonly wire: Wire;
}

/** One call as it goes out. */
export interface UpstreamRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Below the provider's base, with its leading slash; a query may follow. */
  readonly path: string;
  /** The body; null if the request has none. */
  readonly payload: Payload | null;
  /** Headers beside those of the wire, which win. */
  readonly headers?: HeaderFields;
}

/** What decoding may ask of the outside: fresh ids and the time in seconds. */
export type IdSource = Pick<World, "uuid" | "unix">;

/** A protocol that an upstream speaks. Encoding is also the check: a Refusal names the field that cannot be kept. */
export interface Wire {
  readonly name: WireName;
  readonly framing: "sse" | "ndjson";
  /** The address below which the wire's paths are, from the configured one without its query. */
  base(url: string): string;
  encode(chat: ChatRequest, target: Target): Result<UpstreamRequest>;
  /** A whole answer as the events of a stream; a failure when it is none that can be understood. */
  decode(body: JsonDocument, mint: IdSource): Result<readonly StreamEvent[]>;
  decoder(mint: IdSource): Decoder;
  /** Credentials, version and the client's headers that may pass. */
  headers(provider: Provider, client: Headers): Record<string, string>;
  /** Message, type, param and code of this protocol's error body; null when it is none. */
  error(body: JsonObject): Partial<ErrorFields> | null;
  /** Null: the protocol has no embeddings. */
  readonly embeddings: EmbeddingsWire | null;
  readonly catalog: CatalogWire;
}

/** How a protocol makes vectors of texts. */
export interface EmbeddingsWire {
  encode(document: JsonDocument, target: Target): Result<UpstreamRequest>;
  /** The client's JSON text out of the upstream's, which must fit the number of inputs. */
  decode(text: string, model: string, inputs: number): Result<string>;
}

/** How a protocol lists its models. */
export interface CatalogWire {
  /** Where the list is, below the base. */
  readonly path: string;
  decode(text: string): Result<readonly string[]>;
  /** The models that are known without asking, at this address. */
  known(provider: Pick<Provider, "base">): readonly string[];
}
