import type { StreamTranslation } from "../../core/stream/stream.ts";
import type { StreamEvent } from "../../core/stream/events.ts";
import { isObject, parseJson } from "../../core/json/json.ts";
import { type CallingReasoning, newReasoningCollector } from "../../core/stream/reasoning.ts";
import type { StreamRecord } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { utf8Text } from "../../formats/utf8.ts";
import type { StreamHandler, WholeHandler } from "../../call/inference.ts";
import { decode, newDecoder } from "../../wires/compat/decode.ts";
import type { IdSource } from "../../wires/wire.ts";

/**
 * Returns a relay that also collects what the host has signed of the first choice, with the call
 * IDs that the client gets. The response is delivered as without it.
 */
export function collectReasoning(
  handler: WholeHandler | StreamHandler,
  idSource: IdSource,
): WholeHandler | StreamHandler {
  return handler.kind === "stream"
    ? { ...handler, translation: newCollectingRelay(handler.translation, idSource) }
    : newCollectingReader(handler, idSource);
}

function newCollectingReader(handler: WholeHandler, idSource: IdSource): WholeHandler {
  return {
    ...handler,
    read(answer) {
      const read = handler.read(answer);
      if (!read.ok) return read;
      const { response, outcome } = read.value;
      const collector = newReasoningCollector();
      const text = utf8Text(response.body);
      const value = text === null ? undefined : parseJson(text);
      if (text !== null && isObject(value)) {
        const events = decode({ text, value }, idSource);
        if (events.ok) events.value.forEach(collector.push);
      }
      return success({ response, outcome: { ...outcome, ...collected(collector.value()) } });
    },
  };
}

function newCollectingRelay(relay: StreamTranslation, idSource: IdSource): StreamTranslation {
  const decoder = newDecoder(idSource);
  const collector = newReasoningCollector();

  function collect(records: Result<readonly StreamRecord[]>): typeof records {
    for (const record of records.ok ? records.value : []) take(decoder.push(record));
    return records;
  }

  // A record that only this decoder refuses is not collected: the client gets it nevertheless.
  function take(events: Result<readonly StreamEvent[]>): void {
    if (events.ok) events.value.forEach(collector.push);
  }

  return {
    ...relay,
    push: (record) => collect(relay.push(record)),
    end: () => collect(relay.end()),
    heldBytes: () =>
      (relay.heldBytes?.() ?? 0) + (decoder.heldBytes?.() ?? 0) + collector.heldChars(),
    outcome() {
      const outcome = relay.outcome();
      return outcome === null ? null : { ...outcome, ...collected(collector.value()) };
    },
  };
}

function collected(reasoning: CallingReasoning | null) {
  return reasoning === null ? {} : { reasoning };
}
