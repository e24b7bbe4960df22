import { EVENT_BYTES, type StreamTranslation } from "../../core/stream/stream.ts";
import { isObject, parseJson } from "../../core/json/json.ts";
import { charsOf, keptRecord, type StreamRecord } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { utf8Text } from "../../formats/utf8.ts";
import type { StreamHandler, WholeHandler } from "../../call/inference.ts";
import { decode, newDecoder } from "../../wires/compat/decode.ts";
import { newStagedDecoder, passStage } from "../../wires/verified/verifier.ts";
import type { Stage } from "../../wires/verified/stage.ts";
import type { IdSource } from "../../wires/wire.ts";

/**
 * Returns a relay whose responses keep the promises that the stage checks. The records are
 * delivered as without it; those of a call that must be checked wait until it is whole.
 */
export function verifyRelay(
  handler: WholeHandler | StreamHandler,
  stage: Stage,
  idSource: IdSource,
): WholeHandler | StreamHandler {
  return handler.kind === "stream"
    ? { ...handler, translation: newVerifiedRelay(handler.translation, stage, idSource) }
    : newVerifiedReader(handler, stage, idSource);
}

function newVerifiedReader(
  handler: WholeHandler,
  stage: Stage,
  idSource: IdSource,
): WholeHandler {
  return {
    ...handler,
    read(answer) {
      const read = handler.read(answer);
      if (!read.ok) return read;
      const text = utf8Text(read.value.response.body);
      const value = text === null ? undefined : parseJson(text);
      if (text === null || !isObject(value)) return read;
      const events = decode({ text, value }, idSource);
      const kept = events.ok ? passStage(events.value, stage) : events;
      return kept.ok ? read : kept;
    },
  };
}

function newVerifiedRelay(
  relay: StreamTranslation,
  stage: Stage,
  idSource: IdSource,
): StreamTranslation {
  const decoder = newStagedDecoder(newDecoder(idSource), stage);
  let held: StreamRecord[] = [];
  let heldChars = 0;

  function checked(records: Result<readonly StreamRecord[]>): typeof records {
    if (!records.ok) return records;
    for (const record of records.value) {
      const events = decoder.push(record);
      if (!events.ok) return events;
    }
    if (stage.isHolding()) {
      for (const record of records.value) held.push(keptRecord(record));
      heldChars += charsOf(records.value);
      return success([]);
    }
    const released = [...held, ...records.value];
    held = [];
    heldChars = 0;
    return success(released);
  }

  return {
    ...relay,
    push: (record) => checked(relay.push(record)),
    end: () => checked(relay.end()),
    isHolding: () => stage.isHolding() || relay.isHolding?.() === true,
    heldBytes: () =>
      (relay.heldBytes?.() ?? 0) + (decoder.heldBytes?.() ?? 0) + heldChars +
      held.length * EVENT_BYTES,
  };
}
