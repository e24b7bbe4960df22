import type { StreamRecord } from "../../src/core/stream/reply.ts";
import type { AnswerForm } from "../../src/privacy/types.ts";
import type { AnswerText } from "../../src/privacy/answer_text.ts";
import { atOnce } from "../../src/core/at_once.ts";
import {
  type Delivered,
  newRecordRestorer,
  type RecordRestorer,
} from "../../src/privacy/restore_records.ts";

/** An answer whose texts are no JSON and whose thinking was not signed. */
export const PLAIN: AnswerForm = { isJsonText: false, isThinkingSigned: false };

/** Returns an event as a provider sends it. */
export function eventOf(value: object, name: string | null = null): StreamRecord {
  const data = JSON.stringify(value);
  const field = name === null ? "" : `event: ${name}\n`;
  return { event: name, data, raw: `${field}data: ${data}\n\n` };
}

/** The end of a Chat stream. */
export const DONE: StreamRecord = { event: null, data: "[DONE]", raw: "data: [DONE]\n\n" };

/** A stream after its search, and the most events that were held. */
export interface Run {
  readonly records: readonly StreamRecord[];
  readonly maxHeld: number;
}

/** Runs a stream through a search. */
export function run(
  answer: AnswerText,
  records: readonly StreamRecord[],
  form: AnswerForm = PLAIN,
): Run {
  const restorer = newRecordRestorer(answer, form);
  const out: StreamRecord[] = [];
  let maxHeld = 0;
  for (const [at, record] of records.entries()) {
    out.push(...deliveredBy(restorer.push(record)).records);
    maxHeld = Math.max(maxHeld, at + 1 - out.length);
  }
  out.push(...restorer.end().records);
  return { records: out, maxHeld };
}

/** Returns the texts of a stream joined by what `nameOf` calls them. */
export function joined(
  records: readonly StreamRecord[],
  // deno-lint-ignore no-explicit-any
  textsOf: (value: any) => Iterable<readonly [name: string, text: string]>,
): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const { data } of records) {
    if (data === "" || data === "[DONE]") continue;
    for (const [name, text] of textsOf(JSON.parse(data))) texts[name] = (texts[name] ?? "") + text;
  }
  return texts;
}

/** Returns what an event sets free, also if it is long. */
export function deliveredBy(pushed: ReturnType<RecordRestorer["push"]>): Delivered {
  return "records" in pushed ? pushed : atOnce(pushed);
}
