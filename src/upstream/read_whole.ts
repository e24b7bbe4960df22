import type { WholeHandler } from "../call/inference.ts";
import {
  clientGone,
  failed,
  responseTooLarge,
  type Result,
  success,
} from "../core/failure/result.ts";
import { parseJson } from "../core/json/json.ts";
import type { Reply } from "../core/stream/reply.ts";
import type { Incoming } from "../core/world.ts";
import { utf8Text } from "../formats/utf8.ts";
import { reportedUsage } from "../wires/reported_usage.ts";
import { type BodyReader, MAX_LATE_READ_MS, MAX_RESPONSE_BYTES, readAll } from "./body.ts";
import { contentFiltered } from "./deliver.ts";
import { clientResponseHeaders } from "./headers.ts";
import { checkJson } from "./json_bounds.ts";
import {
  ALWAYS,
  avoidsFilter,
  countUnusable,
  isCounted,
  type OpenAttempt,
  reportCounts,
  storeFinished,
} from "./open_attempt.ts";
import { hasBody, unknownCoding } from "./response_head.ts";

/** A whole response that is read. */
interface WholeResponse {
  readonly response: Incoming;
  readonly body: BodyReader;
  readonly handler: WholeHandler;
  /** True if a coding that the gateway does not know is named to the client. */
  readonly namesCoding: boolean;
}

/** Reads a whole response, and stores its outcome before it is sent. */
export async function readWhole(
  attempt: OpenAttempt,
  { response, body, handler, namesCoding }: WholeResponse,
): Promise<Result<Reply>> {
  const { call, candidate, span } = attempt;
  const { client: { meter }, report } = call;
  const bytes = await readBody(attempt, body, handler.limit ?? MAX_RESPONSE_BYTES);
  if (!bytes.ok) return bytes;
  const isReadForCounts = call.cancellation.isClientGone;
  span?.receivedBody(bytes.value);
  const checked = checkJson(bytes.value, body.turn, handler.needed);
  const outline = checked instanceof Promise ? await checked : checked;
  if (!outline.ok) {
    await countUnusable(attempt, bytes.value, body);
    return outline;
  }
  const turn = outline.value === null ? body.turnToParse(bytes.value.length) : null;
  if (turn !== null) await turn;
  const read = handler.read({
    status: hasBody(response.status) ? response.status : 200,
    headers: () => ({
      ...clientResponseHeaders(response.headers, candidate.target),
      ...namesCoding && unknownCoding(response),
    }),
    body: bytes.value,
    ...outline.value !== null && { outline: outline.value },
  });
  if (!read.ok) {
    if (isCounted(attempt)) {
      const value = outline.value?.value ?? parseJson(utf8Text(bytes.value) ?? "");
      const usage = reportedUsage(value);
      reportCounts(attempt, () => usage);
    }
    return read;
  }
  const { response: whole, outcome } = read.value;
  reportCounts(attempt, () => outcome.usage);
  if (avoidsFilter(candidate) && outcome.isFiltered === true) return failed(contentFiltered());
  // The tokens of the upstream are billed even if the outcome cannot be stored.
  report.usage = outcome.usage;
  report.units = outcome.units ?? null;
  // A body that is not parsed for its members is not parsed for an estimate either.
  if (outcome.isFailed === true) meter?.fail(outcome.usage, false);
  else meter?.complete(outcome, outline.value === null ? whole.body : null);
  if (isReadForCounts) return clientGone();
  const storing = storeFinished(attempt, outcome);
  const stored = storing === null ? null : await storing;
  if (stored?.ok === false) return stored;
  const isPersonal = outcome.reasoning !== undefined;
  return success({ kind: "whole", response: whole, ...isPersonal && { isCacheable: false } });
}

/** Reads the body; one above the limit of its handler may have its counts at its end. */
async function readBody(
  attempt: OpenAttempt,
  body: BodyReader,
  limit: number,
): Promise<Result<Uint8Array<ArrayBuffer>>> {
  const { call: { world }, timer, memory, isCharged } = attempt;
  // A client that leaves from now on pays for the counts in the body.
  if (isCharged) attempt.late.isAwaited = ALWAYS;
  let cancelLateRead = () => {};
  const bytes = await readAll(body, isCharged ? MAX_RESPONSE_BYTES : limit, {
    onBeginning: (beginning) => countUnusable(attempt, beginning, body),
    usualBytes: limit,
    onUnusual() {
      timer.linger();
      cancelLateRead = world.after(MAX_LATE_READ_MS, body.end);
    },
  });
  cancelLateRead();
  if (!bytes.ok) return bytes;
  if (bytes.value.length > limit) {
    await countUnusable(attempt, bytes.value, body);
    return responseTooLarge("The provider's response is too large.");
  }
  memory.end(bytes.value.length);
  return bytes;
}
