import type { Codec, Decoder, StreamTranslation } from "./codec.ts";
import type { StreamEvent, Usage } from "./events.ts";
import type { Failure } from "./failure.ts";
import type { JsonObject } from "./json/json.ts";
import { pushAll } from "./push_all.ts";
import type { StreamRecord } from "./reply.ts";
import { type Result, success } from "./result.ts";

/** Makes a client's records of what a model says; `end` gives the terminal of a complete answer. */
export interface EventEncoder extends Codec<StreamEvent, StreamRecord> {
  /** Returns the terminal of an answer that broke, also in place of the one that `end` has returned. */
  fail(failure: Failure): readonly StreamRecord[];
  /** What the answer took, as far as it is known; null when the upstream is silent. */
  usage(): Usage | null;
  /** What there is to be kept once the answer is complete; null where the client API keeps nothing. */
  resource(): JsonObject | null;
}

/**
 * Reads one protocol and writes another. Fails when either side does, and then nothing of that
 * record goes out; it is done when the decoder is, with the encoder's terminal.
 */
export function translateStream(decoder: Decoder, encoder: EventEncoder): StreamTranslation {
  let done = false;

  function encode(
    events: Result<readonly StreamEvent[]>,
    isLast: boolean,
  ): Result<readonly StreamRecord[]> {
    if (!events.ok) return events;
    const records: StreamRecord[] = [];
    for (const event of events.value) {
      const step = encoder.push(event);
      if (!step.ok) return step;
      pushAll(records, step.value);
    }
    if (!isLast) return success(records);
    const terminal = encoder.end();
    if (!terminal.ok) return terminal;
    done = true;
    return success([...records, ...terminal.value]);
  }

  return {
    push(record) {
      if (done) return success([]);
      const events = decoder.push(record);
      return encode(events, decoder.done());
    },
    end() {
      return done ? success([]) : encode(decoder.end(), true);
    },
    fail: (failure) => encoder.fail(failure),
    done: () => done,
    usage: () => decoder.usage(),
    outcome: () => done ? { resource: encoder.resource(), usage: encoder.usage() } : null,
  };
}
