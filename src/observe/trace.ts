/** A target of a route, as the routing of a call has found it. */
export interface TracedTarget {
  readonly provider: string;
  /** Null if neither the request nor the file names a model. */
  readonly model: string | null;
  readonly isFallback: boolean;
  /** True for the target that the route has picked first. */
  readonly isChosen: boolean;
  /** Why it was passed over; null if it was able to serve the call. */
  readonly skipped: string | null;
}

/** Further facts of a call, which only the admin page shows. */
export interface Trace {
  /** Model as the client has named it, in a header or the body; null until it is read. */
  requestedModel: string | null;
  /** Targets in the order of the route; empty until the call is routed. */
  targets: readonly TracedTarget[];
  /** Records of the stream that were passed to the client's connection. */
  records: number;
}

/** Returns the trace of a call that has just begun. */
export function newTrace(): Trace {
  return { requestedModel: null, targets: [], records: 0 };
}
