/** Every cause of a failed connection, as logs and metrics name it. */
export const CONNECTION_CAUSES = [
  "dns",
  "refused",
  "unreachable",
  "timeout",
  "tls_untrusted",
  "tls_name",
  "tls_expired",
  "tls_other",
  "proxy",
  "reset",
  "closed",
  "malformed",
  "unsendable",
  "aborted",
  "other",
] as const;

/** A cause of a failed connection. */
export type ConnectionCause = (typeof CONNECTION_CAUSES)[number];

/**
 * Every cause of a failed attempt, as logs and metrics name it: those of its connection, and
 * `first_content` of a stream without content in time.
 */
export const UPSTREAM_CAUSES = [...CONNECTION_CAUSES, "first_content"] as const;

/** A cause of a failed attempt. */
export type UpstreamCause = (typeof UPSTREAM_CAUSES)[number];

/** Progress of a request at the time when its connection failed. */
export interface Progress {
  /** False if the server certainly did not get the request. */
  readonly mayHaveRun: boolean;
  /** True if a byte of the response had arrived. */
  readonly isAnswered: boolean;
}

const NOT_SENT: Progress = { mayHaveRun: false, isAnswered: false };

/** A connection that failed, before or while it was used. The message holds no address. */
export class ConnectionError extends Error {
  readonly kind: ConnectionCause;
  readonly mayHaveRun: boolean;
  readonly isAnswered: boolean;

  constructor(kind: ConnectionCause, message: string, progress = NOT_SENT) {
    super(message);
    this.kind = kind;
    this.mayHaveRun = progress.mayHaveRun;
    this.isAnswered = progress.isAnswered;
  }
}
