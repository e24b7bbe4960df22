import type { StreamEvent } from "../../core/stream/events.ts";
import { pushAll } from "../../core/push_all.ts";
import { invalidResponse, type Result, success } from "../../core/failure/result.ts";
import { type JsonEnd, newJsonEnd } from "./json_object_end.ts";

/** One item of a generated response; `Event` is an event of the client's stream. */
export interface Item<Event> {
  /** True if nothing follows in it, even if its arguments are no complete JSON object. */
  readonly isWhole: boolean;
  /** Stores an event of the model until the item is opened. */
  hold(event: StreamEvent): void;
  /** Returns the events that open the item, with those of the stored events. */
  open(): readonly Event[];
  /** Returns the events for one event of the model; the item is open. */
  push(event: StreamEvent): readonly Event[];
  /** Returns the events that close the item; `isCut` is true if more content could follow. */
  close(isCut: boolean): readonly Event[];
}

/**
 * The items of one generated response, in order. Only one is open at a time: an item is closed when
 * the next one is opened, a tool call only when its arguments are complete. Until then, or to the
 * end of the stream, later items hold their events.
 */
export interface ItemQueue<Event, One extends Item<Event>> {
  /** Adds an item at the end; `push` opens it. */
  add(item: One): void;
  last(): One | undefined;
  /** Returns the events for one event of the model, which belongs to the last item. */
  push(event: StreamEvent): readonly Event[];
  /** Adds the item of a tool call. */
  addCall(event: ToolCall, make: () => One): Result<readonly Event[]>;
  /** Returns the events for arguments. Fails if their tool call is closed or unknown. */
  addArguments(event: ToolArguments): Result<readonly Event[]>;
  countCalls(): number;
  /** Opens and closes every item that is left. */
  end(): readonly Event[];
  /** Returns the items that were opened, closed ones too. */
  opened(): readonly One[];
}

type ToolCall = Extract<StreamEvent, { type: "tool_call" }>;
type ToolArguments = Extract<StreamEvent, { type: "tool_arguments" }>;

interface Slot<One> {
  readonly item: One;
  /** Scanner of a function call's arguments; null for every other item. */
  readonly arguments: JsonEnd | null;
  /** False for the call of a custom tool until the end of its input is known. */
  isWhole: boolean;
  isClosed: boolean;
}

/**
 * Creates a queue without items. If `closesAtOnce` is false, a complete call for which other items
 * wait stays open until the next event of one of these.
 */
export function newItemQueue<Event, One extends Item<Event>>(
  { closesAtOnce }: { readonly closesAtOnce: boolean },
): ItemQueue<Event, One> {
  const slots: Slot<One>[] = [];
  const calls = new Map<number, Slot<One>>();
  /** Index of the open item. */
  let current = -1;

  function add(item: One, end: JsonEnd | null): Slot<One> {
    const slot = { item, arguments: end, isWhole: true, isClosed: false };
    slots.push(slot);
    return slot;
  }

  function take(slot: Slot<One> | undefined, event: StreamEvent): readonly Event[] {
    if (slot === undefined) return [];
    if (slot !== slots[current]) {
      slot.item.hold(event);
      return advance();
    }
    const events = slot.item.push(event);
    return closesAtOnce ? [...events, ...advance()] : events;
  }

  /** Closes the open item and opens the next one, repeatedly, until an item has to stay open. */
  function advance(): readonly Event[] {
    const events: Event[] = [];
    while (current + 1 < slots.length && !isPending(slots[current])) pushAll(events, openNext());
    return events;
  }

  /** Closes the open item and opens the next one, if there is one. */
  function openNext(): readonly Event[] {
    const open = slots[current];
    const next = slots[current + 1];
    current += 1;
    if (open === undefined) return next?.item.open() ?? [];
    open.isClosed = true;
    const closed = open.item.close(next === undefined || isPending(open));
    return [...closed, ...next?.item.open() ?? []];
  }

  function addArguments(event: ToolArguments): Result<readonly Event[]> {
    const call = calls.get(event.index);
    if (call === undefined) return strayArguments();
    // White space after the arguments means nothing.
    if (call.isClosed) return event.delta.trim() === "" ? success([]) : strayArguments();
    call.arguments?.add(event.delta);
    call.isWhole ||= event.isLast === true;
    return success(take(call, event));
  }

  return {
    add: (item) => void add(item, null),
    last: () => slots.at(-1)?.item,
    push: (event) => take(slots.at(-1), event),
    addCall(event, make) {
      const { index, kind, arguments: delta } = event;
      const call = add(make(), kind === "custom" ? null : newJsonEnd());
      call.isWhole = false;
      calls.set(index, call);
      const opened = take(call, event);
      if (delta === undefined) return success(opened);
      const added = addArguments({ type: "tool_arguments", index, delta, isLast: true });
      return added.ok ? success([...opened, ...added.value]) : added;
    },
    addArguments,
    countCalls: () => calls.size,
    end() {
      const events: Event[] = [];
      while (current < slots.length) pushAll(events, openNext());
      return events;
    },
    opened: () => slots.slice(0, current + 1).map(({ item }) => item),
  };
}

/** True if the item has to stay open: its arguments are not complete. */
function isPending(slot: Slot<Item<unknown>> | undefined): boolean {
  if (slot === undefined || slot.item.isWhole) return false;
  return !(slot.arguments?.isReached() ?? slot.isWhole);
}

function strayArguments(): Result<never> {
  return invalidResponse("The provider sent arguments for a tool call that is not open.");
}
