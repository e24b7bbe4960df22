import type { Incoming } from "../../../src/core/world.ts";
import type { Column } from "./columns.ts";

/** The phases of a call to an upstream, in their order. */
export const PHASES = [
  "before sending",
  "before the headers",
  "the headers",
  "after the headers",
  "before the first content",
  "within the content",
  "before the end marker",
  "at the end",
] as const;

/** A phase of a call to an upstream. */
export type Phase = typeof PHASES[number];

/** One way for an upstream to break, in one phase. */
export interface Break {
  readonly name: string;
  readonly phase: Phase;
  /** True if the upstream certainly did not begin the work. */
  readonly isUntaken: boolean;
  /** True if the break can happen to the answer of this kind of call. */
  fits(column: Column): boolean;
  answer(request: BrokenRequest): Promise<Incoming>;
}

/** A request to an upstream that breaks. */
export interface BrokenRequest {
  readonly column: Column;
  readonly signal: AbortSignal;
  /** Returns what a healthy upstream answers. */
  whole(): Promise<Response>;
  /** Resolves after this time, in milliseconds. */
  pause(ms: number): Promise<void>;
  /** Called when the upstream falls silent, so that only time can end the attempt. */
  fallSilent(): void;
}
