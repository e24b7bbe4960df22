import { MAX_CALLS, type StreamTranslation, tooManyCalls } from "../../core/stream/stream.ts";
import type { Usage } from "../../core/stream/events.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import type { StreamRecord } from "../../core/stream/reply.ts";
import { type Result, streamEndedEarly, success } from "../../core/failure/result.ts";
import { keptName } from "../../core/text_beginning.ts";
import { changeMembers, findValue, parseMembers, splice } from "../../formats/edit.ts";
import { isComment, plainRecord } from "../../formats/plain_record.ts";
import type { NumberedFunctions } from "../../wires/compat/text_enums.ts";
import { parseRecord } from "../../wires/compat/record.ts";
import { parseUsage } from "../../wires/openai/chat_usage.ts";
import { mergeUsage } from "../../wires/reported_usage.ts";
import type { IdSource } from "../../wires/wire.ts";
import {
  carriesSomething,
  finishesOf,
  hasCalls,
  hasTooMany,
  isFiltered,
  MAX_CHOICES,
} from "./chunk.ts";
import { newRepeatFastPath } from "./repeat_fast_path.ts";
import { newCallRelay, type RelayedChunk } from "./relay_calls.ts";
import {
  callEdits,
  type Change,
  completedUsage,
  type Identity,
  identityChanges,
  identityOf,
  modelChanges,
  reasoningEdits,
} from "./relay_edits.ts";
import { commentKeepAlive } from "../generate/keep_alive.ts";
import { BROKEN_END, DONE } from "../generate/openai_stream_end.ts";

/** Options for relaying chunks. */
export interface RelayOptions {
  /** Identity fields for chunks in which the upstream omits them. */
  readonly identity: Identity;
  /** True if the client requested the usage chunk. */
  readonly includeUsage: boolean;
  readonly extractsReasoning: boolean;
  /** The functions whose numbers the upstream gets as texts; absent for none. */
  readonly numbered?: NumberedFunctions;
  /** Model of every chunk; absent for that of the upstream. */
  readonly shownModel?: string;
  /** Source of ids for tool calls without an id, or with the id of another call. */
  readonly idSource: Pick<IdSource, "uuid">;
}

/** Size in memory of what is known of a choice. */
const CHOICE_BYTES = 64;

/**
 * Returns the relay of a Chat Completions stream. A chunk of one `data` line is forwarded byte for
 * byte unless a rule changes it. Records without content are held until the first record with
 * content. Records that are not chunks are dropped. A stream is complete if all its choices have
 * finished; a missing `[DONE]` is added.
 */
export function newRelay(options: RelayOptions): StreamTranslation {
  let identity: Identity | null = null;
  let waiting: StreamRecord[] | null = [];
  let usage: { readonly chunk: StreamRecord; readonly counted: Usage | null } | null = null;
  let isDone = false;
  let hasContent = false;
  let hasFilterEnd = false;
  const begun = new Set<number>();
  const finished = new Set<number>();
  const like = newRepeatFastPath();
  const calls = newCallRelay(options);

  function push(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (isDone) return success([]);
    if (waiting === null && record.event === null && !calls.isHolding()) {
      const data = like.relayed(record.data);
      if (data !== null) return success([plainRecord(record, data)]);
    }
    const read = parseRecord(record);
    if (!read.ok) return read;
    if (read.value.kind === "nothing") {
      return success(isComment(record) ? release({ record, carries: false }) : []);
    }
    if (read.value.kind === "done") {
      return finish(record.data === DONE.data ? plainRecord(record) : DONE);
    }
    const { chunk } = read.value;
    if (hasTooMany(chunk, "delta")) return tooManyCalls();
    const choices = finishesOf(chunk);
    for (const { index, isFinished } of choices) {
      begun.add(index);
      if (isFinished) finished.add(index);
    }
    const counted = isObject(chunk.usage) ? parseUsage(chunk.usage) : success(null);
    if (!counted.ok) return counted;
    const edited = edit(record, chunk, counted.value);
    if (begun.size > MAX_CHOICES || calls.count() > MAX_CALLS) return tooManyCalls();
    if (edited === null) return success([]);
    // With tag extraction any content may need an edit, and each piece of a tool call must be
    // checked.
    const isAlike = !options.extractsReasoning && !isObject(chunk.usage) && !hasCalls(chunk);
    const isLast = choices.some(({ isFinished }) => isFinished);
    if (isAlike && waiting === null && !isLast) like.learn(record.data, edited.data);
    const carries = carriesSomething(chunk);
    if (!hasContent && isLast) {
      hasFilterEnd = isFiltered(chunk, "delta") && begun.size === finished.size;
    }
    hasContent ||= carries;
    const passed = calls.pass({ record: edited, carries }, isLast);
    return success(releaseAll(passed));
  }

  function releaseAll(chunks: readonly RelayedChunk[]): readonly StreamRecord[] {
    return chunks.flatMap(release);
  }

  function release({ record, carries }: RelayedChunk): readonly StreamRecord[] {
    if (waiting === null) return [record];
    waiting.push(record);
    if (!carries) return [];
    const released = waiting;
    waiting = null;
    return released;
  }

  /** Returns the record for the client; null for the usage chunk, which is sent at the end. */
  function edit(
    record: StreamRecord,
    chunk: JsonObject,
    counted: Usage | null,
  ): StreamRecord | null {
    const own = identity ??= ownIdentity(chunk, options);
    const changes = [...identityChanges(chunk, own), ...modelChanges(chunk, options.shownModel)];
    const span = isObject(chunk.usage) ? findValue(record.data, ["usage"]) : null;
    if (span === null || !isObject(chunk.usage)) {
      if (!options.includeUsage && chunk.usage !== undefined) changes.push(["usage", null]);
      return changed(record, chunk, changes);
    }
    const text = record.data.slice(span.start, span.end);
    const completed = completedUsage(text, chunk.usage);
    if (Array.isArray(chunk.choices) && chunk.choices.length > 0) {
      keepUsage(usageChunk(own, completed ?? text), counted);
      changes.push(["usage", options.includeUsage ? "null" : null]);
      return changed(record, chunk, changes);
    }
    if (completed !== null) changes.push(["usage", completed]);
    if (!Array.isArray(chunk.choices)) changes.push(["choices", "[]"]);
    keepUsage(changed(record, chunk, changes), counted);
    return null;
  }

  /** Keeps the chunk with the latest counts, unless it says less than an earlier one. */
  function keepUsage(chunk: StreamRecord, counted: Usage | null) {
    const before = usage?.counted ?? null;
    const merged = mergeUsage(before, counted);
    if (merged === null || merged !== before) usage = { chunk, counted: merged };
  }

  function changed(
    record: StreamRecord,
    chunk: JsonObject,
    changes: readonly Change[],
  ): StreamRecord {
    const text = record.data;
    const edits = changes.length > 0
      ? changeMembers(text.indexOf("{"), parseMembers(text), changes)
      : [];
    pushAll(edits, callEdits(text, "delta", calls.read(chunk)));
    if (options.extractsReasoning) pushAll(edits, reasoningEdits(text, chunk, "delta"));
    return plainRecord(record, edits.length === 0 ? text : splice(text, edits));
  }

  function finish(last: StreamRecord): Result<readonly StreamRecord[]> {
    const isComplete = finished.size > 0 && [...begun].every((index) => finished.has(index));
    if (!isComplete) {
      return streamEndedEarly();
    }
    isDone = true;
    const held = releaseAll(calls.end());
    const tail = options.includeUsage && usage !== null ? [usage.chunk] : [];
    return success([...held, ...tail, last]);
  }

  return {
    keepAlive: commentKeepAlive,
    push,
    end: () => isDone ? success([]) : finish(DONE),
    fail: () => BROKEN_END,
    done: () => isDone,
    hasContent: () => hasContent,
    isFiltered: () => hasFilterEnd,
    heldBytes: () =>
      calls.heldBytes() + begun.size * CHOICE_BYTES + (usage?.chunk.data.length ?? 0),
    usage: () => usage?.counted ?? null,
    outcome: () => isDone ? { resource: null, usage: usage?.counted ?? null } : null,
  };
}

function ownIdentity(chunk: JsonObject, { identity, shownModel }: RelayOptions): Identity {
  const { id, model, ...own } = identityOf(chunk, identity);
  // Of long ones the beginning: each later chunk without them gets them.
  return { id: keptName(id), ...own, model: shownModel ?? keptName(model) };
}

/** Returns the usage chunk for a provider that sent the usage in a chunk with a choice. */
function usageChunk(identity: Identity, usageText: string): StreamRecord {
  const head = JSON.stringify({ ...identity, choices: [] }).slice(0, -1);
  return { event: null, data: `${head},"usage":${usageText}}`, raw: null };
}
