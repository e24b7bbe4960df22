import type { FinishReason, StreamEvent } from "../../core/events.ts";
import { type Result, success } from "../../core/result.ts";
import { newJsonObjectText } from "./json_object_text.ts";
import type { PromiseOf } from "./response_promise.ts";
import {
  endedEarly,
  isCutBy,
  newHeldEvents,
  type Stage,
  type StageOptions,
  tooMuchHeld,
} from "./stage.ts";

/** Maximum length of the text of a stream that is stored for its check, and of its pieces. */
const MAX_CHECKED_CHARS = 16 * 1024 * 1024, MAX_CHECKED_PIECES = 1024 * 1024;

/**
 * Returns the stage that checks that the text of a response is one JSON object, and of a schema if the
 * promise has one. White space is held back until the object begins; then the text flows while it is the
 * text of an object. A response with calls or a refusal needs no text.
 */
export function newJsonStage(
  promise: PromiseOf<"json_object"> | PromiseOf<"json_schema">,
  options: StageOptions,
): Stage {
  const schema = promise.kind === "json_schema" ? promise.schema : null;
  const text = newJsonObjectText();
  const held = newHeldEvents(options);
  const pieces: string[] = [];
  let length = 0;
  let isFree = false;
  let hasText = false;
  let needsNoText = false;

  function push(event: StreamEvent): Result<readonly StreamEvent[]> {
    if (event.type === "finish") return finish(event.reason, event);
    if (event.type === "tool_call" || event.type === "refusal") needsNoText = true;
    if (event.type === "text" && event.delta !== "") {
      hasText = true;
      if (schema !== null && !store(event.delta)) return tooMuchHeld();
      if (!text.add(event.delta)) return broken("holds text that is no JSON object");
      if (text.isBegun()) isFree = true;
    }
    const isBlank = event.type === "text" && !isFree;
    if (!isBlank && (isFree || held.isEmpty())) return success([...held.takeAll(), event]);
    return held.add(event) ?? success([]);
  }

  function finish(reason: FinishReason, event: StreamEvent): Result<readonly StreamEvent[]> {
    const isIncomplete = !text.isWhole() && !isCutBy(reason) && !(needsNoText && !hasText);
    if (isIncomplete) return broken("ends before its JSON object does");
    const problem = text.isWhole() ? schema?.problem(pieces.join("")) ?? null : null;
    if (problem !== null) return broken(`is ${problem}`);
    return success([...held.takeAll(), event]);
  }

  /** Stores a piece of the text. Returns false if a stream has more than can be stored. */
  function store(piece: string): boolean {
    pieces.push(piece);
    length += piece.length;
    return !options.isStream ||
      (length <= MAX_CHECKED_CHARS && pieces.length <= MAX_CHECKED_PIECES);
  }

  function broken(what: string) {
    return options.breaks(promise, what);
  }

  return {
    push,
    end: () => held.isEmpty() ? success([]) : endedEarly(),
    done: () => false,
    isHolding: () => false,
  };
}
