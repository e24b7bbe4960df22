import type { EndpointFacts, EndpointName, RequestType } from "../core/endpoint.ts";
import type { ErrorFormat } from "../core/failure/error_format.ts";
import type { JsonDocument } from "../core/json/json.ts";
import type { Reply, StreamReply } from "../core/stream/reply.ts";
import type { Result } from "../core/failure/result.ts";
import type { RequestLimits } from "../formats/document.ts";
import type { MultipartBody } from "../formats/multipart.ts";
import type { Call } from "../call/call.ts";

/** Path parameters, query and body of a request, as an endpoint receives them besides the call. */
export interface ApiRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The request body; an empty object if the endpoint takes no body. */
  readonly document: JsonDocument;
  /**
   * The body as the client wrote it, if privacy rules have replaced values in `document`; absent if
   * they are the same.
   */
  readonly original?: JsonDocument;
  /** The multipart body; absent if the request has another one or none. */
  readonly form?: MultipartBody;
}

/** Handles the requests of one endpoint and returns the response. */
export type Handler = (call: Call, request: ApiRequest) => Promise<Result<Reply>>;

/** One HTTP method on one path, with its handler. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: `/${string}`;
  /** One sentence for the list of endpoints. */
  readonly about: string;
  /**
   * Whether a request has a JSON body; an optional one may be empty. A multipart one may have
   * `server.max_upload` bytes; with `multipart or json` the content type decides.
   */
  readonly body: boolean | "optional" | "multipart" | "multipart or json";
  /** Maximum size of a request body in bytes; 10 MiB if absent. */
  readonly maxBodyBytes?: number;
  /**
   * Request types under which routes are searched, in order; absent if the endpoint is not routed.
   */
  readonly matchesAs?: readonly [RequestType, ...RequestType[]];
  /** Operation of the GenAI conventions; absent if no model is called. */
  readonly operation?: NonNullable<EndpointFacts["operation"]>;
  /** True if a response holds what a model answered and may be exported as such. */
  readonly sharesAnswer?: true;
  /** True if its calls have a cost although it has no `operation`. */
  readonly isBilled?: true;
  /** True if texts are drawn or spoken, so that privacy rules mask values instead of replacing. */
  readonly masksValues?: true;
  readonly handle: Handler;
}

/** A path on which clients open a WebSocket. */
export interface SocketEndpoint {
  readonly path: `/${string}`;
  /** One sentence for the list of endpoints. */
  readonly about: string;
  readonly operation: NonNullable<EndpointFacts["operation"]>;
  /**
   * Returns the session of a new connection. `maxItems` limits the members and elements of a
   * message; `hold` counts the state of its dialogue.
   */
  newSession(maxItems: number, hold: HoldState): Session;
}

/**
 * Sets the bytes of the state that a session holds; `drop` is called when there is no memory for
 * it.
 */
export type HoldState = (bytes: number, drop: () => void) => void;

/** The session of one WebSocket connection. */
export interface Session {
  /**
   * Parses a message. An invalid message does not change the session. `hold` adds bytes to the body
   * memory of its call.
   */
  parseMessage(text: string, hold: RequestLimits["hold"]): Message;
  /**
   * Returns the `stream_id` of a message that is refused without a further look at it; null if it
   * has none.
   */
  findStreamId(text: string): string | null;
  /** Drops the state of the dialogue, because the connection is closed. */
  end(): void;
}

/** A message of a client over a WebSocket. */
export interface Message {
  /** The `stream_id` of all events that answer this message; null if they have none. */
  readonly streamId: string | null;
  readonly turn: Result<Turn>;
}

/** One request of a session. Turns run one after the other. */
export interface Turn {
  /** JSON text of the request, as it would be sent over HTTP. */
  readonly text: string;
  /** Runs the request and returns its events, or a failure. */
  run(call: Call): Promise<Result<StreamReply>>;
}

/** A family of endpoints that clients call. */
export interface ClientApi {
  /**
   * Name in exported events, logs and permissions of client keys; null for the operational
   * endpoints, which are not exported and need no key.
   */
  readonly name: EndpointName | null;
  /** Format of the error responses. */
  readonly errors: ErrorFormat;
  readonly endpoints: readonly Endpoint[];
  readonly sockets?: readonly SocketEndpoint[];
}
