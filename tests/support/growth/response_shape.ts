import { MAX_CHOICES } from "../../../src/api/chat/chunk.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { MAX_CALLS } from "../../../src/core/stream/stream.ts";
import { mostWithin } from "./doubling.ts";
import type { GrowingAnswer } from "./growing_gateway.ts";

/** The client APIs for which models generate. */
export type GeneratingApi = "chat" | "responses" | "messages";

/** Response of a provider with `n` elements. */
export interface AnswerShape {
  readonly name: string;
  readonly stream: boolean;
  readonly answer: (n: number) => GrowingAnswer;
  /** Things in the largest answer of the search, where the gateway does not take any number. */
  readonly most?: number;
  /** The client APIs that send it; all when absent. */
  readonly only?: GeneratingApi;
  /**
   * The client APIs that refuse it once it is read; Responses takes at most 128 calls, for example.
   */
  readonly refusedBy?: readonly GeneratingApi[];
}

/**
 * Calls, with the blocks or items among them, and choices in the largest answer of the search: the
 * gateway refuses answers with more than it reads.
 */
export const MAX_GROWN_CALLS = mostWithin(MAX_CALLS), MAX_GROWN_CHOICES = mostWithin(MAX_CHOICES);

/** Texts with the tags of reasoning. */
export const THINK_TEXTS: readonly {
  readonly name: string;
  readonly text: (n: number) => string;
}[] = [
  { name: "opening think tags", text: (n) => "<think>".repeat(n) },
  { name: "think regions", text: (n) => "<think>a</think>b".repeat(n) },
  { name: "closing think tags", text: (n) => "</think>".repeat(n) },
];

/** Returns a citation of a Responses text. */
export function cited(at: number): JsonObject {
  return { type: "url_citation", url: "http://a.test", title: "", start_index: at, end_index: at };
}
