import type { StreamEvent } from "../../../core/stream/events.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import {
  invalidResponse,
  responseTooLarge,
  type Result,
  success,
} from "../../../core/failure/result.ts";
import { EVENT_BYTES } from "../../../core/stream/stream.ts";
import { isJsonObject } from "../../../formats/parse_limits.ts";
import { type Item, newItemQueue } from "../../generate/open_item.ts";
import { newHostSeals } from "../../reasoning/host_seals.ts";
import { sealThinking } from "../../reasoning/sealed_thinking.ts";
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

/**
 * Limit of the text of one response that the gateway has to store until a block ends, in
 * characters.
 */
const MAX_STORED_CHARS = 16 * 1024 * 1024;

/** Overhead of one block, counted in addition to its text: objects cost far more. */
const BLOCK_OVERHEAD_CHARS = 512;

/** One content block, from its first event to its end. */
interface Block extends Item<MessageEvent> {
  readonly kind: "thinking" | "text" | "call" | "redacted";
  /** True if no more content can follow. */
  isWhole: boolean;
  /** Signature of the upstream; null if the gateway seals the thinking. */
  signature: string | null;
  /** Blocks that are sealed with the thinking. */
  readonly signed: JsonObject[];
  /** Returns the whole thinking or arguments text. Text of the message is not stored. */
  stored(): string;
}

type ToolCall = Extract<StreamEvent, { type: "tool_call" }>;

/** Creates the blocks of one message, whose indices have no gaps (Messages API, streaming). */
export function newBlocks(
  { id, thinking: mode, toolName, signer, addsThinking }: MessageLabels,
): Blocks {
  const seals = newHostSeals(signer);
  const blocks = newItemQueue<MessageEvent, Block>({ closesAtOnce: false });
  let count = 0;
  let size = 0;
  let isSound = true;
  /** Bytes of the texts of blocks that have not ended. */
  let textBytes = 0;

  function newBlock(kind: Block["kind"], content_block: JsonObject): Block {
    const index = count++;
    size += BLOCK_OVERHEAD_CHARS;
    /** Text that arrived before the block was opened. */
    let held = "";
    let stored = "";
    /** Size of the text in memory. */
    let bytes = 0;

    function store(event: StreamEvent, isOpen: boolean): string {
      const delta = "delta" in event ? event.delta : "";
      // White space before the arguments means nothing, and a call without arguments has no delta.
      if (event.type === "tool_arguments" && stored === "" && delta.trim() === "") return "";
      if (kind !== "text") stored += delta;
      if (kind === "text" && isOpen) return delta;
      size += delta.length;
      bytes += delta.length + EVENT_BYTES;
      textBytes += delta.length + EVENT_BYTES;
      return delta;
    }

    /** Counts the text no more: it was sent. */
    function free(): void {
      textBytes -= bytes;
      bytes = 0;
    }

    function deltasOf(text: string): readonly MessageEvent[] {
      if (text === "" || (kind === "thinking" && mode === "sealed")) return [];
      return [deltaEvent(index, deltaOf(kind, text))];
    }

    const block: Block = {
      kind,
      isWhole: false,
      signature: null,
      signed: [],
      stored: () => stored,
      hold(event) {
        held += store(event, false);
      },
      open() {
        const text = held;
        held = "";
        if (kind === "text") free();
        return [{ type: "content_block_start", index, content_block }, ...deltasOf(text)];
      },
      push: (event) => deltasOf(store(event, true)),
      close() {
        free();
        const text = stored;
        stored = "";
        if (kind === "call" && text !== "") isSound &&= isJsonObject(text);
        const stop = { type: "content_block_stop", index };
        if (kind !== "thinking") return [stop];
        const own = text === "" && block.signed.length > 0
          ? []
          : [{ type: "thinking", thinking: text }];
        const signature = block.signature ?? sealThinking([...own, ...block.signed]);
        return [deltaEvent(index, { type: "signature_delta", signature }), stop];
      },
    };
    return block;
  }

  /** Adds a block that is not a call. */
  function add(kind: Block["kind"], start: JsonObject): Block {
    const block = newBlock(kind, start);
    blocks.add(block);
    return block;
  }

  /** Lets a run of text or thinking go on in the last block, or adds a block for it. */
  function addTo(kind: "thinking" | "text", event: StreamEvent): readonly MessageEvent[] {
    const last = blocks.last();
    const goesOn = last?.kind === kind && !last.isWhole;
    if (!goesOn) add(kind, kind === "text" ? textStart() : thinkingStart());
    return blocks.push(event);
  }

  function push(event: StreamEvent): Result<readonly MessageEvent[]> {
    const added = eventsOf(event);
    return added.ok && size > MAX_STORED_CHARS
      ? responseTooLarge(
        "The provider's response holds more thinking and arguments than the 16 MiB that can be translated.",
      )
      : added;
  }

  function eventsOf(event: StreamEvent): Result<readonly MessageEvent[]> {
    switch (event.type) {
      case "text":
        return success(event.delta === "" ? [] : addTo("text", event));
      case "reasoning":
        if (event.delta === "" || mode === "hidden") return success([]);
        return success(addTo("thinking", event));
      case "thinking_block":
        return success(mode === "hidden" ? [] : addSigned(event.value));
      case "tool_call":
        return event.kind === "custom"
          ? invalidResponse("The provider called a tool that is no function.")
          : addCall(event);
      case "tool_arguments":
        return blocks.addArguments(event);
      case "reasoning_item":
        seals.push(event.value);
        return success([]);
      case "refusal":
      case "annotation":
      case "start":
      case "usage":
      case "finish":
        return success([]);
    }
  }

  /**
   * Takes a signed or redacted block of the upstream; its text may have arrived as reasoning
   * before.
   */
  function addSigned(value: JsonObject): readonly MessageEvent[] {
    const isThinking = value.type === "thinking";
    const text = isThinking && typeof value.thinking === "string" ? value.thinking : "";
    const last = blocks.last();
    const isKnown = isThinking && last?.kind === "thinking" && !last.isWhole &&
      last.stored() === text;
    const block = isKnown
      ? last
      : isThinking
      ? add("thinking", thinkingStart())
      : add("redacted", value);
    block.signature = typeof value.signature === "string" ? value.signature : "";
    block.isWhole = true;
    return blocks.push({ type: "reasoning", delta: isKnown ? "" : text });
  }

  function addCall(event: ToolCall): Result<readonly MessageEvent[]> {
    const callIdHere = callId(event.id, id, blocks.countCalls());
    const sealed = addSeals(seals.beforeCall(event.index, callIdHere));
    const added = blocks.addCall(event, () => newCall(event, callIdHere));
    return added.ok ? success([...sealed, ...added.value]) : added;
  }

  /** Adds blocks of a host to the thinking that continues, or to an empty one. */
  function addSeals(signed: readonly JsonObject[]): readonly MessageEvent[] {
    if (signed.length === 0) return [];
    const last = blocks.last();
    const goesOn = last?.kind === "thinking" && !last.isWhole;
    if (!goesOn && !addsThinking) return [];
    const block = goesOn ? last : add("thinking", thinkingStart());
    block.signed.push(...signed);
    return goesOn ? [] : blocks.push({ type: "reasoning", delta: "" });
  }

  function newCall(event: ToolCall, callIdHere: string): Block {
    const block = newBlock("call", {
      type: "tool_use",
      id: callIdHere,
      name: toolName(event.name),
      input: {},
    });
    block.isWhole = event.arguments !== undefined;
    return block;
  }

  return {
    push,
    end() {
      const sealed = addSeals(seals.rest());
      return [...sealed, ...blocks.end()];
    },
    hasCalls: () => blocks.countCalls() > 0,
    isSound: () => isSound,
    heldBytes: () => textBytes + count * BLOCK_OVERHEAD_CHARS + seals.heldChars(),
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
