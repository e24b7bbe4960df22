import type { JsonDocument } from "../core/json.ts";
import type { Reply } from "../core/reply.ts";
import type { Result } from "../core/result.ts";
import type { Call } from "../gateway/call.ts";

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
  /** Whether a request has a JSON body; an optional one may be empty. */
  readonly body: boolean | "optional";
  readonly handle: Handler;
}

/** A family of endpoints that clients call. */
export interface ClientApi {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
}
