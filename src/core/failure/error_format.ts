import type { Failure } from "./failure.ts";
import type { HttpResponse } from "../stream/reply.ts";

/** Error format of a client API. */
export interface ErrorFormat {
  /**
   * Returns the response to a call that failed before anything was delivered. `id` is the ID of the
   * call, for formats that repeat it in the body.
   */
  whole(failure: Failure, id: string): HttpResponse;
  /**
   * Lower-case name of a further response header from which clients of the API read the request ID:
   * the upstream's own where its response is passed on, else that of the call. Absent for none.
   */
  readonly idHeader?: string;
}
