import type { FinishReason, StreamEvent } from "../../core/stream/events.ts";
import { responseEndedEarly, type Result, success } from "../../core/failure/result.ts";
import { EVENT_BYTES } from "../../core/stream/stream.ts";
import { STEP_CHARS } from "./check_budget.ts";
import { newJsonObjectText } from "./json_object_text.ts";
import type { PromiseOf } from "../../prompt/response_promise.ts";
import { isCutBy, newHeldEvents, type Stage, type StageOptions } from "./stage.ts";

/** Problem of a response whose text is no object. */
const NO_OBJECT = "holds text that is no JSON object";

/**
 * Returns the stage that checks that the text of a response is one JSON object, and of a schema if
 * the promise has one. White space is held back until the object begins; then the text flows while
 * it is the text of an object. A response with calls may have any text, and one with a refusal
 * needs none: if the request permits calls, text that is no object is held back until a call
 * begins.
 */
export function newJsonStage(
  promise: PromiseOf<"json_object"> | PromiseOf<"json_schema">,
  options: StageOptions,
): Stage {
  const { budget } = options;
  const schema = promise.kind === "json_schema" ? promise.schema : null;
  const text = newJsonObjectText();
  const held = newHeldEvents(options);
  const pieces: string[] = [];
  let pieceBytes = 0;
  let isFree = false;
  let isSound = true;
  let hasText = false;
  let hasCalls = false;
  let hasRefusal = false;

  function push(event: StreamEvent): Result<readonly StreamEvent[]> {
    if (event.type === "finish") return finish(event.reason, event);
    if (event.type === "tool_call") hasCalls = true;
    if (event.type === "refusal") hasRefusal = true;
    if (hasCalls) return success([...held.takeAll(), event]);
    if (event.type === "text" && event.delta !== "") {
      hasText = true;
      read(event.delta);
      if (budget.steps < 0 || (!isSound && !promise.permitsCalls)) return broken(NO_OBJECT);
      isFree = isSound && text.isBegun();
    }
    const isWaiting = event.type === "text" && !isFree;
    if (!isWaiting && (isFree || held.isEmpty())) return success([...held.takeAll(), event]);
    const tooMuch = held.add(event);
    if (tooMuch !== null) return tooMuch;
    return !isSound && held.isOverdue() ? broken(NO_OBJECT) : success([]);
  }

  function read(piece: string): void {
    if (!isSound) return;
    budget.steps -= Math.ceil(piece.length / STEP_CHARS);
    isSound = budget.steps >= 0 && text.add(piece);
    if (schema === null) return;
    pieces.push(piece);
    pieceBytes += piece.length + EVENT_BYTES;
  }

  function finish(reason: FinishReason, event: StreamEvent): Result<readonly StreamEvent[]> {
    const problem = hasCalls ? null : findProblem(reason);
    return problem === null ? success([...held.takeAll(), event]) : broken(problem);
  }

  function findProblem(reason: FinishReason): string | null {
    if (!isSound) return NO_OBJECT;
    if (text.isWhole()) {
      const problem = schema?.problem(pieces.join(""), budget) ?? null;
      return problem === null ? null : `is ${problem}`;
    }
    const isIncomplete = !isCutBy(reason) && (hasText || !hasRefusal);
    return isIncomplete ? "ends before its JSON object does" : null;
  }

  function broken(what: string) {
    return options.breaks(promise, what);
  }

  return {
    push,
    end: () => held.isEmpty() ? success([]) : responseEndedEarly(),
    done: () => false,
    isHolding: () => false,
    heldBytes: () => held.bytes() + pieceBytes,
  };
}
