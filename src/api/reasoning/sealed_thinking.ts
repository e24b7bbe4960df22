import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import { SEALED_PREFIX, sealText } from "../../core/stream/sealed_text.ts";

/** Type of the block of a text that is neither signed nor encrypted. */
const TEXT_TYPE = "reasoning_text";

/** Returns the block that carries a reasoning text without a signature. */
export function reasoningTextBlock(text: string): JsonObject {
  return { type: TEXT_TYPE, text };
}

/** True for a block that carries a reasoning text without a signature. */
export function isReasoningTextBlock({ type }: JsonObject): boolean {
  return type === TEXT_TYPE;
}

/** Returns the reasoning text of a block, signed or not; empty if it has none. */
export function reasoningTextOf({ type, text, thinking }: JsonObject): string {
  const found = type === TEXT_TYPE ? text : type === "thinking" ? thinking : null;
  return typeof found === "string" ? found : "";
}

/** Encodes thinking blocks as the `encrypted_content` of a reasoning item. */
export function sealThinking(blocks: readonly JsonObject[]): string {
  return sealText(JSON.stringify(blocks));
}

/** True if a signature is a text of `sealThinking`, damaged or not: no upstream made it. */
export function isSealed(signature: string): boolean {
  return signature.startsWith(SEALED_PREFIX);
}

/** Returns the blocks in a text of `sealedText`; null if it holds none. */
export function parseThinking(text: string): readonly JsonObject[] | null {
  const blocks = parseJson(text);
  return Array.isArray(blocks) && blocks.every(isObject) ? blocks : null;
}
