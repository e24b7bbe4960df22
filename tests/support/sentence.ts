import type { Failure } from "../../src/core/failure/failure.ts";
import { messageOf } from "../../src/core/failure/openai_error.ts";

/** Message of a failure; empty if there is none. */
export function sentenceOf(failure: Failure | null | undefined): string {
  return failure == null ? "" : messageOf(failure);
}
