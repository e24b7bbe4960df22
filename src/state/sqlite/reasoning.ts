import { isObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import type { OwnedReasoning, ReasoningBlock } from "../../core/reasoning.ts";
import { allOf, type Result, success } from "../../core/result.ts";
import type { ReasoningKey, ReasoningStore } from "../object_store.ts";
import type { RecordCodec } from "../records/record_codec.ts";
import { reasoningBytes } from "../retention.ts";
import { recordUnreadable } from "../store_failure.ts";
import { decodeJson, encodeJson } from "../records/json_records.ts";
import { keyText } from "../key_text.ts";
import type { Link } from "./link.ts";
import type { ReasoningRecord } from "./operations/reasoning.ts";

/** Returns the reasoning in a database. */
export function newSqliteReasoning(link: Link, codec: RecordCodec): ReasoningStore {
  async function decode(record: ReasoningRecord | null): Promise<Result<OwnedReasoning | null>> {
    if (record === null) return success(null);
    const value = await decodeJson(codec, "reasoning", record.key, record.body);
    if (!value.ok) return value;
    const reasoning = parseReasoning(value.value);
    return reasoning === null ? recordUnreadable() : success(reasoning);
  }

  return {
    async find(keys) {
      if (keys.length === 0) return success([]);
      const lookups = keys.map(lookupOf);
      const taken = await link.run("takeReasoning", lookups);
      // A disk that is full returns what it has nevertheless.
      const found = taken.ok ? taken : await link.run("findReasoning", lookups);
      if (!found.ok) return found;
      return allOf(await Promise.all(found.value.map(decode)));
    },
    async store(key, reasoning) {
      const { creator, calls } = key;
      const group = groupOf(key);
      const name = nameOf(key);
      return await link.run("storeReasoning", {
        key: name,
        creator: JSON.stringify(creator),
        calls: group,
        bytes: reasoningBytes(`${JSON.stringify(creator)} ${calls} ${key.text}`, reasoning),
        body: await encodeJson(codec, "reasoning", name, reasoning),
      });
    },
  };
}

function groupOf({ creator, calls }: ReasoningKey): string {
  return keyText(`${JSON.stringify(creator)} ${calls}`);
}

function nameOf({ creator, calls, text }: ReasoningKey): string {
  return keyText(`${JSON.stringify(creator)} ${calls} ${text}`);
}

function lookupOf(key: ReasoningKey) {
  return { key: key.text === null ? null : nameOf(key), calls: groupOf(key) };
}

function parseReasoning(value: JsonValue): OwnedReasoning | null {
  if (!isObject(value) || typeof value.account !== "string" || !Array.isArray(value.blocks)) {
    return null;
  }
  const blocks = value.blocks.flatMap(parseBlock);
  return blocks.length === value.blocks.length ? { account: value.account, blocks } : null;
}

function parseBlock(block: JsonValue): ReasoningBlock[] {
  if (!isObject(block) || !isObject(block.value)) return [];
  const callsBefore = numberOf(block.callsBefore);
  const textBefore = numberOf(block.textBefore);
  return callsBefore === null
    ? []
    : [{ value: block.value, callsBefore, ...textBefore !== null && { textBefore } }];
}
