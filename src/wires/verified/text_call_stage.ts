import type { FinishReason, StreamEvent } from "../../core/stream/events.ts";
import { isObject } from "../../core/json/json.ts";
import { responseEndedEarly, type Result, success } from "../../core/failure/result.ts";
import type { PromiseOf } from "../../prompt/response_promise.ts";
import { parseChecked } from "./schema_check.ts";
import { isCutBy, newHeldEvents, type Stage, type StageOptions } from "./stage.ts";

/**
 * Returns the stage that makes the text of a response the arguments of the one permitted call. The
 * text is held back until it is whole. If the response was cut, the call has the arguments so far.
 */
export function newTextCallStage(
  promise: PromiseOf<"tool_choice">,
  newCallId: () => string,
  options: StageOptions,
): Stage {
  const [name = ""] = promise.permitted;
  const held = newHeldEvents(options);

  function push(event: StreamEvent): Result<readonly StreamEvent[]> {
    switch (event.type) {
      case "text":
        return held.add(event) ?? success([]);
      case "tool_call":
        // The request had no tools.
        return options.breaks(promise, "holds a call beside the required one");
      case "finish":
        return finish(event.reason, event);
      default:
        return success([event]);
    }
  }

  function finish(reason: FinishReason, event: StreamEvent): Result<readonly StreamEvent[]> {
    const text = textOf(held.takeAll()).trim();
    const call = { type: "tool_call", index: 0, id: newCallId(), name } as const;
    if (isObject(parseChecked(text, options.budget))) {
      const ended = isCutBy(reason) ? event : { ...event, reason: "tool_calls" } as const;
      return success([{ ...call, arguments: text }, ended]);
    }
    if (!isCutBy(reason) || !text.startsWith("{")) {
      return options.breaks(promise, "does not hold the required call");
    }
    return success([call, { type: "tool_arguments", index: 0, delta: text }, event]);
  }

  return {
    push,
    end: () => held.isEmpty() ? success([]) : responseEndedEarly(),
    done: () => false,
    isHolding: () => !held.isEmpty(),
    heldBytes: () => held.bytes(),
  };
}

function textOf(events: readonly StreamEvent[]): string {
  return events.map((event) => event.type === "text" ? event.delta : "").join("");
}
