import { errorText, hasRecords, piecesOf, placeOf } from "./bodies.ts";
import type { Phase } from "./break.ts";
import { type Column, CONFIG } from "./columns.ts";

/**
 * Wait in the queue of a provider, and before a retry, in milliseconds: no other wait is as long.
 */
export const QUEUE_TIMEOUT_MS = 47_000, RETRY_DELAY_MS = 23_000;

/**
 * The configuration of the matrix with one slot for each provider, and a long delay before a retry.
 */
export const LEAVING_CONFIG = CONFIG
  .replaceAll(
    '"timeout":',
    `"max_concurrent":1,"max_queued":1,"queue_timeout":"${QUEUE_TIMEOUT_MS}ms","timeout":`,
  )
  .replace('"initial_delay":"10ms"', `"initial_delay":"${RETRY_DELAY_MS}ms","jitter_factor":0`);

/** A moment at which a client leaves. */
export interface Moment {
  readonly name: string;
  /** The wait of the gateway in which the client leaves; null if the upstream is at work. */
  readonly waitMs: number | null;
  /** True if another call holds the only slot. */
  readonly isQueued: boolean;
  /** True if a stream has had content. */
  readonly hasContent: boolean;
  fits(column: Column): boolean;
  /** Status and pieces of the answer up to this moment; null if its headers are not sent yet. */
  answer(column: Column, text: string): HeldAnswer | null;
}

/** The beginning of an answer that does not go on. */
export interface HeldAnswer {
  readonly status: number;
  readonly pieces: readonly string[];
  /** True if nothing of it is missing. */
  readonly isWhole: boolean;
}

function upTo(phase: Phase): Moment["answer"] {
  return (column, text) => {
    const pieces = piecesOf(column, text);
    return { status: 200, pieces: pieces.slice(0, placeOf(phase, pieces, column)), isWhole: false };
  };
}

const AT_WORK = { waitMs: null, isQueued: false, hasContent: false, fits: () => true } as const;

/** Each moment of a call at which its client may leave, in order. */
export const MOMENTS: readonly Moment[] = [
  {
    ...AT_WORK,
    name: "in the queue for a slot of the provider",
    waitMs: QUEUE_TIMEOUT_MS,
    isQueued: true,
    answer: () => null,
  },
  { ...AT_WORK, name: "before the headers", answer: () => null },
  {
    ...AT_WORK,
    name: "in the delay before a retry",
    waitMs: RETRY_DELAY_MS,
    // A count has one attempt at each target.
    fits: ({ call }) => call !== "count_tokens",
    answer: ({ type }) => ({ status: 503, pieces: [errorText(type)], isWhole: true }),
  },
  { ...AT_WORK, name: "before the first content", answer: upTo("before the first content") },
  {
    ...AT_WORK,
    name: "in the middle of a whole body",
    fits: (column) => !hasRecords(column),
    answer: upTo("within the content"),
  },
  {
    ...AT_WORK,
    name: "in the middle of a stream",
    hasContent: true,
    fits: hasRecords,
    answer: upTo("within the content"),
  },
];
