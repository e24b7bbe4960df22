import type { Codec, Decoder, StreamTranslation } from "./codec.ts";
import type { StreamEvent, Usage } from "./events.ts";
import type { Failure } from "./failure.ts";
import type { JsonObject } from "./json/json.ts";
import { pushAll } from "./push_all.ts";
import type { StreamRecord } from "./reply.ts";
import { type Result, success } from "./result.ts";

/**
 * Encodes stream events as records of the client's protocol. `end` returns the terminal records of
 * a complete response.
 */
export interface EventEncoder extends Codec<StreamEvent, StreamRecord> {
  /**
   * Returns the terminal records of a broken stream. They also replace the terminal that `end`
   * returned.
   */
  fail(failure: Failure): readonly StreamRecord[];
  /** Returns the token counts as far as they are known; null if the upstream sent none. */
  usage(): Usage | null;
  /**
   * Returns the resource to store after a complete response; null if the client API stores none.
   */
  resource(): JsonObject | null;
}

/**
 * Returns a translation from the upstream's protocol to the client's. If the decoder or the encoder
 * fails on a record, none of its output is sent. The translation is done when the decoder is, after
 * the encoder's terminal.
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
