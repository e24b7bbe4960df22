import type { StreamTranslation } from "../../core/codec.ts";
import type { Usage } from "../../core/events.ts";
import { isObject, type JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import type { StreamRecord } from "../../core/reply.ts";
import { fault, type Result, success } from "../../core/result.ts";
import { changeMembers, findValue, parseMembers, splice } from "../../formats/edit.ts";
import { isComment, plainRecord } from "../../formats/plain_record.ts";
import { parseRecord } from "../../wires/compat/record.ts";
import { parseUsage } from "../../wires/openai/chat_usage.ts";
import type { IdSource } from "../../wires/wire.ts";
import { carriesSomething, finishesOf, hasCalls } from "./chunk.ts";
import { likeness } from "./repeat_fast_path.ts";
import { callRelay, type RelayedChunk } from "./relay_calls.ts";
import {
  callEdits,
  type Change,
  completedUsage,
  type Identity,
  identityChanges,
  identityOf,
  reasoningEdits,
} from "./relay_edits.ts";
import { BROKEN, DONE } from "./stream_end.ts";

/** How chunks are relayed. */
export interface RelayOptions {
  /** What the chunks say of themselves where the upstream does not. */
  readonly identity: Identity;
  /** The client asked for the usage chunk. */
  readonly includeUsage: boolean;
  readonly extractsReasoning: boolean;
  /** For the ids of calls that have none, or one that another call has. */
  readonly mint: Pick<IdSource, "uuid">;
}

/**
 * Relays a Chat Completions stream: a chunk that is one `data` line keeps its bytes unless a rule
 * changes it. Records that carry nothing wait for the first that does; those that are no chunks are
 * dropped. Complete is a stream whose choices have all finished; `[DONE]` is added where it is missing.
 */
export function relay(options: RelayOptions): StreamTranslation {
  let identity: Identity | null = null;
  let waiting: StreamRecord[] | null = [];
  let usage: { readonly chunk: StreamRecord; readonly counted: Usage | null } | null = null;
  let isDone = false;
  const begun = new Set<number>();
  const finished = new Set<number>();
  const like = likeness();
  const calls = callRelay(options.mint);

  function push(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (isDone) return success([]);
    if (waiting === null && record.event === null && !calls.isHolding()) {
      const data = like.relayed(record.data);
      if (data !== null) return success([plainRecord(record, data)]);
    }
    const read = parseRecord(record);
    if (!read.ok) return read;
    if (read.value.kind === "nothing") {
      return success(isComment(record) ? release(record, false) : []);
    }
    if (read.value.kind === "done") {
      return finish(record.data === DONE.data ? plainRecord(record) : DONE);
    }
    const { chunk } = read.value;
    const choices = finishesOf(chunk);
    for (const { index, isFinished } of choices) {
      begun.add(index);
      if (isFinished) finished.add(index);
    }
    const counted = isObject(chunk.usage) ? parseUsage(chunk.usage) : success(null);
    if (!counted.ok) return counted;
    const edited = edit(record, chunk, counted.value);
    if (edited === null) return success([]);
    // Where tags are looked for, any piece of content may need a change, and each piece of a call counts.
    const isAlike = !options.extractsReasoning && !isObject(chunk.usage) && !hasCalls(chunk);
    const isLast = choices.some(({ isFinished }) => isFinished);
    if (isAlike && waiting === null && !isLast) like.learn(record.data, edited.data);
    const passed = calls.pass({ record: edited, carries: carriesSomething(chunk) }, isLast);
    return success(releaseAll(passed));
  }

  function releaseAll(chunks: readonly RelayedChunk[]): readonly StreamRecord[] {
    return chunks.flatMap(({ record, carries }) => release(record, carries));
  }

  function release(record: StreamRecord, carries: boolean): readonly StreamRecord[] {
    if (waiting === null) return [record];
    waiting.push(record);
    if (!carries) return [];
    const released = waiting;
    waiting = null;
    return released;
  }

  /** The record as the client gets it; null when it is the usage chunk, which waits for the end. */
  function edit(
    record: StreamRecord,
    chunk: JsonObject,
    counted: Usage | null,
  ): StreamRecord | null {
    const own = identity ??= identityOf(chunk, options.identity);
    const changes = identityChanges(chunk, own);
    const span = isObject(chunk.usage) ? findValue(record.data, ["usage"]) : null;
    if (span === null || !isObject(chunk.usage)) {
      if (!options.includeUsage && chunk.usage !== undefined) changes.push(["usage", null]);
      return changed(record, chunk, changes);
    }
    const text = record.data.slice(span.start, span.end);
    const completed = completedUsage(text, chunk.usage);
    if (Array.isArray(chunk.choices) && chunk.choices.length > 0) {
      usage = { chunk: usageChunk(own, completed ?? text), counted };
      changes.push(["usage", options.includeUsage ? "null" : null]);
      return changed(record, chunk, changes);
    }
    if (completed !== null) changes.push(["usage", completed]);
    if (!Array.isArray(chunk.choices)) changes.push(["choices", "[]"]);
    usage = { chunk: changed(record, chunk, changes), counted };
    return null;
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
      return malformed("The provider's stream ended before the answer was finished.");
    }
    isDone = true;
    const held = releaseAll(calls.end());
    const tail = options.includeUsage && usage !== null ? [usage.chunk] : [];
    return success([...held, ...tail, last]);
  }

  return {
    push,
    end: () => isDone ? success([]) : finish(DONE),
    fail: () => BROKEN,
    done: () => isDone,
    usage: () => usage?.counted ?? null,
    outcome: () => isDone ? { resource: null, usage: usage?.counted ?? null } : null,
  };
}

/** The chunk that tells the usage where the provider told it beside a choice. */
function usageChunk(identity: Identity, usageText: string): StreamRecord {
  const head = JSON.stringify({ ...identity, choices: [] }).slice(0, -1);
  return { event: null, data: `${head},"usage":${usageText}}`, raw: null };
}

function malformed(message: string): Result<never> {
  return fault("invalid_upstream_response", message);
}
