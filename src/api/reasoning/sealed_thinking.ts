import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import { SEALED_PREFIX } from "../../core/stream/reasoning.ts";

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

/**
 * Encodes thinking blocks as the `encrypted_content` of a reasoning item: opaque text that a
 * stateless client sends back. It is not encrypted and needs no key, so it stays valid after a
 * restart.
 */
export function sealThinking(blocks: readonly JsonObject[]): string {
  const payload = Buffer.from(JSON.stringify(blocks)).toString("base64url");
  return `${SEALED_PREFIX}${checksumOf(payload)}.${payload}`;
}

/**
 * Returns the JSON text of the blocks in a text of `sealThinking`; null for other text. A client
 * may forge it with any content.
 */
export function sealedText(sealed: string): string | null {
  if (!sealed.startsWith(SEALED_PREFIX)) return null;
  const [checksum = "", payload = ""] = sealed.slice(SEALED_PREFIX.length).split(".");
  return checksum === checksumOf(payload) ? Buffer.from(payload, "base64url").toString() : null;
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

/**
 * Returns a checksum that detects damage, not forgery: the upstream checks the signatures inside.
 */
function checksumOf(payload: string): string {
  return createHash("sha256").update(payload).digest("hex").slice(0, 16);
}
