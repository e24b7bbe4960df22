import type { StreamEvent } from "../../core/stream/events.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Stage } from "../verified/stage.ts";
import { newNumberReader, type NumberedFunctions, type NumberReader } from "./text_enums.ts";

/**
 * Returns the stage that turns the texts in the arguments of calls back to numbers, where the host
 * has numbers as texts.
 */
export function newNumberStage(functions: NumberedFunctions): Stage {
  const readers = new Map<number, NumberReader>();
  let heldBytes = 0;

  function begin(call: StreamEvent & { type: "tool_call" }): StreamEvent {
    const numbers = functions.get(call.name);
    if (numbers === undefined) return call;
    const reader = newNumberReader(numbers);
    readers.set(call.index, reader);
    return call.arguments === undefined
      ? call
      : { ...call, arguments: reader.push(call.arguments) };
  }

  function push(event: StreamEvent): Result<readonly StreamEvent[]> {
    if (event.type === "tool_call") return success([begin(event)]);
    if (event.type !== "tool_arguments") return success([event]);
    const reader = readers.get(event.index);
    const before = reader?.heldBytes() ?? 0;
    const delta = reader?.push(event.delta) ?? event.delta;
    heldBytes += (reader?.heldBytes() ?? 0) - before;
    return success(delta === "" && event.isLast !== true ? [] : [{ ...event, delta }]);
  }

  return {
    push,
    end: () => success([]),
    done: () => false,
    isHolding: () => false,
    heldBytes: () => heldBytes,
  };
}
