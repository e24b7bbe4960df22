import type { TargetView } from "./view_target.ts";

/** Kinds of differences, in the order of the report. */
export const DIFFERENCE_KINDS = [
  "key",
  "refused",
  "accepted",
  "error",
  "route",
  "targets",
  "fallback",
  "model",
  "lossy",
  "verified",
  "request",
  "headers",
  "cost",
] as const;

/** A kind of difference. */
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** One difference between what two configurations do with a record, without content. */
export interface Difference {
  readonly kind: DifferenceKind;
  /** Paths of fields, or names of headers, with the indexes of lists as `[]`. */
  readonly paths: readonly string[];
  readonly before: string;
  readonly after: string;
  /** Values of the request at the paths, which are content; absent if there are none. */
  readonly content?: { readonly before: string; readonly after: string };
}

/** Returns the difference between two texts; none if they are equal. */
export function differing(
  kind: DifferenceKind,
  paths: readonly string[],
  before: string,
  after: string,
): Difference[] {
  return before === after ? [] : [{ kind, paths, before, after }];
}

/** Returns a target by its provider and model. */
export function nameOf({ provider, model }: TargetView): string {
  return `${provider}/${model}`;
}

/** Returns the provider of a target, with the protocol unless its type says it. */
export function providerOf({ provider, wire }: TargetView): string {
  return wire === "responses" ? `${provider} (Responses API)` : provider;
}

/**
 * Returns the target of a plan that gets most of the calls, the first one by name of equal ones.
 */
export function mainTarget(
  { targets, fallbacks }: {
    readonly targets: readonly TargetView[];
    readonly fallbacks: readonly TargetView[];
  },
): TargetView | null {
  const sorted = targets.toSorted((one, other) =>
    shareOf(other) - shareOf(one) || (nameOf(one) < nameOf(other) ? -1 : 1)
  );
  return sorted[0] ?? fallbacks[0] ?? null;
}

function shareOf({ share }: TargetView): number {
  return share.startsWith("of the ") ? Infinity : Number.parseFloat(share) || 0;
}
