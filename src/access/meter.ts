import type { BilledUnits, Usage } from "../core/stream/events.ts";
import type { Outcome } from "../core/stream/stream.ts";
import type { StreamRecord } from "../core/stream/reply.ts";
import type { Target, UpstreamRequest } from "../wires/wire.ts";
import { hasLastOutput } from "../wires/reported_usage.ts";
import { countedBytes } from "./text_bytes.ts";
import { streamedTextBytes, wholeTextBytes } from "./written_text.ts";

/**
 * Charge of an operation. `none`: no model is called. `tokens`: counted but free. `reported`: only
 * what the provider reports, because the bytes of media say nothing of their tokens.
 */
export type Billing = "none" | "tokens" | "reported";

/** An upstream request whose use is metered. */
export interface MeteredRequest {
  readonly target: Target;
  readonly request: UpstreamRequest;
  /** Charge of the client; absent for tokens with their cost. */
  readonly billing?: Billing;
  /** Units of the request besides tokens, also if the client leaves early. */
  readonly requestUnits?: BilledUnits;
  /** Member of a stream record with the text of the model; absent for that of the protocol. */
  readonly textMember?: "text";
}

/** Tokens of one model that a call has used. */
export interface MeteredUse {
  readonly provider: string;
  readonly model: string;
  /** Null if the tokens are not known and not estimated. */
  readonly usage: Usage | null;
  /** Units besides tokens, which are billed if tokens are not known or have no price. */
  readonly units: BilledUnits | null;
  /** True if a count is an estimate, because the provider has reported none. */
  readonly isEstimated: boolean;
  /** True if the provider charges nothing for the operation, such as counting tokens. */
  readonly isFree: boolean;
}

/** Use of a complete response, from its outcome. */
type BilledOutcome = Pick<Outcome, "usage" | "units">;

/** Bytes of a text that count as one token where a provider reports no tokens. */
const TOKEN_BYTES = 4;

/** An attempt whose use is not known yet. */
interface OpenAttempt {
  readonly candidate: MeteredRequest;
  /** Returns the last counts that the stream of the provider has reported. */
  reported: () => Usage | null;
  /** Bytes of text that the provider has written, as far as they were read. */
  textBytes: number;
}

/**
 * Meter of what a call uses at providers. Counts of a provider come first. Those that it has not
 * reported are estimated from the bytes of the request and of the text that was read, because the
 * provider bills also what is not delivered, and leaving early must not be free. Attempts that
 * failed without counts count nothing, unless the client left or the answer was too large.
 */
export class Meter {
  readonly #uses: MeteredUse[] = [];
  #attempt: OpenAttempt | null = null;
  #reading: Promise<void> | null = null;

  /** Begins an attempt, just before its request is sent. */
  begin(candidate: MeteredRequest): void {
    this.#attempt = candidate.billing === "none"
      ? null
      : { candidate, reported: unknown, textBytes: 0 };
  }

  /** Sets the source of the counts of a response, which a stream may report before its end. */
  stream(reported: () => Usage | null): void {
    if (this.#attempt !== null) this.#attempt.reported = reported;
  }

  /** Counts the text in records of the provider's stream, for an estimate. */
  read(records: readonly StreamRecord[]): void {
    if (this.#attempt === null || this.#attempt.candidate.billing === "reported") return;
    const { target: { wire }, textMember = wire.textMember } = this.#attempt.candidate;
    for (const { data } of records) {
      this.#attempt.textBytes += streamedTextBytes(data, textMember);
    }
  }

  /** Counts the bytes of text in an answer or a record that is too large, for an estimate. */
  refuse(textBytes: number): void {
    if (this.#attempt === null) return;
    this.#attempt.textBytes = Math.max(this.#attempt.textBytes, textBytes);
  }

  /**
   * Ends an attempt with a complete response. `body` is that of a whole response, for an estimate.
   */
  complete({ usage, units }: BilledOutcome, body: Uint8Array | null = null): void {
    const attempt = this.#attempt;
    if (attempt === null) return;
    this.#attempt = null;
    const { billing, requestUnits = null } = attempt.candidate;
    if (billing === "reported") {
      // Only of audio the units of the request are those of the response. The tokens may have no
      // price.
      const isLengthEstimated = units === undefined && isAudio(requestUnits);
      const known = units ?? (isLengthEstimated ? requestUnits : null);
      return this.#add(attempt, usage, isLengthEstimated && usage === null, known);
    }
    const isReported = usage !== null && usage.unknown === undefined;
    if (body !== null && !isReported) attempt.textBytes = wholeTextBytes(body);
    const used = estimate(attempt, usage);
    this.#add(attempt, used, used !== usage);
  }

  /**
   * Ends an attempt that failed. `isWanted` is false if the provider failed and nothing was
   * delivered: then it counts only with counts of the provider. Without `counts` they are those of
   * the source that was set last.
   */
  fail(counts: Usage | null, isWanted: boolean): void {
    const attempt = this.#attempt;
    if (attempt === null) return;
    this.#attempt = null;
    const usage = counts ?? attempt.reported();
    if (!isWanted && usage === null) return;
    const { billing, requestUnits = null } = attempt.candidate;
    if (billing === "reported") {
      const units = isWanted ? requestUnits : null;
      return this.#add(attempt, usage, usage === null && isAudio(units), units);
    }
    const known = isWanted && usage !== null ? unfinished(usage, attempt.textBytes) : usage;
    const used = estimate(attempt, known);
    this.#add(attempt, used, used !== usage);
  }

  /**
   * The counts of the attempt are read after its response has ended: `reading` is done with them.
   */
  awaits(reading: Promise<void>): void {
    this.#reading = reading;
  }

  /** Resolves when all counts are read; null if none are awaited. */
  get reading(): Promise<void> | null {
    return this.#reading;
  }

  /** Returns what all attempts have used. An attempt that has not ended counts as broken off. */
  uses(): readonly MeteredUse[] {
    this.fail(null, true);
    return this.#uses;
  }

  #add(
    { candidate: { target, billing } }: OpenAttempt,
    usage: Usage | null,
    isEstimated: boolean,
    units: BilledUnits | null = null,
  ): void {
    this.#uses.push({
      units,
      provider: target.provider.id,
      model: target.model,
      usage,
      isEstimated,
      isFree: billing === "tokens",
    });
  }
}

/** True for units of audio, whose length is estimated from its bytes. */
function isAudio(units: BilledUnits | null): boolean {
  return units?.seconds !== undefined;
}

function unknown(): null {
  return null;
}

/**
 * Returns the counts of a response that has not ended: some providers send zeros until its end,
 * which count nothing.
 */
function unfinished(usage: Usage, textBytes: number): Usage | null {
  if (usage.input === 0) return hasLastOutput(usage) ? { ...usage, unknown: "input" } : null;
  return usage.output === 0 && textBytes > 0 ? { ...usage, isEarly: true } : usage;
}

/**
 * Returns the counts of an attempt whose provider has not reported all of them: the reported ones
 * as they are, the unknown ones from bytes. The Messages API reports the input at the start of a
 * stream, with an output of almost nothing.
 */
function estimate(attempt: OpenAttempt, reported: Usage | null): Usage {
  const { candidate: { request }, textBytes } = attempt;
  const written = Math.ceil(textBytes / TOKEN_BYTES);
  if (reported !== null && reported.unknown === undefined) {
    return reported.isEarly === true && reported.output < written
      ? { ...reported, output: written, total: reported.input + written }
      : reported;
  }
  const sent = Math.ceil(countedBytes(request.payload?.text() ?? "") / TOKEN_BYTES);
  const input = reported === null || reported.unknown === "input" ? sent : reported.input;
  const output = reported === null || reported.unknown === "output" ? written : reported.output;
  return {
    input,
    output,
    total: input + output,
    cached: reported?.cached ?? 0,
    cacheWrite: reported?.cacheWrite ?? 0,
    reasoning: reported?.reasoning ?? 0,
  };
}
