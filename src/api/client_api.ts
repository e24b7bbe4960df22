import type { EndpointFacts, RequestType } from "../core/endpoint.ts";
import type { ErrorFormat } from "../core/error_format.ts";
import type { JsonDocument } from "../core/json/json.ts";
import type { Reply, StreamReply } from "../core/reply.ts";
import type { Result } from "../core/result.ts";
import type { Call } from "../call/call.ts";

/** What an endpoint gets beside the call: path parameters, query and body. */
export interface ApiRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** An empty object where the endpoint takes no body. */
  readonly document: JsonDocument;
}

/** Serves one endpoint. */
export type Handler = (call: Call, request: ApiRequest) => Promise<Result<Reply>>;

/** One method on one path. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: `/${string}`;
  /** One sentence for the list of endpoints. */
  readonly about: string;
  /** Whether a request has a JSON body; an optional one may be empty. */
  readonly body: boolean | "optional";
  /** Request types under which routes are searched, in order; absent if the endpoint is not routed. */
  readonly matchesAs?: readonly [RequestType, ...RequestType[]];
  /** Operation of the GenAI conventions; absent if no model is called. */
  readonly operation?: NonNullable<EndpointFacts["operation"]>;
  /** True if a response holds what a model answered and may be exported as such. */
  readonly sharesAnswer?: true;
  readonly handle: Handler;
}

/** A path on which clients open a socket. */
export interface SocketEndpoint {
  readonly path: `/${string}`;
  /** One sentence for the list of endpoints. */
  readonly about: string;
  readonly operation: NonNullable<EndpointFacts["operation"]>;
  /** Begins the dialogue of one connection, whose messages may hold this many members and elements each. */
  open(maxItems: number): Session;
}

/** The dialogue of one connection. */
export interface Session {
  /** Reads a message; one that asks for nothing sensible leaves the dialogue as it was. */
  read(text: string): Message;
}

/** What a client has sent over a socket. */
export interface Message {
  /** What everything that answers it has as `stream_id`; null: nothing. */
  readonly label: string | null;
  readonly turn: Result<Turn>;
}

/** One request of a dialogue. Turns run one after the other. */
export interface Turn {
  /** The request as it would come over HTTP. */
  readonly text: string;
  /** The events that answer it, or why there are none. */
  run(call: Call): Promise<Result<StreamReply>>;
}

/** A family of endpoints that clients call. */
export interface ClientApi {
  /** Name in exported events and in logs; null for the operational endpoints, which are not exported. */
  readonly name: string | null;
  /** How its clients read failures. */
  readonly errors: ErrorFormat;
  readonly endpoints: readonly Endpoint[];
  readonly sockets?: readonly SocketEndpoint[];
}
