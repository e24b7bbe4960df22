import type { StreamTranslation } from "../../core/stream/stream.ts";
import { isExactId } from "../../core/ids.ts";
import { isObject, parseJson } from "../../core/json/json.ts";
import type { StreamRecord, UpstreamResponse } from "../../core/stream/reply.ts";
import { type Failed, invalidResponse, type Result, success } from "../../core/failure/result.ts";
import { hasKeyTwice } from "../../formats/document.ts";
import { parseMembers } from "../../formats/edit.ts";
import { utf8Text } from "../../formats/utf8.ts";
import { parseRecord } from "../../wires/compat/record.ts";
import type { StreamHandler, WholeHandler } from "../../call/inference.ts";

/**
 * Returns a handler for a completion that the upstream stores: a response without an exact id is a
 * fault.
 */
export function requireStoredId(
  reader: WholeHandler | StreamHandler,
): WholeHandler | StreamHandler {
  if (reader.kind === "stream") {
    return { ...reader, translation: newStoredRelay(reader.translation) };
  }
  return {
    kind: "whole",
    read(answer) {
      const id = storedId(answer);
      if (!id.ok) return id;
      const read = reader.read(answer);
      if (!read.ok) return read;
      const outcome = { ...read.value.outcome, resource: { id: id.value } };
      return success({ response: read.value.response, outcome });
    },
  };
}

/**
 * Returns a relay of a completion that the upstream stores. Every chunk must hold the same exact id
 * and its type, because the id later identifies the client of the completion. No field is filled
 * in.
 */
function newStoredRelay(relay: StreamTranslation): StreamTranslation {
  let id: string | null = null;

  function problem(record: StreamRecord): Failed | null {
    const read = parseRecord(record);
    // What is no chunk at all is for the relay to say.
    if (!read.ok || read.value.kind !== "chunk") return null;
    const own = findIdentity(record.data, "chat.completion.chunk");
    if (own === null || (id !== null && own !== id)) return unfit();
    id = own;
    return null;
  }

  const { keepAlive } = relay;
  return {
    ...keepAlive !== undefined && { keepAlive },
    push: (record) => problem(record) ?? relay.push(record),
    end: () => relay.end(),
    fail: (failure) => relay.fail(failure),
    done: () => relay.done(),
    usage: () => relay.usage(),
    ...relay.heldBytes !== undefined && { heldBytes: relay.heldBytes },
    outcome() {
      const outcome = relay.outcome();
      return outcome === null ? null : { ...outcome, resource: { id } };
    },
  };
}

/**
 * Returns the id of a whole completion that the upstream stores; a fault if the upstream sent no
 * id.
 */
function storedId(answer: UpstreamResponse): Result<string> {
  const text = utf8Text(answer.body);
  const id = text === null ? null : findIdentity(text, "chat.completion");
  return id === null ? unfit() : success(id);
}

/**
 * Returns the id of an object; null also for a repeated key, of which other parsers could take
 * another id.
 */
function findIdentity(text: string, expected: string): string | null {
  const value = parseJson(text);
  if (!isObject(value) || hasKeyTwice(parseMembers(text), value)) return null;
  return value.object === expected && isExactId(value.id) ? value.id : null;
}

function unfit(): Failed {
  return invalidResponse("The provider's response has no exact id under which it could be stored.");
}
