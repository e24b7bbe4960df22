import type { BodyStep } from "./body_stream.ts";
import type { Defect, ModelOutput, StreamChunk } from "./protocol.ts";

/** A broken stream breaks after this number of words. */
const WORDS_BEFORE_DEFECT_COUNT = 4;
const MIB = 1024 * 1024;
/**
 * Characters of padding in the record of a `sim-broken-huge` stream, and in its body without a
 * stream.
 */
const HUGE_CHARS = { record: 4 * MIB + 1, body: 16 * MIB + 1 } as const;

/** The records that a broken stream sends between valid ones. */
export interface DefectRecords {
  record(event: string, data: string): string;
  /** The JSON text of the error record. */
  readonly error: string;
}

/** Yields the body steps of a stream: its records, the pauses between words, and its defect. */
export function* streamBodySteps(
  records: Iterable<StreamChunk>,
  { pauseMs, defect }: ModelOutput,
  defectRecords: DefectRecords,
): Generator<BodyStep> {
  if (defect === "empty") return;
  if (defect === "first") return yield send(defectRecords.record("error", defectRecords.error));
  let words = 0;
  // The pause precedes the first byte, not only the first word.
  if (pauseMs > 0) yield { kind: "pause", ms: pauseMs };
  for (const { text, isWord } of records) {
    if (isWord) words++;
    if (isWord && words > 1 && pauseMs > 0) yield { kind: "pause", ms: pauseMs };
    if (isWord && words === WORDS_BEFORE_DEFECT_COUNT + 1 && defect !== null) {
      yield* defectSteps(defect, text, defectRecords);
      if (defect !== "json" && defect !== "huge") return;
    }
    yield send(text);
  }
}

function* defectSteps(
  defect: Exclude<Defect, "empty" | "first">,
  next: string,
  defectRecords: DefectRecords,
): Generator<BodyStep> {
  switch (defect) {
    case "stream":
      return;
    case "half":
      return yield send(firstHalf(next));
    case "reset":
      return yield* resetSteps();
    case "silent":
      return yield { kind: "silence" };
    case "error":
      return yield send(defectRecords.record("error", defectRecords.error));
    case "json":
      return yield send(defectRecords.record("message", '{"broken":'));
    case "huge": {
      const data = JSON.stringify({ type: "ping", padding: "x".repeat(HUGE_CHARS.record) });
      return yield send(defectRecords.record("ping", data));
    }
  }
}

/** Yields the body steps of a whole response with a defect. */
export function* wholeBodySteps(body: string, defect: Defect, error: string): Generator<BodyStep> {
  switch (defect) {
    case "empty":
      return;
    case "stream":
    case "half":
      return yield send(firstHalf(body));
    case "reset":
      yield send(firstHalf(body));
      return yield* resetSteps();
    case "silent":
      yield send(firstHalf(body));
      return yield { kind: "silence" };
    case "error":
    case "first":
      return yield send(error);
    case "json":
      return yield send(`${body.slice(0, -1)},}`);
    case "huge":
      return yield send(`${body.slice(0, -1)},"padding":"${"x".repeat(HUGE_CHARS.body)}"}`);
  }
}

// A server discards unwritten bytes when a body fails, so the bytes sent before need time to be
// written.
function* resetSteps(): Generator<BodyStep> {
  yield { kind: "pause", ms: 50 };
  yield { kind: "reset" };
}

function send(text: string): BodyStep {
  return { kind: "send", text };
}

function firstHalf(text: string): string {
  return text.slice(0, Math.floor(text.length / 2));
}
