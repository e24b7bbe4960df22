import { decodeObject } from "../records/json_records.ts";
import { Buffer } from "node:buffer";
import { isObject, type JsonObject, numberOf } from "../../core/json/json.ts";
import type { OwnedReasoning, ReasoningBlock } from "../../core/reasoning.ts";
import { allOf, type Result, success } from "../../core/result.ts";
import type { ReasoningKey, ReasoningStore, StoreStats } from "../object_store.ts";
import { heldBytes, reasoningBounds } from "../retention.ts";
import { recordUnreadable } from "../store_failure.ts";
import type { ValkeyRecords } from "./records.ts";
import { bytesOf, listOf, statsOf, textOf } from "./reply.ts";
import { FIND_REASONING, STORE_REASONING } from "./scripts/reasoning_scripts.ts";

/** Reasoning on the server, with its size. */
export interface ValkeyReasoning {
  readonly reasoning: ReasoningStore;
  stats(): StoreStats;
}

/** Returns the reasoning of a store. */
export function newValkeyReasoning(records: ValkeyRecords): ValkeyReasoning {
  const { codec, retention: { ttlMs }, retention } = records;
  const { entries, bytes, creatorEntries, creatorBytes } = reasoningBounds(retention);
  let stats: StoreStats = { entries: 0, bytes: 0 };

  async function decode(found: readonly unknown[]): Promise<Result<OwnedReasoning | null>> {
    const [key, record] = [textOf(found[0]), bytesOf(found[1])];
    if (key === null || record === null) return success(null);
    const value = await decodeObject(codec, "reasoning", key, record);
    return value.ok ? parseReasoning(value.value) : value;
  }

  return {
    reasoning: {
      async find(keys) {
        if (keys.length === 0) return success([]);
        const args = keys.flatMap((key) => [groupOf(key), encodeText(key.text)]);
        const reply = await records.run(FIND_REASONING, [ttlMs, ...args]);
        if (!reply.ok) return reply;
        const found = listOf(reply.value).map(listOf);
        return allOf(await Promise.all(keys.map((_key, index) => decode(found[index] ?? []))));
      },
      async store(key, { account, blocks }) {
        const name = `${groupOf(key)} ${encodeText(key.text)}`;
        const text = JSON.stringify({ account, blocks });
        const size = Math.max(heldBytesOf(blocks), Buffer.byteLength(text)) + heldBytes(name);
        const isLarge = size > creatorBytes;
        const record = isLarge ? "" : await codec.encode("reasoning", name, text);
        const bounds = [creatorEntries, creatorBytes, entries, bytes];
        const args = [name, record, size, ttlMs, ...bounds];
        const reply = await records.run(STORE_REASONING, args);
        if (!reply.ok) return reply;
        const [storedEntries, storedBytes] = listOf(reply.value);
        stats = statsOf(storedEntries, storedBytes);
        return success(!isLarge);
      },
    },
    stats: () => stats,
  };
}

/** Returns the part of a key that entries with the same creator and tool calls share. */
function groupOf({ creator, calls }: ReasoningKey): string {
  return `${encodeURIComponent(JSON.stringify(creator))} =${encodeURIComponent(calls)}`;
}

/** Returns a text of a key without spaces; empty for no text. */
function encodeText(text: string | null): string {
  return text === null ? "" : `=${encodeURIComponent(text)}`;
}

function heldBytesOf(blocks: readonly ReasoningBlock[]): number {
  return blocks.reduce((bytes, { value }) => bytes + heldBytes(value), 0);
}

/** Returns the reasoning in a stored object; `state_unreadable` if it is not one. */
function parseReasoning({ account, blocks }: JsonObject): Result<OwnedReasoning> {
  if (typeof account !== "string" || !Array.isArray(blocks)) return recordUnreadable();
  const parsed: ReasoningBlock[] = [];
  for (const block of blocks) {
    if (!isObject(block) || !isObject(block.value)) return recordUnreadable();
    const callsBefore = numberOf(block.callsBefore);
    if (callsBefore === null) return recordUnreadable();
    const textBefore = numberOf(block.textBefore);
    parsed.push({ value: block.value, callsBefore, ...textBefore !== null && { textBefore } });
  }
  return success({ account, blocks: parsed });
}
