import type { StreamEvent } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { fault, type Result, success } from "../../../core/result.ts";
import { EVENT_BYTES } from "../../../core/stream.ts";
import { isJsonObject } from "../../../formats/parse_limits.ts";
import { type JsonEnd, newJsonEnd } from "../../json_object_end.ts";
import { sealThinking } from "../../sealed_thinking.ts";
import { callId } from "./call_id.ts";
import type { MessageLabels } from "./labels.ts";

/** Event of a message stream (Messages API, streaming). */
export interface MessageEvent extends JsonObject {
  readonly type: string;
}

/** The content blocks of one message under construction. */
export interface Blocks {
  /** Returns the block events for one event of the model; none if the event has no content. */
  push(event: StreamEvent): Result<readonly MessageEvent[]>;
  /** Closes every block and returns its last events. */
  end(): readonly MessageEvent[];
  hasCalls(): boolean;
  /** True if the arguments of every closed tool call are a JSON object. */
  isSound(): boolean;
  /** Returns the bytes of the blocks and of the text that is held for them. */
  heldBytes(): number;
}

/** Limit of the text of one response that the gateway has to store until a block ends, in characters. */
const MAX_STORED_CHARS = 16 * 1024 * 1024;

/** Overhead of one block, counted in addition to its text: objects cost far more. */
const BLOCK_OVERHEAD_CHARS = 512;

/** One content block, from its first event to its end. */
interface Block {
  readonly kind: "thinking" | "text" | "call" | "redacted";
  /** The block in its start event. */
  readonly start: JsonObject;
  /** Text that arrived before the block was opened. */
  held: string;
  /** The whole thinking or arguments text. Text of the message is not stored. */
  stored: string;
  /** Size of the text in memory. */
  bytes: number;
  /** Scanner of the arguments of a tool call; null for any other block. */
  readonly arguments: JsonEnd | null;
  /** True if no more content can follow. */
  isWhole: boolean;
  isClosed: boolean;
  /** Signature of the upstream; null if the gateway seals the thinking. */
  signature: string | null;
}

type ToolCall = Extract<StreamEvent, { type: "tool_call" }>;

/**
 * Creates the blocks of one message. Only one block is open at a time, and indices have no gaps: a
 * block ends when the next one begins, a tool call only when its arguments are complete. Until then,
 * or to the end of the stream, later blocks are held back (Messages API, streaming).
 */
export function newBlocks({ id, thinking: mode, toolName }: MessageLabels): Blocks {
  const blocks: Block[] = [];
  const calls = new Map<number, Block>();
  /** Index of the open block; later blocks are held back. */
  let current = -1;
  let size = 0;
  let isSound = true;
  /** Bytes of the texts of blocks that have not ended. */
  let textBytes = 0;

  function begin(kind: Block["kind"], start: JsonObject): Block {
    const end = kind === "call" ? newJsonEnd() : null;
    const text = { held: "", stored: "", bytes: 0, arguments: end };
    const block: Block = { kind, start, ...text, isWhole: false, isClosed: false, signature: null };
    blocks.push(block);
    size += BLOCK_OVERHEAD_CHARS;
    return block;
  }

  /** Returns the block that a run of text or thinking goes on in, or a new one. */
  function runOf(kind: "thinking" | "text"): Block {
    const last = blocks.at(-1);
    if (last?.kind === kind && !last.isWhole) return last;
    return begin(kind, kind === "text" ? textStart() : thinkingStart());
  }

  function push(event: StreamEvent): Result<readonly MessageEvent[]> {
    switch (event.type) {
      case "text":
        return event.delta === "" ? success([]) : append(runOf("text"), event.delta);
      case "reasoning":
        if (event.delta === "" || mode === "hidden") return success([]);
        return append(runOf("thinking"), event.delta);
      case "thinking_block":
        return mode === "hidden" ? success([]) : addSigned(event.value);
      case "tool_call":
        return addCall(event);
      case "tool_arguments":
        return addArguments(calls.get(event.index), event.delta);
      case "refusal":
      case "annotation":
      case "reasoning_item":
      case "start":
      case "usage":
      case "finish":
        return success([]);
    }
  }

  /** Takes a signed or redacted block of the upstream; its text may have arrived as reasoning before. */
  function addSigned(value: JsonObject): Result<readonly MessageEvent[]> {
    if (value.type !== "thinking") {
      const redacted = begin("redacted", value);
      redacted.isWhole = true;
      return append(redacted, "");
    }
    const text = typeof value.thinking === "string" ? value.thinking : "";
    const last = blocks.at(-1);
    const isKnown = last?.kind === "thinking" && !last.isWhole && last.stored === text;
    const block = isKnown ? last : begin("thinking", thinkingStart());
    block.signature = typeof value.signature === "string" ? value.signature : "";
    const added = append(block, isKnown ? "" : text);
    block.isWhole = true;
    return added;
  }

  function addCall(event: ToolCall): Result<readonly MessageEvent[]> {
    if (event.kind === "custom") return customCall();
    const start = {
      type: "tool_use",
      id: callId(event.id, id, calls.size),
      name: toolName(event.name),
      input: {},
    };
    const call = begin("call", start);
    calls.set(event.index, call);
    const opened = append(call, "");
    if (!opened.ok || event.arguments === undefined) return opened;
    const added = addArguments(call, event.arguments);
    call.isWhole = true;
    return added.ok ? success([...opened.value, ...added.value]) : added;
  }

  function addArguments(
    call: Block | undefined,
    delta: string,
  ): Result<readonly MessageEvent[]> {
    if (call === undefined) return strayArguments();
    // White space around the arguments means nothing, and a call without arguments has no delta.
    const isBlank = delta.trim() === "";
    if (isBlank && (call.stored === "" || call.isClosed)) return success([]);
    if (call.isClosed) return strayArguments();
    call.arguments?.add(delta);
    return append(call, delta);
  }

  function append(block: Block, delta: string): Result<readonly MessageEvent[]> {
    const isOpen = block === blocks[current];
    if (block.kind !== "text") block.stored += delta;
    if (block.kind !== "text" || !isOpen) hold(block, delta.length);
    if (size > MAX_STORED_CHARS) return tooLarge();
    if (isOpen) return success(deltasOf(block, current, delta));
    block.held += delta;
    return success(advance());
  }

  function hold(block: Block, chars: number): void {
    size += chars;
    block.bytes += chars + EVENT_BYTES;
    textBytes += chars + EVENT_BYTES;
  }

  /** Counts the text of a block no more: it was sent. */
  function free(block: Block): void {
    textBytes -= block.bytes;
    block.bytes = 0;
  }

  /** Closes the open block and opens the next one, repeatedly, until a block has to stay open. */
  function advance(): readonly MessageEvent[] {
    const events: MessageEvent[] = [];
    for (;;) {
      const open = blocks[current];
      if (blocks[current + 1] === undefined) return events;
      if (open?.arguments?.isReached() === false && !open.isWhole) return events;
      pushAll(events, openNext());
    }
  }

  function openNext(): readonly MessageEvent[] {
    const closed = close(blocks[current]);
    current += 1;
    const next = blocks[current];
    if (next === undefined) return closed;
    const { held } = next;
    next.held = "";
    if (next.kind === "text") free(next);
    const start = { type: "content_block_start", index: current, content_block: next.start };
    return [...closed, start, ...deltasOf(next, current, held)];
  }

  function close(block: Block | undefined): readonly MessageEvent[] {
    if (block === undefined) return [];
    block.isClosed = true;
    free(block);
    const { kind, stored } = block;
    block.stored = "";
    if (kind === "call" && stored !== "") isSound &&= isJsonObject(stored);
    const stop = { type: "content_block_stop", index: current };
    if (kind !== "thinking") return [stop];
    const signature = block.signature ?? sealThinking([{ type: "thinking", thinking: stored }]);
    return [deltaEvent(current, { type: "signature_delta", signature }), stop];
  }

  function deltasOf({ kind }: Block, index: number, text: string): readonly MessageEvent[] {
    if (text === "" || (kind === "thinking" && mode === "sealed")) return [];
    return [deltaEvent(index, deltaOf(kind, text))];
  }

  function end(): readonly MessageEvent[] {
    const events: MessageEvent[] = [];
    while (current < blocks.length) pushAll(events, openNext());
    return events;
  }

  return {
    push,
    end,
    hasCalls: () => calls.size > 0,
    isSound: () => isSound,
    heldBytes: () => textBytes + blocks.length * BLOCK_OVERHEAD_CHARS,
  };
}

function textStart(): JsonObject {
  return { type: "text", text: "", citations: null };
}

function thinkingStart(): JsonObject {
  return { type: "thinking", thinking: "", signature: "" };
}

function deltaEvent(index: number, delta: JsonObject): MessageEvent {
  return { type: "content_block_delta", index, delta };
}

function deltaOf(kind: Block["kind"], text: string): JsonObject {
  if (kind === "text") return { type: "text_delta", text };
  return kind === "call"
    ? { type: "input_json_delta", partial_json: text }
    : { type: "thinking_delta", thinking: text };
}

function tooLarge(): Result<never> {
  return fault(
    "upstream_response_too_large",
    "The provider's response holds more thinking and arguments than the 16 MiB that can be translated.",
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
