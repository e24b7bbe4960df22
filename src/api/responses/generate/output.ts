import type { StreamEvent } from "../../../core/stream/events.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { responseTooLarge, type Result, success } from "../../../core/failure/result.ts";
import { newHostSeals, type Signer } from "../../reasoning/host_seals.ts";
import { type Item, newItemQueue } from "../../generate/open_item.ts";
import {
  type CalledTool,
  type ItemStatus,
  newCallItem,
  newCustomCallItem,
  newMessageItem,
  newReasoningItem,
  type OutputItem,
} from "./items.ts";
import type { ItemPosition, OutputEvent } from "./parts.ts";

/** Limit of tool calls in one translated response. */
const MAX_TOOL_CALLS = 128;

/** Tools of the client's request that the output uses. */
export interface OutputOptions {
  /** True if the upstream signs its reasoning, and accepts no other reasoning back. */
  readonly isSigned: boolean;
  /** Signer of what the client gets sealed to send it back; null if the host needs nothing back. */
  readonly signer: Signer | null;
  readonly newId: (prefix: string) => string;
  /** Returns the client's tool for the flat tool name that the upstream uses. */
  readonly findTool: (name: string) => CalledTool;
}

/** Output items of one response under construction. */
export interface Output {
  /** Returns the output events for one event of the model; none if the event has no content. */
  push(event: StreamEvent): Result<readonly OutputEvent[]>;
  /** Takes what a Chat host has signed, which is sealed before the next call. */
  sign(block: JsonObject): void;
  /**
   * Ends every item. The last item and calls with incomplete arguments get `status`; every other
   * item is `completed`. A completed response without output gets one empty message.
   */
  end(status: ItemStatus): readonly OutputEvent[];
  /** Returns the items that have been announced to the client. */
  value(): JsonObject[];
  /** Returns the characters that are held for a seal. */
  heldChars(): number;
}

interface Entry extends Item<OutputEvent> {
  readonly kind: "message" | "reasoning" | "call";
  value(): JsonObject;
}

/** Creates the output of one response. */
export function newOutput({ isSigned, signer, newId, findTool }: OutputOptions): Output {
  const seals = newHostSeals(signer);
  const items = newItemQueue<OutputEvent, Entry>({ closesAtOnce: true });
  let count = 0;
  let textLength = 0;
  /** Status of items that the end of the response cuts. */
  let lastStatus: ItemStatus = "completed";

  function newEntry(
    kind: Entry["kind"],
    prefix: string,
    make: (place: ItemPosition) => OutputItem,
  ): Entry {
    const index = count++;
    const item = make({ id: newId(prefix), index });
    const held: StreamEvent[] = [];
    let status: ItemStatus = "in_progress";
    return {
      kind,
      // The status of a call with incomplete arguments depends on the end of the response.
      isWhole: false,
      hold: (event) => void held.push(event),
      open: () => [
        { type: "response.output_item.added", output_index: index, item: item.value(status) },
        ...held.splice(0).flatMap(item.push),
      ],
      push: item.push,
      close(isCut) {
        status = isCut ? lastStatus : "completed";
        const closed = item.close();
        const done = { type: "response.output_item.done", output_index: index };
        return [...closed, { ...done, item: item.value(status) }];
      },
      value: () => item.value(status === "in_progress" ? "incomplete" : status),
    };
  }

  /** Lets a run of text or reasoning go on in the last item, or adds an item for it. */
  function addTo(kind: "message" | "reasoning", event: StreamEvent): readonly OutputEvent[] {
    if (items.last()?.kind !== kind) {
      const before = textLength;
      const entry = kind === "message"
        ? newEntry(kind, "msg_", (place) => newMessageItem(place, before))
        : newEntry(kind, "rs_", (place) => newReasoningItem(place, isSigned));
      items.add(entry);
    }
    return items.push(event);
  }

  function addSeals(signed: readonly JsonObject[]): readonly OutputEvent[] {
    return signed.flatMap((value) => addTo("reasoning", { type: "thinking_block", value }));
  }

  function push(event: StreamEvent): Result<readonly OutputEvent[]> {
    switch (event.type) {
      case "text":
      case "refusal":
      case "reasoning": {
        if (event.delta === "") return success([]);
        const events = addTo(event.type === "reasoning" ? "reasoning" : "message", event);
        if (event.type === "text") textLength += event.delta.length;
        return success(events);
      }
      case "thinking_block":
        return success(addTo("reasoning", event));
      case "annotation":
        return success(items.last()?.kind === "message" ? items.push(event) : []);
      case "tool_call": {
        if (items.countCalls() >= MAX_TOOL_CALLS) {
          return responseTooLarge(
            `The provider called tools more than ${MAX_TOOL_CALLS} times in one response.`,
          );
        }
        const { kind, id, name } = event;
        const sealed = addSeals(seals.beforeCall(event.index, id));
        const [prefix, newItem] = kind === "custom"
          ? ["ctc_", newCustomCallItem] as const
          : ["fc_", newCallItem] as const;
        const make = (place: ItemPosition) => newItem(place, id, findTool(name));
        const added = items.addCall(event, () => newEntry("call", prefix, make));
        return added.ok ? success([...sealed, ...added.value]) : added;
      }
      case "tool_arguments":
        return items.addArguments(event);
      case "start":
      case "usage":
      case "finish":
      case "reasoning_item":
        return success([]);
    }
  }

  return {
    push,
    sign: seals.push,
    heldChars: seals.heldChars,
    end(status) {
      const isEmpty = count === 0 && status === "completed";
      const events = isEmpty ? addTo("message", { type: "text", delta: "" }) : [];
      const sealed = addSeals(seals.rest());
      lastStatus = status;
      return [...events, ...sealed, ...items.end()];
    },
    value: () => items.opened().map((entry) => entry.value()),
  };
}
