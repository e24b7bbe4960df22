import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import { sealedText } from "../../../core/stream/sealed_text.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import { type InnerItems, tooManyInnerItems } from "../../../prompt/inner_json.ts";
import type { Given, ThinkingBlock } from "../../../prompt/prompt.ts";
import { isEmpty, type Optional, unsupported, wrongType } from "../../../prompt/refusals.ts";
import { parseThinkingBlock } from "../../../prompt/thinking_blocks.ts";
import { isHostSigned } from "../../../wires/compat/host_reasoning.ts";
import type { WireName } from "../../../wires/wire.ts";
import {
  isReasoningTextBlock,
  parseThinking,
  reasoningTextOf,
} from "../../reasoning/sealed_thinking.ts";

/** Reasoning that precedes an assistant message. */
export interface Reasoning {
  /** Text without signatures; empty for none. */
  readonly text: string;
  /** Signed thinking. */
  readonly blocks: Given<ThinkingBlock>[];
  /** Signatures of a Chat host, with the path of its first item; null for none. */
  readonly signed: Given<JsonObject[]> | null;
  /** Path of the first reasoning item. */
  readonly path: string;
}

/** Facts of the request around a reasoning item. */
interface MergeOptions {
  readonly wire: WireName;
  /** Reasoning directly before the item. */
  readonly before: Reasoning | null;
  readonly innerItems: InnerItems;
  readonly carrier: Carrier;
}

/** Advice for encrypted content that holds no thinking of this gateway. */
const FOREIGN = "It was not made by this gateway.";

/**
 * Merges a reasoning item with the reasoning directly before it; an empty item adds nothing. Wires
 * that check signatures get the signed thinking blocks, other wires get the text: the visible one,
 * or the one in the encrypted content if the client sends no other. Only Chat hosts get what one of
 * them has signed. Refuses encrypted content of another origin, and blocks with more members and
 * elements than `innerItems` allows.
 */
export function mergeReasoning(
  item: JsonObject,
  path: string,
  { wire, before, innerItems, carrier }: MergeOptions,
): Result<Reasoning | null> {
  const sealedPath = `${path}.encrypted_content`;
  const sealed = item.encrypted_content ?? null;
  if (sealed !== null && typeof sealed !== "string") return wrongType(sealedPath, "a string");
  const opened = sealed === null || sealed === "" ? "[]" : sealedText(sealed);
  if (opened !== null && !innerItems.admits(opened)) return tooManyInnerItems(sealedPath);
  const parsed = opened === null ? null : parseThinking(opened);
  if (parsed === null) return unsupported(sealedPath, FOREIGN);
  const blocks = parsed.filter((block) => !isHostSigned(block));
  const isForHost = wire === "compat" && blocks.length < parsed.length;
  if (!isForHost && blocks.length < parsed.length) carrier.lose(sealedPath);
  const visible = visibleText(item, path, carrier);
  if (!visible.ok) return visible;
  const began = before ?? { text: "", blocks: [], signed: null, path };
  const merged = isForHost ? withSigned(began, parsed.filter(isHostSigned), sealedPath) : began;
  if (!blocks.every(isReasoningTextBlock)) {
    if (wire === "messages") return withBlocks(merged, blocks, sealedPath, carrier);
    carrier.lose(sealedPath);
  }
  const text = visible.value === "" ? blocks.map(reasoningTextOf).join("") : visible.value;
  if (text === "" && !isForHost) return success(before);
  return success({ ...merged, text: merged.text + text });
}

/** Adds signed blocks to a list, which is extended as that of `withBlocks`. */
function withSigned(
  { signed: before, ...merged }: Reasoning,
  blocks: readonly JsonObject[],
  path: string,
): Reasoning {
  const at = { field: "messages[assistant].reasoning_content", path } as const;
  const signed = before ?? { value: [], at };
  pushAll(signed.value, blocks);
  return { ...merged, signed };
}

function withBlocks(
  merged: Reasoning,
  blocks: readonly JsonObject[],
  path: string,
  carrier: Carrier,
): Result<Reasoning> {
  const own: Given<ThinkingBlock>[] = [];
  for (const block of blocks) {
    const made = parseThinkingBlock(block, path, carrier);
    if (!made.ok) return unsupported(path, FOREIGN);
    own.push(made.value);
  }
  // The earlier list of blocks is extended: a copy for each item would take quadratic time.
  pushAll(merged.blocks, own);
  return success(merged);
}

/** Returns the visible text of a reasoning item: its content, else its summary. */
function visibleText(item: JsonObject, path: string, carrier: Carrier): Result<string> {
  const content = textsIn(item.content, `${path}.content`, "reasoning_text");
  if (!content.ok) return content;
  if (content.value === "") return textsIn(item.summary, `${path}.summary`, "summary_text");
  if (!isEmpty(item.summary)) carrier.lose(`${path}.summary`);
  return content;
}

function textsIn(list: Optional, path: string, type: string): Result<string> {
  const parts = list ?? [];
  if (!Array.isArray(parts)) return wrongType(path, "an array");
  const texts: string[] = [];
  for (const [index, part] of parts.entries()) {
    const at = `${path}[${index}]`;
    if (!isObject(part) || typeof part.text !== "string") {
      return wrongType(at, "an object with a text");
    }
    if (part.type !== type) return unsupported(`${at}.type`);
    texts.push(part.text);
  }
  return success(texts.join(""));
}
