import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { isObject, type JsonObject, parseJson } from "../../../core/json/json.ts";

/** Names the maker and the version, so that a later one can tell what it reads. */
const PREFIX = "switchyard1.";

/**
 * Thinking blocks as the `encrypted_content` of a reasoning item: opaque text that a stateless
 * client carries back. It hides nothing and needs no secret, so it outlives a restart.
 */
export function sealThinking(blocks: readonly JsonObject[]): string {
  const payload = Buffer.from(JSON.stringify(blocks)).toString("base64url");
  return `${PREFIX}${checksumOf(payload)}.${payload}`;
}

/**
 * Returns the JSON text of the blocks that `sealThinking` was given; null for a text that it did not
 * make. What a client forges may be any text.
 */
export function sealedText(sealed: string): string | null {
  if (!sealed.startsWith(PREFIX)) return null;
  const [checksum = "", payload = ""] = sealed.slice(PREFIX.length).split(".");
  return checksum === checksumOf(payload) ? Buffer.from(payload, "base64url").toString() : null;
}

/** Returns the blocks in a text of `sealedText`; null if it holds none. */
export function readThinking(text: string): readonly JsonObject[] | null {
  const blocks = parseJson(text);
  return Array.isArray(blocks) && blocks.every(isObject) ? blocks : null;
}

/** Against damage on the way, not against a forger: the upstream checks the signatures inside. */
function checksumOf(payload: string): string {
  return createHash("sha256").update(payload).digest("hex").slice(0, 16);
}
