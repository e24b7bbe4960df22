import type { StreamEvent } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { fault, type Result, success } from "../../../core/result.ts";
import {
  type CalledFunction,
  type ItemStatus,
  newCallItem,
  newMessageItem,
  newReasoningItem,
  type OutputItem,
} from "./items.ts";
import { type JsonEnd, newJsonEnd } from "../../json_object_end.ts";
import type { ItemPosition, OutputEvent } from "./parts.ts";

/** Limit of tool calls in one translated response. */
const MAX_TOOL_CALLS = 128;

/** Functions of the client's request that the output uses. */
export interface OutputOptions {
  /** True if the upstream signs its reasoning, and accepts no other reasoning back. */
  readonly isSigned: boolean;
  readonly newId: (prefix: string) => string;
  /** Returns the client's function for the flat tool name that the upstream uses. */
  readonly findFunction: (name: string) => CalledFunction;
}

/** Output items of one response under construction. */
export interface Output {
  /** Returns the output events for one event of the model; none if the event has no content. */
  push(event: StreamEvent): Result<readonly OutputEvent[]>;
  /**
   * Ends every item. The last item and calls with incomplete arguments get `status`; every other
   * item is `completed`. A completed response without output gets one empty message.
   */
  end(status: ItemStatus): readonly OutputEvent[];
  /** Returns the items that have been announced to the client. */
  value(): JsonObject[];
}

interface Entry {
  readonly kind: "message" | "reasoning" | "call";
  readonly item: OutputItem;
  /** Scanner of a tool call's arguments; null for every other item. */
  readonly arguments: JsonEnd | null;
  /** Events received before the item became the open item. */
  readonly buffered: StreamEvent[];
  status: ItemStatus;
}

/**
 * Creates the output of one response. Only one item is open at a time: an item ends when the next
 * one begins, a tool call only when its arguments are complete. Until then, or to the end of the
 * stream, the events of later items are buffered.
 */
export function newOutput({ isSigned, newId, findFunction }: OutputOptions): Output {
  const entries: Entry[] = [];
  const calls = new Map<number, Entry>();
  /** Index of the open item; later items are buffered. */
  let current = -1;
  let textLength = 0;

  function begin(
    kind: Entry["kind"],
    prefix: string,
    make: (place: ItemPosition) => OutputItem,
  ): Entry {
    const item = make({ id: newId(prefix), index: entries.length });
    const end = kind === "call" ? newJsonEnd() : null;
    const entry: Entry = { kind, item, arguments: end, buffered: [], status: "in_progress" };
    entries.push(entry);
    return entry;
  }

  function contentEntry(kind: "message" | "reasoning"): Entry {
    const last = entries.at(-1);
    if (last?.kind === kind) return last;
    const before = textLength;
    return kind === "message"
      ? begin(kind, "msg_", (place) => newMessageItem(place, before))
      : begin(kind, "rs_", (place) => newReasoningItem(place, isSigned));
  }

  function push(event: StreamEvent): Result<readonly OutputEvent[]> {
    switch (event.type) {
      case "text":
      case "refusal":
      case "reasoning": {
        if (event.delta === "") return success([]);
        const entry = contentEntry(event.type === "reasoning" ? "reasoning" : "message");
        if (event.type === "text") textLength += event.delta.length;
        return success(take(entry, event));
      }
      case "thinking_block":
        return success(take(contentEntry("reasoning"), event));
      case "annotation": {
        const last = entries.at(-1);
        return success(last?.kind === "message" ? take(last, event) : []);
      }
      case "tool_call": {
        if (calls.size >= MAX_TOOL_CALLS) return tooManyCalls();
        if (event.kind === "custom") return customCall();
        const called = findFunction(event.name);
        const entry = begin("call", "fc_", (place) => newCallItem(place, event.id, called));
        calls.set(event.index, entry);
        const opened = take(entry, event);
        if (event.arguments === undefined) return success(opened);
        const { index, arguments: delta } = event;
        const added = addArguments(entry, { type: "tool_arguments", index, delta });
        return added.ok ? success([...opened, ...added.value]) : added;
      }
      case "tool_arguments":
        return addArguments(calls.get(event.index), event);
      case "start":
      case "usage":
      case "finish":
      case "reasoning_item":
        return success([]);
    }
  }

  function addArguments(
    entry: Entry | undefined,
    event: StreamEvent & { type: "tool_arguments" },
  ): Result<readonly OutputEvent[]> {
    const isOver = entry !== undefined && entry.status !== "in_progress";
    if (isOver && event.delta.trim() === "") return success([]);
    if (entry === undefined || isOver) return strayArguments();
    entry.arguments?.add(event.delta);
    return success(take(entry, event));
  }

  function take(entry: Entry, event: StreamEvent): readonly OutputEvent[] {
    if (entries[current] === entry) return [...entry.item.push(event), ...advance()];
    entry.buffered.push(event);
    return advance();
  }

  /** Closes the open item and opens the next one, repeatedly, until an item has to stay open. */
  function advance(): readonly OutputEvent[] {
    const events: OutputEvent[] = [];
    for (;;) {
      const next = entries[current + 1];
      const open = entries[current];
      if (next === undefined) return events;
      if (open?.arguments?.isReached() === false) return events;
      if (open !== undefined) pushAll(events, finish(open, "completed"));
      pushAll(events, start(next));
    }
  }

  function start({ item, buffered }: Entry): readonly OutputEvent[] {
    current += 1;
    const added = "response.output_item.added";
    return [
      { type: added, output_index: item.place.index, item: item.value("in_progress") },
      ...buffered.splice(0).flatMap(item.push),
    ];
  }

  function finish(entry: Entry, status: ItemStatus): readonly OutputEvent[] {
    const { item } = entry;
    entry.status = status;
    const closed = item.close();
    const done = "response.output_item.done";
    return [...closed, {
      type: done,
      output_index: item.place.index,
      item: item.value(status),
    }];
  }

  function end(status: ItemStatus): readonly OutputEvent[] {
    const events: OutputEvent[] = [];
    if (entries.length === 0 && status === "completed") {
      events.push(...take(contentEntry("message"), { type: "text", delta: "" }));
    }
    for (let open = entries[current]; open !== undefined; open = entries[current]) {
      const next = entries[current + 1];
      const isCut = next === undefined || open.arguments?.isReached() === false;
      pushAll(events, finish(open, isCut ? status : "completed"));
      if (next === undefined) return events;
      pushAll(events, start(next));
    }
    return events;
  }

  function value(): JsonObject[] {
    return entries.slice(0, current + 1).map(({ item, status }) =>
      item.value(status === "in_progress" ? "incomplete" : status)
    );
  }

  return { push, end, value };
}

function tooManyCalls(): Result<never> {
  return fault(
    "upstream_response_too_large",
    `The upstream called tools more than ${MAX_TOOL_CALLS} times in one answer.`,
  );
}

/** Returns the fault of a custom tool call: requests with custom tools are never translated. */
function customCall(): Result<never> {
  return fault("invalid_upstream_response", "The upstream called a tool that is no function.");
}

function strayArguments(): Result<never> {
  return fault(
    "invalid_upstream_response",
    "The upstream sent arguments for a tool call that is not open.",
  );
}
