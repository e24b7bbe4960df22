import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import type { OwnedReasoning, ReasoningBlock } from "../../core/stream/reasoning.ts";
import { allOf, type Result, success } from "../../core/failure/result.ts";
import type { ReasoningKey, ReasoningStore, Stored } from "../object_store.ts";
import { headBytes } from "../records/bounds.ts";
import type { Change, NamedPart, Part, StoredRecord } from "../records/record_store.ts";
import { recordUnreadable, storeUnavailable } from "../store_failure.ts";
import { reasoningBytes } from "../retention.ts";
import { MAX_ATTEMPTS } from "./change_record.ts";
import { shareOf } from "./owners.ts";
import type { RecordRules } from "./record_rules.ts";

const TYPE = "reasoning";

/**
 * Head of reasoning whose caller has received the same calls with different reasoning, while both
 * were stored.
 */
const AMBIGUOUS = "ambiguous";

/** Overhead of a stored entry besides its key and content. */
const OVERHEAD_BYTES = 64;

/**
 * Returns the reasoning of a store. The content of an entry is a part with the name of its group:
 * the entries of one caller for the same calls.
 */
export function newReasoning<Body>(rules: RecordRules<Body>): ReasoningStore {
  const { records, content, bounds, ttlMs } = rules;
  const { bytes: allBytes, shareBytes = allBytes } = bounds[TYPE];

  /** Returns the youngest two entries of each group. */
  function entriesIn(groups: readonly string[]): Stored<readonly NamedPart<Body>[]> {
    if (groups.length === 0) return Promise.resolve(success([]));
    return records.named(TYPE, [...new Set(groups)], 2);
  }

  async function decode(found: StoredRecord<Body> | null): Promise<Result<OwnedReasoning | null>> {
    const [part] = found?.parts ?? [];
    if (part === undefined || part.body === null) return success(null);
    const value = await content.decode(TYPE, part.key, part.body);
    return value.ok ? parseReasoning(value.value) : value;
  }

  /** Returns the part with the reasoning under a key, and the bytes of the entry. */
  async function encode(key: ReasoningKey, reasoning: OwnedReasoning) {
    const value: JsonObject = {
      account: reasoning.account,
      blocks: reasoning.blocks.map(blockValue),
    };
    const name = groupOf(key);
    const digest = content.identify([idOf(key), value]).key;
    const size = reasoningBytes("", reasoning) + OVERHEAD_BYTES;
    const isLarge = headBytes(idOf(key), AMBIGUOUS) + size > shareBytes;
    const body = isLarge ? null : await content.encode(TYPE, digest, value);
    const part: Part<Body> = { key: digest, names: [name], bytes: size, body };
    return { part, isLarge };
  }

  /** Returns the changes that store an entry; those of other entries make the group ambiguous. */
  async function changesFor(key: ReasoningKey, part: Part<Body>): Stored<readonly Change<Body>[]> {
    const entries = await entriesIn([groupOf(key)]);
    if (!entries.ok) return entries;
    const others = entries.value.filter(({ id }) => id !== idOf(key));
    const isAmbiguous = others.length > 0 || entries.value.some(({ head }) => head === AMBIGUOUS);
    // Of several entries all are ambiguous already.
    const clear = others.filter(({ head }) => head !== AMBIGUOUS).map((
      { id },
    ) => ({ type: TYPE, id } as const));
    const found = clear.length === 0 ? success([]) : await records.get(clear, { content: "head" });
    if (!found.ok) return found;
    const share = shareOf(key.creator);
    const marks = clear.flatMap((id, at): Change<Body>[] => {
      const expected = found.value[at]?.version;
      return expected === undefined
        ? []
        : [{ id, expected, next: { head: AMBIGUOUS, share, lifeMs: null } }];
    });
    const next = {
      head: isAmbiguous ? AMBIGUOUS : "",
      body: null,
      parts: [part],
      share,
      lifeMs: ttlMs,
    };
    // First: it is the entry that needs room, for which a marked one may go.
    return success([{ id: { type: TYPE, id: idOf(key) }, expected: "any", next }, ...marks]);
  }

  return {
    async find(keys) {
      if (keys.length === 0) return success([]);
      const entries = await entriesIn(
        keys.flatMap((key) => key.text === null ? [groupOf(key)] : []),
      );
      if (!entries.ok) return entries;
      const ids = keys.map((key) =>
        key.text === null ? onlyEntry(entries.value, groupOf(key)) : idOf(key)
      );
      const known = ids.flatMap((id) => id === null ? [] : [{ type: TYPE, id } as const]);
      const found = await records.get(known, { content: "all", renewMs: ttlMs });
      if (!found.ok) return found;
      const decoded = allOf(await Promise.all(found.value.map(decode)));
      if (!decoded.ok) return decoded;
      const byId = new Map(known.map(({ id }, at) => [id, decoded.value[at] ?? null]));
      return success(ids.map((id) => id === null ? null : byId.get(id) ?? null));
    },
    async store(key, reasoning) {
      const id = { type: TYPE, id: idOf(key) } as const;
      const { part, isLarge } = await encode(key, reasoning);
      if (isLarge) {
        const removed = await records.commit([{ id, expected: "any", next: null }]);
        return removed.ok ? success(false) : removed;
      }
      for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
        const changes = await changesFor(key, part);
        if (!changes.ok) return changes;
        const committed = await records.commit(changes.value);
        if (!committed.ok) return committed;
        if (committed.value.kind === "done") return success(true);
      }
      return storeUnavailable();
    },
  };
}

function idOf({ creator, calls, text }: ReasoningKey): string {
  return JSON.stringify([creator, calls, text]);
}

/** Returns the name of the entries with the same creator and tool calls. */
function groupOf({ creator, calls }: ReasoningKey): string {
  return JSON.stringify([creator, calls]);
}

/** Returns the entry of a group that is not ambiguous. */
function onlyEntry<Body>(entries: readonly NamedPart<Body>[], group: string): string | null {
  const [first, second] = entries.filter(({ name }) => name === group);
  if (first === undefined || second !== undefined || first.head === AMBIGUOUS) return null;
  return first.id;
}

function blockValue({ value, callsBefore, textBefore }: ReasoningBlock): JsonObject {
  return { value, callsBefore, ...textBefore !== undefined && { textBefore } };
}

/** Returns the reasoning in a stored value; `state_unreadable` if it is not one. */
function parseReasoning(stored: JsonValue): Result<OwnedReasoning> {
  if (!isObject(stored)) return recordUnreadable();
  const { account, blocks } = stored;
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
