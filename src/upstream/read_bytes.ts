import { invalidResponse, type Result, success } from "../core/failure/result.ts";
import type { Reply } from "../core/stream/reply.ts";
import type { Outcome } from "../core/stream/stream.ts";
import type { Incoming } from "../core/world.ts";
import type { BodyReader } from "./body.ts";
import { codingOf } from "./content_encoding.ts";
import { commitBytes } from "./deliver_bytes.ts";
import { clientResponseHeaders } from "./headers.ts";
import { isCancelled, type OpenAttempt, reportEnd } from "./open_attempt.ts";
import { unchangedLength, unknownCoding } from "./response_head.ts";

/** Reads the first bytes of a response that is passed on unread, such as a file. */
export async function readBytes(
  attempt: OpenAttempt,
  response: Incoming,
  body: BodyReader,
  outcome: Outcome,
): Promise<Result<Reply>> {
  const { call: { client: { meter }, report }, candidate, timer, span } = attempt;
  const { usage, units } = outcome;
  // A range of compressed bytes cannot be decompressed.
  if (response.status === 206 && codingOf(response.headers.get("content-encoding")) === "known") {
    await body.cancel();
    return invalidResponse("The provider has compressed a part of a file.");
  }
  let isCommitted = false;
  const pieces = await commitBytes(body, async (failure) => {
    if (failure !== null) await body.cancel();
    timer.close();
    span?.uses(() => usage);
    span?.settle();
    if (failure === null) {
      report.usage = usage;
      report.units = units ?? null;
      meter?.complete(outcome);
    } else meter?.fail(null, isCommitted || isCancelled(attempt));
    reportEnd(attempt, failure);
  });
  if (!pieces.ok) return pieces;
  isCommitted = true;
  const headers = {
    ...clientResponseHeaders(response.headers, candidate.target),
    ...unknownCoding(response),
    ...unchangedLength(response),
  };
  return success({ kind: "bytes", status: response.status, headers, pieces: pieces.value });
}
