import type { StreamEvent } from "../../core/stream/events.ts";
import { EVENT_BYTES } from "../../core/stream/stream.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { type Stage, tooMuchHeld } from "../../wires/verified/stage.ts";
import { inputOf, type InputReader, newInputReader } from "./custom_input.ts";

/** Maximum size of the arguments that are held back: the limit of a translated stream. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/**
 * Returns the stage that makes the calls of `bridged` functions calls of custom tools again. The
 * request decides the kind of a call, never the model: a client runs no function of that name.
 * `onCall` is called for each of them.
 */
export function newCustomCallStage(bridged: ReadonlySet<string>, onCall: () => void): Stage {
  const open = new Map<number, InputReader>();
  let heldBytes = 0;

  function push(event: StreamEvent): Result<readonly StreamEvent[]> {
    switch (event.type) {
      case "tool_call":
        return success([bridged.has(event.name) ? begin(event) : event]);
      case "tool_arguments": {
        const reader = open.get(event.index);
        return reader === undefined ? success([event]) : add(reader, event);
      }
      case "finish":
        return success([...finish(), event]);
      default:
        return success([event]);
    }
  }

  function begin(call: StreamEvent & { type: "tool_call" }): StreamEvent {
    const { arguments: text } = call;
    onCall();
    if (text !== undefined) return { ...call, kind: "custom", arguments: inputOf(text) };
    open.set(call.index, newInputReader());
    return { ...call, kind: "custom" };
  }

  function add(
    reader: InputReader,
    event: StreamEvent & { type: "tool_arguments" },
  ): Result<readonly StreamEvent[]> {
    if (reader.isWhole()) return success([]);
    const heldBefore = reader.heldChars();
    const delta = reader.push(event.delta);
    const added = reader.heldChars() - heldBefore;
    heldBytes += added > 0 ? added + EVENT_BYTES : added;
    if (heldBytes > MAX_HELD_BYTES) return tooMuchHeld();
    const isLast = reader.isWhole();
    if (!isLast && delta === "") return success([]);
    return success([{ ...event, delta, ...isLast && { isLast } }]);
  }

  function finish(): readonly StreamEvent[] {
    const rest = [...open].flatMap(([index, reader]) => {
      const delta = reader.end();
      return delta === "" ? [] : [{ type: "tool_arguments" as const, index, delta }];
    });
    open.clear();
    return rest;
  }

  return {
    push,
    end: () => success([]),
    done: () => false,
    isHolding: () => false,
    heldBytes: () => heldBytes,
  };
}
