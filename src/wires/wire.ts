import type { CredentialConfig, ProviderConfig } from "../config/schema.ts";
import type { CredentialHolder } from "../core/credential.ts";
import type { Carried, Carrier } from "../prompt/carry.ts";
import type { NamedTarget, Preset } from "../prompt/preset.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { StrictSchemas } from "./verified/strict_schemas.ts";
import type { ChatField } from "../prompt/chat_fields.ts";
import type { EmbeddingsField } from "./embeddings_fields.ts";
import type { FieldTable } from "../prompt/field_table.ts";
import type { ChatRequest } from "./chat_request.ts";
import type { Decoder } from "../core/stream/stream.ts";
import type { FallbackReason } from "../core/failure/failure.ts";
import type { StreamEvent } from "../core/stream/events.ts";
import type { JsonDocument, JsonObject, JsonText } from "../core/json/json.ts";
import type { ErrorFields } from "../core/failure/openai_error.ts";
import type { PromiseKind } from "../data/promise_kind.ts";
import type { HeaderFields, RequestHeaders } from "../core/header_fields.ts";
import type { Result } from "../core/failure/result.ts";
import type { Transport } from "../core/transport.ts";
import type { World } from "../core/world.ts";
import type { Payload } from "./payload.ts";
import type { NumberedFunctions } from "./compat/text_enums.ts";

/** Upstream protocols: one for each provider type, and Responses for type compat. */
export type WireName = "compat" | "responses" | "messages" | "local";

/** A credential of a provider: each key is one account at the upstream. */
export interface ProviderAccount {
  /** Name of the key in the configuration; `default` for a lone key or none. */
  readonly name: string;
  /** Digest of type, base URL, organization and key. Bindings and breakers compare it. */
  readonly digest: string;
  /** The key; null if headers or a client certificate are the credentials. */
  readonly key: string | null;
  /** The credential that is refreshed, which no header of the wire has; null for a key or none. */
  readonly credential: AccountCredential | null;
  /** Share of the requests among the keys of the provider; 0 only for objects of the account. */
  readonly weight: number;
  /** True if the key may be used for requests with this model. */
  serves(model: string): boolean;
}

/** A credential that is refreshed, and the settings by which it is sent. */
export interface AccountCredential {
  readonly holder: CredentialHolder;
  readonly settings: CredentialConfig;
}

/** A configured upstream with its accounts. */
export interface Provider {
  readonly id: string;
  /** Protocol of the provider's type. */
  readonly wire: Wire;
  readonly settings: ProviderConfig;
  /** Base URL of the wire's paths, without a trailing slash. */
  readonly base: string;
  /** Query of the base URL without question mark, sent with every request; empty if it has none. */
  readonly query: string;
  /** Accounts in the order of the file. A provider without a key has one as well. */
  readonly accounts: readonly [ProviderAccount, ...ProviderAccount[]];
  /**
   * Digest that identifies the upstream of the slots: of its account, or with several keys of its
   * address.
   */
  readonly upstream: string;
  /**
   * Prefix of keys of the cache in memory: provider ID and the generation that last changed its
   * settings, so that a definition that is changed and changed back begins empty.
   */
  readonly namespace: string;
  /**
   * Prefix of keys of a shared cache: keyed digest of the ID and all settings, equal in each
   * process with equal settings.
   */
  readonly sharedNamespace: string;
  /**
   * Credentials, such as the keys of all accounts, that must not reach a client; of a credential
   * that is refreshed, the current ones.
   */
  readonly secrets: readonly string[];
  /** Connection policy of the upstream. */
  readonly transport: Transport;
}

/** Settings of a route for the failures of one of its targets. */
export interface Failover {
  /** Time limit to the first content of a stream, in milliseconds; null for none. */
  readonly firstContentMs: number | null;
  /** Tokens that the model can hold; null if they are not known. */
  readonly contextSize: number | null;
  /** Failures after which another candidate is tried. */
  readonly fallbackOn: readonly FallbackReason[];
}

/** A provider with one of its accounts, the model name to send, and the protocol to use. */
export interface Target {
  readonly provider: Provider;
  /** Account whose credentials are sent. */
  readonly account: ProviderAccount;
  readonly model: string;
  /** Protocol of the provider's type, or Responses. */
  readonly wire: Wire;
  /** Types of hosted tools to leave out where they cannot be served; absent for none. */
  readonly omitTools?: readonly string[];
  /** Absent for a target that no route has. */
  readonly failover?: Failover;
  /** How the route of the target delivers streams; absent for as they arrive. */
  readonly delivery?: StreamDelivery;
  /** The named model by which the target is requested; absent for a route. */
  readonly named?: NamedTarget;
  /** True if the model must not think, because it has refused a tool loop without thinking. */
  readonly isThinkingOff?: true;
}

/** How a route delivers streams. */
export interface StreamDelivery {
  /** Time since the call began after which its head is sent without content; null for never. */
  readonly earlyHeadMs: number | null;
  /** Time and bytes from the first content on in which a stream is held back; null if it is not. */
  readonly hold: { readonly ms: number; readonly maxBytes: number } | null;
}

/** Minimum length of instructions that errors never show: shorter ones match unrelated text. */
const MIN_KEPT_CHARS = 8;

/**
 * Returns the texts that no error of a target may show to its client: the secrets of its provider,
 * and the instructions of a named model.
 */
export function secretsOf({ provider: { secrets }, named }: Target): readonly string[] {
  const own = named === undefined ? [] : systemTexts(named.preset);
  return own.length === 0 ? secrets : [...secrets, ...own];
}

/** Returns the instructions of a named model as errors may quote them; none if they are short. */
export function systemTexts({ system }: Pick<Preset, "system">): readonly string[] {
  const text = system?.trim() ?? "";
  // An error may quote the JSON of the request.
  return text.length < MIN_KEPT_CHARS ? [] : [text, JSON.stringify(text).slice(1, -1)];
}

/** Returns the model that a response names: the served one, or the requested name. */
export function shownModel({ named, model }: Pick<Target, "named" | "model">): string {
  return named?.preset.showsName === true ? named.name : model;
}

/** The parts of a target that determine the headers of its requests. */
export type Sender = Pick<Target, "provider" | "account">;

/** A request to an upstream. */
export interface UpstreamRequest extends Carried {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path relative to the provider's base URL, with a leading slash; may include a query. */
  readonly path: string;
  /** The request body; null if the request has none. */
  readonly payload: Payload | null;
  /**
   * The same body without members that change no response, for the key of the response cache;
   * absent if it has none.
   */
  readonly cachedAs?: Payload;
  /** Additional headers. The headers of the wire and of the configuration replace them. */
  readonly headers?: HeaderFields;
  /**
   * Headers that replace those of the wire: they state for which API version or in which type the
   * body is written.
   */
  readonly versionHeaders?: HeaderFields;
  /**
   * True if the tool loop of the client may lack the thinking that the model expects: then the same
   * request with thinking turned off may help; absent otherwise.
   */
  readonly mayLackThinking?: true;
  /** Number of breakpoints of the prompt cache that the gateway has set; absent for none. */
  readonly cacheBreakpoints?: number;
  /** Names of the functions that replace custom tools of the client; absent for none. */
  readonly bridged?: ReadonlySet<string>;
  /** The functions whose numbers the upstream gets as texts; absent for none. */
  readonly numbered?: NumberedFunctions;
}

/** Source of fresh IDs and of the time in seconds, for response decoding. */
export interface IdSource extends Pick<World, "uuid" | "unix"> {
  /** Prefix of the IDs of tool calls to which the upstream gave none; `call_` if absent. */
  readonly callIdPrefix?: string;
}

/** Context in which a prompt is encoded. */
export interface Encoding {
  readonly target: Target;
  /** Carrier of the request, to which the parser has given each field. */
  readonly carrier: Carrier;
  /** Strict schemas of the client's request, which all its targets share. */
  readonly schemas: StrictSchemas;
  /**
   * Top-level members that come first in a Chat text, in their order; absent for the order of the
   * writer.
   */
  readonly chatOrder?: readonly string[];
}

/**
 * An upstream protocol. Encoding also validates: a Refusal names a field that the protocol cannot
 * carry.
 */
export interface Wire {
  readonly name: WireName;
  readonly framing: "sse" | "ndjson";
  /** Member of a stream record with the text of the model; absent for `delta`. */
  readonly textMember?: "message";
  /** Returns the base URL for the wire's paths, from the configured URL without its query. */
  base(url: string): string;
  /** Treatment of every request field by `encode`, which uses it: other members are refused. */
  readonly fields: FieldTable<ChatField>;
  encode(chat: ChatRequest, target: Target): Result<UpstreamRequest>;
  /**
   * Encodes what the protocol carries of a prompt, with system messages as the provider expects
   * them.
   */
  encodePrompt(prompt: Prompt, encoding: Encoding): Result<UpstreamRequest>;
  /**
   * Kinds of promises that the protocol cannot enforce and the gateway checks, unless the
   * provider's `verify` is false.
   */
  verified(settings: ProviderConfig): readonly PromiseKind[];
  /**
   * True if the upstream takes the custom tools of a prompt. For all others the gateway makes them
   * functions (`bridgeCustomTools`).
   */
  takesCustomTools(settings: ProviderConfig): boolean;
  /** Returns a complete response as stream events. Fails if the response is malformed. */
  decode(body: JsonText, idSource: IdSource): Result<readonly StreamEvent[]>;
  newDecoder(idSource: IdSource): Decoder;
  /** Returns credentials, protocol version and the client headers that may be forwarded. */
  headers(sender: Sender, client: RequestHeaders): Record<string, string>;
  /**
   * True if clients do not receive a response header, by its lower-case name: it describes the
   * account of the gateway or the network of the provider. Absent if the usual headers suffice.
   */
  hidesHeader?(name: string): boolean;
  /** Returns message, type, param and code of an error body; null if the body is not an error. */
  error(body: JsonObject): Partial<ErrorFields> | null;
  /** Null if the protocol has no embeddings. */
  readonly embeddings: EmbeddingsWire | null;
  readonly catalog: CatalogWire;
}

/** Embeddings requests and responses of a protocol. */
export interface EmbeddingsWire {
  /** Treatment of every request field by `encode`, which uses it. */
  readonly fields: FieldTable<EmbeddingsField>;
  encode(document: JsonDocument, target: Target): Result<UpstreamRequest>;
  /**
   * Returns the client's JSON text from the upstream's response, which must have a vector for each
   * input.
   */
  decode(text: string, model: string, inputs: number): Result<string>;
  /**
   * Checks the number of vectors of a response that the client gets as it is, of which a large one
   * is not parsed; absent if every response is translated.
   */
  checkVectors?(vectors: number, inputs: number): Result<void>;
}

/** Model list of a protocol. */
export interface CatalogWire {
  /** Path of the model list, relative to the base URL. */
  readonly path: string;
  decode(text: string): Result<readonly string[]>;
  /** Returns the models that are known without a request, for this base URL. */
  known(provider: Pick<Provider, "base">): readonly string[];
}
