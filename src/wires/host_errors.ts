import {
  type Failure,
  type FallbackReason,
  isRefusal,
  type UpstreamError,
} from "../core/failure/failure.ts";
import {
  CONTENT_FILTER_ERRORS,
  CONTEXT_LENGTH_ERRORS,
  type HostError,
  MISSING_THINKING_ERRORS,
} from "../data/host_errors.ts";

/** Status for clients of a prompt that is too long, if the provider responded with a 5xx. */
const TOO_LONG_STATUS = 400;

/**
 * Returns a failure before the delivery as its own kind if the provider says that the prompt is too
 * long or, with `content_filter` in `fallbackOn`, that its filter has refused it; with
 * `isThinkingMissing` if it wants the thinking of a tool loop; other failures unchanged.
 * `isRejected` is true if the response had the status of an error: then the provider has certainly
 * not begun.
 */
export function recognise(
  failure: Failure,
  fallbackOn: readonly FallbackReason[],
  isRejected: boolean,
): Failure {
  if (isRefusal(failure) || failure.upstream === null) return failure;
  // A key or a rate that is refused has another reason, whatever the message says.
  if (failure.keyRefusal !== undefined || failure.kind === "upstream_throttled") return failure;
  const { upstream } = failure;
  const mayHaveRun = failure.mayHaveRun && !isRejected;
  if (isListed(CONTEXT_LENGTH_ERRORS, upstream)) {
    const status = upstream.status < 500 ? upstream.status : TOO_LONG_STATUS;
    const kind = "context_length_exceeded";
    return { ...failure, kind, mayHaveRun, upstream: { ...upstream, status } };
  }
  if (isListed(MISSING_THINKING_ERRORS, upstream)) {
    return { ...failure, mayHaveRun, isThinkingMissing: true };
  }
  return fallbackOn.includes("content_filter") && isListed(CONTENT_FILTER_ERRORS, upstream)
    ? { ...failure, kind: "content_filtered", mayHaveRun }
    : failure;
}

function isListed(
  rows: readonly HostError[],
  { status, error: { code, type, message } }: UpstreamError,
): boolean {
  return rows.some((row) =>
    (row.statuses?.includes(status) ?? true) &&
    (row.code === undefined || row.code === code) &&
    (row.type === undefined || row.type === type) &&
    (row.sentence === undefined || (typeof message === "string" && row.sentence.test(message)))
  );
}
