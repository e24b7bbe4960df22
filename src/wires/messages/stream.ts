import { malformed } from "../openai/errors.ts";
import { type Decoder, ITEM_BYTES, MAX_CALLS, tooManyCalls } from "../../core/stream/stream.ts";
import type { StreamEvent } from "../../core/stream/events.ts";
import {
  isObject,
  isTooDeep,
  type JsonObject,
  numberOf,
  parseExact,
  parseJson,
} from "../../core/json/json.ts";
import type { StreamRecord } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { newCallIds } from "../call_ids.ts";
import type { IdSource } from "../wire.ts";
import { decodeEnd, decodeStart, newStreamUsage } from "./response.ts";
import { type Counts, type OpenBlock, openBlock } from "./blocks.ts";
import { reportedFault } from "./errors.ts";
import type { Optional } from "../../prompt/refusals.ts";

type Events = Result<readonly StreamEvent[]>;

const NOTHING: Events = { ok: true, value: [] };

/**
 * Returns the decoder of a Messages stream. The `type` in the data decides, because the event line
 * only repeats it. Usage and finish are emitted at message_stop; a stream that ends earlier is a
 * failure (Messages API, streaming).
 */
export function newDecoder(idSource: IdSource): Decoder {
  const open = new Map<number, OpenBlock>();
  const counts: Counts = { textLength: 0, calls: 0, nameCall: newCallIds(idSource) };
  const usage = newStreamUsage();
  let stop: { readonly reason: Optional; readonly details: Optional } = {
    reason: null,
    details: null,
  };
  let hasBrokenCall = false;
  /** Bytes that are held of all open blocks. */
  let openBytes = 0;
  let done = false;

  function push(record: StreamRecord): Events {
    // A record of comments has no data.
    if (record.data === "") return NOTHING;
    const data = parseJson(record.data);
    if (!isObject(data)) return malformed("a stream record that is no JSON object");
    switch (data.type) {
      case "message_start": {
        const message = isObject(data.message) ? data.message : {};
        usage.start(message.usage);
        return success([decodeStart(message, idSource)]);
      }
      case "content_block_start":
        return start(data, record.data);
      case "content_block_delta":
        return add(data);
      case "content_block_stop":
        return success(close(numberOf(data.index)));
      case "message_delta": {
        const delta = isObject(data.delta) ? data.delta : {};
        stop = {
          reason: delta.stop_reason ?? stop.reason,
          details: delta.stop_details ?? stop.details,
        };
        usage.delta(data.usage);
        return NOTHING;
      }
      case "message_stop":
        return finish();
      case "error":
        return reportedFault(data);
      default:
        return NOTHING;
    }
  }

  function start(data: JsonObject, text: string): Events {
    const index = numberOf(data.index);
    if (index === null) return malformed("a content block without an index");
    if (isTooDeep(data)) return malformed("a content block that is nested too deeply");
    const exact = parseExact(text);
    const opening = openBlock(isObject(exact) ? exact.content_block : undefined, counts);
    if (!opening.ok) return opening;
    // Some servers start a block with the index of a block that they never stopped.
    const closed = close(index);
    open.set(index, opening.value.block);
    openBytes += opening.value.block.heldBytes();
    if (open.size > MAX_CALLS) return tooManyCalls();
    return success([...closed, ...opening.value.events]);
  }

  function add(data: JsonObject): Events {
    const index = numberOf(data.index);
    const block = index === null ? undefined : open.get(index);
    if (block === undefined || !isObject(data.delta)) return malformed("a delta without a block");
    const before = block.heldBytes();
    const added = block.add(data.delta);
    openBytes += block.heldBytes() - before;
    return added;
  }

  function close(index: number | null): readonly StreamEvent[] {
    const block = index === null ? undefined : open.get(index);
    if (block === undefined || index === null) return [];
    open.delete(index);
    openBytes -= block.heldBytes();
    const events = block.close();
    hasBrokenCall ||= !block.isSound();
    return events;
  }

  function finish(): Events {
    const closed = [...open.keys()].flatMap(close);
    const end = decodeEnd(stop, usage.end(), counts.calls > 0);
    if (!end.ok) return end;
    // Arguments truncated by the token limit are delivered, like any text that the limit truncates.
    const isCut = end.value.some((event) => event.type === "finish" && event.reason === "length");
    if (hasBrokenCall && !isCut) return malformed("tool arguments that are no JSON object");
    done = true;
    return success([...closed, ...end.value]);
  }

  return {
    push,
    end: () => done ? NOTHING : malformed("a stream that ends before the response does"),
    done: () => done,
    heldBytes: () => openBytes + open.size * ITEM_BYTES,
    usage: usage.counted,
  };
}
