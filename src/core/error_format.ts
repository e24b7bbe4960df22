import type { Failure } from "./failure.ts";
import type { HttpResponse } from "./reply.ts";

/** Error format of a client API. */
export interface ErrorFormat {
  /** Returns the response to a call that failed before anything was delivered. */
  whole(failure: Failure): HttpResponse;
}
