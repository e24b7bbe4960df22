import type { JsonObject } from "../../../src/core/json/json.ts";

/** Token counts that a scripted provider reports. `cached` is a part of `input`. */
export interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/**
 * Content of a response: a JSON object, a text, a JSON object before the stop text `STOP` with a
 * text behind it, or nothing that the protocol has.
 */
export type ResponseForm = "object" | "text" | "stopped" | "unusable";

/** Responses of a provider in one protocol. */
export interface Shape {
  readonly contentType: string;
  whole(counts: Counts, form: ResponseForm): JsonObject;
  /** Parts of a stream, of which some are empty; null for an operation without streams. */
  readonly stream: StreamShape | null;
  /** True if the protocol counts cached tokens. */
  readonly hasCached: boolean;
  /** True if units that are not estimated are charged without counts. */
  readonly hasUnits?: true;
  /** True if the output is not counted. */
  readonly isInputOnly?: true;
}

/** Parts of a stream in their order. */
export interface StreamShape {
  /** Without content; `headCounts` are counts in it. */
  head(counts: Counts): string;
  headCounts(counts: Counts): Counts | null;
  content(form: ResponseForm): string;
  /** Counts of zero before the text, empty if the protocol has none there. */
  readonly early: string;
  /** Shows that the text has ended. */
  readonly finish: string;
  /** Neither text nor counts, between the end of the text and the counts. */
  readonly other: string;
  counts(counts: Counts): string;
  readonly terminal: string;
  /** An error in place of the rest, with counts. */
  error(counts: Counts): string;
}

/** A member that takes more steps to parse than a response may: each of its keys has an escape. */
const LARGE = `"large":{${
  Array.from({ length: 21_000 }, (_, at) => `"\\u0061${at}":0`).join(",")
}}`;

/** Returns a JSON object, or the last record of a stream, with a member too large to be parsed. */
export function tooLarge(text: string): string {
  return text.replace(/\}(\n*)$/, `,${LARGE}}$1`);
}

/** Returns a JSON object of more than 1 MiB with the counts at its end, in many lines or one. */
export function largeText(value: JsonObject, lines: "many" | "one"): string {
  const large = Array(1_100).fill("x".repeat(1_000));
  return JSON.stringify({ large, ...value }, null, lines === "many" ? 1 : 0);
}

/** A text that no other part of a stream has. */
export const DELIVERED = "delivered";

/** A stop text that not every provider knows. */
export const STOP = "\n\n";

/** Zero counts, which some providers send besides those that are true. */
export const ZERO: Counts = { input: 0, output: 0, cached: 0 };

export const TEXTS: Readonly<Record<ResponseForm, string>> = {
  object: `{"${DELIVERED}":1}`,
  text: `no ${DELIVERED} object`,
  stopped: `{"${DELIVERED}":1}${STOP}more`,
  unusable: "",
};

export function sse(value: JsonObject): string {
  const name = typeof value.type === "string" ? `event: ${value.type}\n` : "";
  return `${name}data: ${JSON.stringify(value)}\n\n`;
}

export const DONE = "data: [DONE]\n\n";
export const ERROR = { message: "no", type: "server_error", code: "no" };
export const none = () => null;

export function chatUsage({ input, output, cached }: Counts): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

export function responsesUsage({ input, output, cached }: Counts): JsonObject {
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { cached_tokens: cached },
  };
}

export function messagesUsage({ input, output, cached }: Counts): JsonObject {
  return {
    input_tokens: input - cached,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}
