import type { Step } from "./playback.ts";
import type { Chunk, Defect, Script } from "./voice.ts";

/** A broken stream breaks after so many words. */
const WORDS_BEFORE = 4;
const MIB = 1024 * 1024;
/** Characters in the record of `sim-broken-huge`, and in its body when it does not stream. */
const HUGE = { record: 4 * MIB + 1, body: 16 * MIB + 1 } as const;

/** The records that a broken stream puts among the good ones. */
export interface Spoiled {
  record(event: string, data: string): string;
  /** The data of an error record. */
  readonly error: string;
}

/** A stream as its steps: the records, the pauses between words, and the place where it breaks. */
export function* streamSteps(
  records: Iterable<Chunk>,
  { pause, defect }: Script,
  spoiled: Spoiled,
): Generator<Step> {
  if (defect === "empty") return;
  if (defect === "first") return yield send(spoiled.record("error", spoiled.error));
  let words = 0;
  // The first byte comes after a pause, and the first word with it.
  if (pause > 0) yield { do: "pause", ms: pause };
  for (const { text, word } of records) {
    if (word) words++;
    if (word && words > 1 && pause > 0) yield { do: "pause", ms: pause };
    if (word && words === WORDS_BEFORE + 1 && defect !== null) {
      yield* breakOff(defect, text, spoiled);
      if (defect !== "json" && defect !== "huge") return;
    }
    yield send(text);
  }
}

function* breakOff(
  defect: Exclude<Defect, "empty" | "first">,
  next: string,
  spoiled: Spoiled,
): Generator<Step> {
  switch (defect) {
    case "stream":
      return;
    case "half":
      return yield send(half(next));
    case "reset":
      return yield* reset();
    case "silent":
      return yield { do: "fall_silent" };
    case "error":
      return yield send(spoiled.record("error", spoiled.error));
    case "json":
      return yield send(spoiled.record("message", '{"broken":'));
    case "huge": {
      const data = JSON.stringify({ type: "ping", padding: "x".repeat(HUGE.record) });
      return yield send(spoiled.record("ping", data));
    }
  }
}

/** A whole answer that breaks, as its steps. */
export function* answerSteps(body: string, defect: Defect, error: string): Generator<Step> {
  switch (defect) {
    case "empty":
      return;
    case "stream":
    case "half":
      return yield send(half(body));
    case "reset":
      yield send(half(body));
      return yield* reset();
    case "silent":
      yield send(half(body));
      return yield { do: "fall_silent" };
    case "error":
    case "first":
      return yield send(error);
    case "json":
      return yield send(`${body.slice(0, -1)},}`);
    case "huge":
      return yield send(`${body.slice(0, -1)},"padding":"${"x".repeat(HUGE.body)}"}`);
  }
}

// A server drops what it has not written yet when a body fails: what was sent needs time to leave.
function* reset(): Generator<Step> {
  yield { do: "pause", ms: 50 };
  yield { do: "reset" };
}

function send(text: string): Step {
  return { do: "send", text };
}

function half(text: string): string {
  return text.slice(0, Math.floor(text.length / 2));
}
