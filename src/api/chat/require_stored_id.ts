import type { StreamTranslation } from "../../core/codec.ts";
import { isExactId } from "../../core/ids.ts";
import { isObject, parseJson } from "../../core/json/json.ts";
import type { StreamRecord, UpstreamResponse } from "../../core/reply.ts";
import { type Failed, fault, type Result, success } from "../../core/result.ts";
import { hasKeyTwice } from "../../formats/document.ts";
import { parseMembers } from "../../formats/edit.ts";
import { utf8Text } from "../../formats/utf8.ts";
import { parseRecord } from "../../wires/compat/record.ts";
import type { ResponseHandler } from "../../call/inference.ts";

/** The reader of a completion that its upstream is to keep: one without an exact id is a fault. */
export function stored(reader: ResponseHandler): ResponseHandler {
  if (reader.kind === "stream") return { ...reader, delivery: storedRelay(reader.delivery) };
  return {
    kind: "answer",
    read(answer) {
      const id = storedId(answer);
      if (!id.ok) return id;
      const read = reader.read(answer);
      if (!read.ok) return read;
      const outcome = { ...read.value.outcome, resource: { id: id.value } };
      return success({ answer: read.value.answer, outcome });
    },
  };
}

/**
 * A relay of a completion that its upstream is to keep: every chunk must tell one and the same exact
 * id and its type, because the id says later whose completion it is. Nothing is filled in.
 */
function storedRelay(relay: StreamTranslation): StreamTranslation {
  let id: string | null = null;

  function problem(record: StreamRecord): Failed | null {
    const read = parseRecord(record);
    // What is no chunk at all is for the relay to say.
    if (!read.ok || read.value.kind !== "chunk") return null;
    const own = identityOf(record.data, "chat.completion.chunk");
    if (own === null || (id !== null && own !== id)) return unfit();
    id = own;
    return null;
  }

  return {
    push: (record) => problem(record) ?? relay.push(record),
    end: () => relay.end(),
    fail: (failure) => relay.fail(failure),
    done: () => relay.done(),
    usage: () => relay.usage(),
    outcome() {
      const outcome = relay.outcome();
      return outcome === null ? null : { ...outcome, resource: { id } };
    },
  };
}

/** The id of a whole completion that its upstream is to keep; a fault when it has none of its own. */
function storedId(answer: UpstreamResponse): Result<string> {
  const text = utf8Text(answer.body);
  const id = text === null ? null : identityOf(text, "chat.completion");
  return id === null ? unfit() : success(id);
}

/** Null also where a key comes twice: other readers could take another id from the same text. */
function identityOf(text: string, expected: string): string | null {
  const value = parseJson(text);
  if (!isObject(value) || hasKeyTwice(parseMembers(text), value)) return null;
  return value.object === expected && isExactId(value.id) ? value.id : null;
}

function unfit(): Failed {
  return fault(
    "invalid_upstream_response",
    "The provider's answer has no exact id under which it could be kept.",
  );
}
