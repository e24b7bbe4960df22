import type { Delivery } from "../../core/codec.ts";
import type { Usage } from "../../core/events.ts";
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";
import { pushAll } from "../../core/push_all.ts";
import type { StreamRecord } from "../../core/reply.ts";
import { fault, type Result, success } from "../../core/result.ts";
import { changeMembers, membersOf, splice, valueAt } from "../../formats/edit.ts";
import { providerError } from "../../wires/compat_errors.ts";
import { usageOf } from "../../wires/compat/usage.ts";
import { carriesSomething, finishesOf } from "./chunk.ts";
import { likeness } from "./likeness.ts";
import {
  type Change,
  completedUsage,
  type Identity,
  identityChanges,
  identityOf,
  reasoningEdits,
} from "./relay_edits.ts";
import { BROKEN, DONE } from "./terminal.ts";

/** How chunks are relayed. */
export interface RelayOptions {
  /** What the chunks say of themselves where the upstream does not. */
  readonly identity: Identity;
  /** The client asked for the usage chunk. */
  readonly includeUsage: boolean;
  readonly extractsReasoning: boolean;
}

/**
 * Relays a Chat Completions stream: a chunk keeps its bytes unless a rule changes it. Records that
 * carry nothing wait for the first that does. Complete is a stream whose choices have all finished;
 * `[DONE]` is added where it is missing.
 */
export function relay(options: RelayOptions): Delivery {
  let identity: Identity | null = null;
  let waiting: StreamRecord[] | null = [];
  let usage: { readonly chunk: StreamRecord; readonly counted: Usage | null } | null = null;
  let isDone = false;
  const begun = new Set<number>();
  const finished = new Set<number>();
  const like = likeness();

  function push(record: StreamRecord): Result<readonly StreamRecord[]> {
    if (isDone) return success([]);
    if (waiting === null && record.event === null) {
      const data = like.relayed(record.data);
      if (data !== null) return success([data === record.data ? record : rewritten(record, data)]);
    }
    if (record.data === "") return release(record, false);
    if (record.data === "[DONE]") return finish(record);
    const chunk = parseJson(record.data);
    if (!isObject(chunk)) return malformed("The provider sent a record that is not a JSON object.");
    if (record.event === "error" || (chunk.error ?? null) !== null) return providerError(chunk);
    if (!Array.isArray(chunk.choices) && !isObject(chunk.usage)) {
      return malformed("The provider sent a record that is no completion chunk.");
    }
    const choices = finishesOf(chunk);
    for (const { index, isFinished } of choices) {
      begun.add(index);
      if (isFinished) finished.add(index);
    }
    const counted = isObject(chunk.usage) ? usageOf(chunk.usage) : success(null);
    if (!counted.ok) return counted;
    const edited = edit(record, chunk, counted.value);
    if (edited === null) return success([]);
    // Where tags are looked for, any piece of content may need a change.
    const isAlike = !options.extractsReasoning && !isObject(chunk.usage);
    if (isAlike && waiting === null && !choices.some(({ isFinished }) => isFinished)) {
      like.learn(record.data, edited.data);
    }
    return release(edited, carriesSomething(chunk));
  }

  function release(record: StreamRecord, carries: boolean): Result<readonly StreamRecord[]> {
    if (waiting === null) return success([record]);
    waiting.push(record);
    if (!carries) return success([]);
    const released = waiting;
    waiting = null;
    return success(released);
  }

  /** The record as the client gets it; null when it is the usage chunk, which waits for the end. */
  function edit(
    record: StreamRecord,
    chunk: JsonObject,
    counted: Usage | null,
  ): StreamRecord | null {
    const own = identity ??= identityOf(chunk, options.identity);
    const changes = identityChanges(chunk, own);
    const span = isObject(chunk.usage) ? valueAt(record.data, ["usage"]) : null;
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
      ? changeMembers(text.indexOf("{"), membersOf(text), changes)
      : [];
    if (options.extractsReasoning) pushAll(edits, reasoningEdits(text, chunk, "delta"));
    return edits.length === 0 ? record : rewritten(record, splice(text, edits));
  }

  function finish(last: StreamRecord): Result<readonly StreamRecord[]> {
    const isComplete = finished.size > 0 && [...begun].every((index) => finished.has(index));
    if (!isComplete) {
      return malformed("The provider's stream ended before the answer was finished.");
    }
    isDone = true;
    const tail = options.includeUsage && usage !== null ? [usage.chunk] : [];
    return success([...tail, last]);
  }

  return {
    push,
    end: () => isDone ? success([]) : finish(DONE),
    fail: () => BROKEN,
    done: () => isDone,
    outcome: () => isDone ? { resource: null, usage: usage?.counted ?? null } : null,
  };
}

/** The chunk that tells the usage where the provider told it beside a choice. */
function usageChunk(identity: Identity, usageText: string): StreamRecord {
  const head = JSON.stringify({ ...identity, choices: [] }).slice(0, -1);
  return { event: null, data: `${head},"usage":${usageText}}`, raw: null };
}

function rewritten(record: StreamRecord, data: string): StreamRecord {
  return { event: record.event, data, raw: null };
}

function malformed(message: string): Result<never> {
  return fault("invalid_upstream_response", message);
}
