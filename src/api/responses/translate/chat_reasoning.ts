import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Result, success } from "../../../core/result.ts";
import type { Losses } from "../../../wires/chat_request/losses.ts";
import {
  isEmpty,
  type Optional,
  unsupported,
  wrongType,
} from "../../../wires/chat_request/refusals.ts";
import { type InnerItems, tooManyInnerItems } from "../../../prompt/inner_json.ts";
import type { WireName } from "../../../wires/wire.ts";
import type { PathBelow } from "./chat_content.ts";
import {
  isReasoningTextBlock,
  parseThinking,
  reasoningTextOf,
  sealedText,
} from "../../sealed_thinking.ts";

/** Reasoning that precedes an assistant message. */
export interface Reasoning {
  /** Members of the assistant message that hold the reasoning. */
  readonly members: {
    readonly reasoning_content?: string;
    readonly thinking_blocks?: JsonObject[];
  };
  /** Path of the first reasoning item. */
  readonly at: PathBelow;
}

/** Facts of the request around a reasoning item. */
interface MergeOptions {
  readonly wire: WireName;
  /** Reasoning directly before the item; null if there is none. */
  readonly before: Reasoning | null;
  readonly innerItems: InnerItems;
  readonly losses: Losses;
}

/**
 * Merges a reasoning item with the reasoning directly before it; an empty item adds nothing. Wires
 * that check signatures get the signed thinking blocks, other wires get the text: the visible one,
 * or the one in the encrypted content if the client sends no other. Refuses encrypted content of
 * another origin, and blocks with more members and elements than `innerItems` allows.
 */
export function mergeReasoning(
  item: JsonObject,
  at: PathBelow,
  { wire, before, innerItems, losses }: MergeOptions,
): Result<Reasoning | null> {
  const sealed = item.encrypted_content ?? null;
  if (sealed !== null && typeof sealed !== "string") {
    return wrongType(at(".encrypted_content"), "a string");
  }
  const opened = sealed === null || sealed === "" ? "[]" : sealedText(sealed);
  if (opened !== null && !innerItems.admits(opened)) {
    return tooManyInnerItems(at(".encrypted_content"));
  }
  const blocks = opened === null ? null : parseThinking(opened);
  if (blocks === null) {
    return unsupported(at(".encrypted_content"), "It was not made by this gateway.");
  }
  const text = visibleText(item, at, losses);
  if (!text.ok) return text;
  const place = before?.at ?? at;
  if (wire === "messages" && !blocks.every(isReasoningTextBlock)) {
    // The earlier list of blocks is extended: a copy for each item would take quadratic time.
    const thinking_blocks = before?.members.thinking_blocks ?? [];
    pushAll(thinking_blocks, blocks);
    return success({ members: { ...before?.members, thinking_blocks }, at: place });
  }
  if (!blocks.every(isReasoningTextBlock)) losses.add(at(".encrypted_content"));
  const added = text.value === "" ? blocks.map(reasoningTextOf).join("") : text.value;
  if (added === "") return success(before);
  const reasoning_content = (before?.members.reasoning_content ?? "") + added;
  return success({ members: { ...before?.members, reasoning_content }, at: place });
}

/** Returns the visible text of a reasoning item: its content, else its summary. */
function visibleText(item: JsonObject, at: PathBelow, losses: Losses): Result<string> {
  const content = textsIn(item.content, (below) => at(`.content${below}`), "reasoning_text");
  if (!content.ok) return content;
  if (content.value !== "") {
    if (!isEmpty(item.summary)) losses.add(at(".summary"));
    return content;
  }
  return textsIn(item.summary, (below) => at(`.summary${below}`), "summary_text");
}

function textsIn(list: Optional, at: PathBelow, type: string): Result<string> {
  const parts = list ?? [];
  if (!Array.isArray(parts)) return wrongType(at(""), "an array");
  const texts: string[] = [];
  for (const [index, part] of parts.entries()) {
    if (!isObject(part) || typeof part.text !== "string") {
      return wrongType(at(`[${index}]`), "an object with a text");
    }
    if (part.type !== type) return unsupported(at(`[${index}].type`));
    texts.push(part.text);
  }
  return success(texts.join(""));
}
