import type { Failure } from "./failure.ts";
import type { HttpResponse } from "./reply.ts";

/** How a client API reports failures. */
export interface ErrorFormat {
  /** Returns the response to a call that failed before anything was delivered. */
  whole(failure: Failure): HttpResponse;
}
