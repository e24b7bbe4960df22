import type { StreamEvent } from "../../core/events.ts";
import { isObject, type JsonObject, type JsonValue, parseExact } from "../../core/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { Optional } from "../fields.ts";
import type { Mint } from "../wire.ts";
import { malformed } from "../compat_errors.ts";

type Events = Result<readonly StreamEvent[]>;

/** Reads the calls of one message, whole or in deltas. */
export interface CallReader {
  /** The events of `tool_calls` and of the older `function_call`; `text` is what held them. */
  read(message: JsonObject, text: string): Events;
  /** Announces the calls that have a name and never got an id; fails for one without a name. */
  end(): Events;
  /** How many calls there have been. */
  count(): number;
}

/** A call as far as it is known. */
interface Call {
  id: string;
  name: string;
  /** Its number among the announced ones; null until then. */
  index: number | null;
  /** Arguments that came before it was announced. */
  waiting: string;
}

/**
 * Tells calls apart. The `index` may be missing, and some servers give it to every whole call anew;
 * name and id may be repeated. Every id is used once in an answer; one that is missing is made.
 */
export function callReader(mint: Mint): CallReader {
  const calls: Call[] = [];
  const byIndex = new Map<Optional, Call>();
  /** The first call with each id: a search of all calls for each would take quadratic time. */
  const byId = new Map<string, Call>();
  const used = new Set<string>();
  let announced = 0;

  function read(message: JsonObject, text: string): Events {
    const list = message.tool_calls ?? [];
    if (!Array.isArray(list)) return malformed("tool calls that are no list");
    const legacy = message.function_call ?? null;
    const given = legacy === null ? list : [...list, { index: "legacy", function: legacy }];
    const events: StreamEvent[] = [];
    let exact: readonly JsonValue[] | null = null;
    for (const [at, item] of given.entries()) {
      if (!isObject(item) || (item.type ?? "function") !== "function") {
        return malformed("a tool call that is no function call");
      }
      const called = item.function ?? {};
      if (!isObject(called)) return malformed("a malformed tool call");
      const call = callOf(item, called.name);
      call.id ||= textOf(item.id);
      if (call.id !== "" && !byId.has(call.id)) byId.set(call.id, call);
      call.name ||= textOf(called.name);
      // The text is read once more at most, however many calls it holds.
      const piece = argumentsText(
        called.arguments ?? "",
        () => exactArguments(exact ??= exactCalls(text), at),
      );
      if (piece === null) return malformed("tool arguments that are no text");
      events.push(...add(call, piece));
    }
    return success(events);
  }

  function callOf(item: JsonObject, name: Optional): Call {
    const index = item.index ?? null;
    const id = textOf(item.id);
    const known = index === null ? unnumbered(id, textOf(name)) : byIndex.get(index);
    const isAnother = known !== undefined && textOf(name) !== "" && id !== "" && known.id !== "" &&
      known.id !== id;
    if (known !== undefined && !isAnother) return known;
    const call: Call = { id: "", name: "", index: null, waiting: "" };
    calls.push(call);
    if (index !== null) byIndex.set(index, call);
    return call;
  }

  /** Without a number: the call with that id, or the last one when nothing speaks of a new one. */
  function unnumbered(id: string, name: string): Call | undefined {
    if (id !== "") return byId.get(id);
    return name === "" ? calls.at(-1) : undefined;
  }

  function add(call: Call, piece: string): readonly StreamEvent[] {
    if (call.index !== null) return delta(call.index, piece);
    call.waiting += piece;
    // Who sends arguments sends no id any more.
    return call.name !== "" && (call.id !== "" || call.waiting !== "") ? announce(call) : [];
  }

  function announce(call: Call): readonly StreamEvent[] {
    const index = announced++;
    call.index = index;
    const id = freshId(call.id);
    call.id ||= id;
    return [{ type: "tool_call", index, id, name: call.name }, ...delta(index, call.waiting)];
  }

  function freshId(given: string): string {
    let id = given;
    // From the back: what makes ids differ stands there.
    while (id === "" || used.has(id)) id = `call_${mint.uuid().replaceAll("-", "").slice(-24)}`;
    used.add(id);
    return id;
  }

  return {
    read,
    end() {
      if (calls.some(({ name }) => name === "")) return malformed("a tool call without a name");
      return success(calls.filter(({ index }) => index === null).flatMap(announce));
    },
    count: () => calls.length,
  };
}

function delta(index: number, piece: string): readonly StreamEvent[] {
  return piece === "" ? [] : [{ type: "tool_arguments", index, delta: piece }];
}

function textOf(value: Optional): string {
  return typeof value === "string" ? value : "";
}

/** Some servers send the object instead of its text; then its numbers must keep theirs. */
function argumentsText(given: JsonValue, exact: () => JsonValue | undefined): string | null {
  if (typeof given === "string") return given;
  return isObject(given) ? JSON.stringify(exact() ?? given) : null;
}

/** The calls of the message in a text, with numbers that keep their text. */
function exactCalls(text: string): readonly JsonValue[] {
  const body = parseExact(text);
  const choices = isObject(body) ? body.choices : undefined;
  const choice = Array.isArray(choices)
    ? choices.filter(isObject).find(({ index }) => (index ?? 0) === 0)
    : undefined;
  const message = choice?.message ?? choice?.delta;
  const list = isObject(message) ? message.tool_calls : undefined;
  return Array.isArray(list) ? list : [];
}

function exactArguments(calls: readonly JsonValue[], at: number): JsonValue | undefined {
  const call = calls[at];
  const called = isObject(call) ? call.function : undefined;
  return isObject(called) ? called.arguments : undefined;
}
