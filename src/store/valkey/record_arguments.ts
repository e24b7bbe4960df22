import { type Bounds, headBytes, type RecordBounds } from "../records/bounds.ts";
import {
  type Change,
  MAX_STEP_PARTS,
  type NextRecord,
  type Part,
  type RecordType,
} from "../records/record_store.ts";
import type { Argument } from "./connection.ts";

/** Maximum bytes of the parts that one script writes or reads, if there is more than one. */
export const MAX_STEP_BYTES = 1024 * 1024;

/**
 * Maximum number of the names of the parts that one script writes, if there is more than one part.
 */
const MAX_STEP_NAMES = 4_096;

/** A part with its body. */
export interface NewPart extends Part {
  readonly body: Uint8Array;
}

/** Parts of records of one type that one script writes. */
export interface WriteStep {
  readonly type: RecordType;
  readonly parts: readonly NewPart[];
}

/**
 * Returns the steps that write the parts of a commit before the step that commits; empty if that
 * may send them along.
 */
export function writeSteps(changes: readonly Change[]): readonly WriteStep[] {
  const steps: { type: RecordType; parts: NewPart[] }[] = [];
  let [parts, bytes, names] = [Infinity, 0, 0];
  for (const { id: { type }, next } of changes) {
    for (const part of newParts(next)) {
      parts++;
      bytes += part.body.length;
      names += part.names.length;
      const last = steps.at(-1);
      const isFull = parts > MAX_STEP_PARTS || bytes > MAX_STEP_BYTES || names > MAX_STEP_NAMES;
      if (!isFull && last?.type === type) {
        last.parts.push(part);
        continue;
      }
      [parts, bytes, names] = [1, part.body.length, part.names.length];
      steps.push({ type, parts: [part] });
    }
  }
  return steps.length > 1 ? steps : [];
}

/**
 * Returns the parts of a record that are sent along, each once: none that is expected to be stored.
 */
function newParts(next: NextRecord | null): readonly NewPart[] {
  const parts = new Map<string, NewPart>();
  for (const part of next?.parts ?? []) {
    if (part.body !== null) parts.set(part.key, { ...part, body: part.body });
  }
  for (const { key, body } of next?.parts ?? []) if (body === null) parts.delete(key);
  return [...parts.values()];
}

/** Returns the arguments for parts with their bodies. */
export function partArguments(parts: readonly NewPart[]): readonly Argument[] {
  return parts.flatMap(({ key, bytes, names, body }) => [key, bytes, namesText(names), body]);
}

/** Returns names as one text. A name has no NUL. */
function namesText(names: readonly string[]): string {
  return names.map((name) => `${name}\0`).join("");
}

/** Returns the names in a text. */
export function namesIn(text: string): readonly string[] {
  return text.split("\0").slice(0, -1);
}

/** Returns the types of the records that are changed. */
export function typesOf(changes: readonly Change[]): readonly RecordType[] {
  return [...new Set(changes.map(({ id }) => id.type))];
}

/** Returns the arguments of a commit. `isWritten`: the parts were written by earlier steps. */
export function commitArguments(
  changes: readonly Change[],
  bounds: RecordBounds,
  isWritten: boolean,
): readonly Argument[] {
  return [
    ...boundArguments(changes, bounds),
    changes.length,
    ...changes.flatMap((change) => changeArguments(change, isWritten)),
  ];
}

/** Returns the arguments that only make room for the records of an earlier commit. */
export function roomArguments(
  changes: readonly Change[],
  bounds: RecordBounds,
): readonly Argument[] {
  const rooms = changes.flatMap(({ id: { type, id } }) => [type, id, "any", "room"]);
  return [...boundArguments(changes, bounds), changes.length, ...rooms];
}

function boundArguments(changes: readonly Change[], bounds: RecordBounds): readonly Argument[] {
  const types = typesOf(changes);
  return [types.length, ...types.flatMap((type) => [type, ...limits(bounds[type])])];
}

function limits(
  { entries, bytes, headBytes = bytes, shareEntries, shareBytes, room }: Bounds,
): readonly Argument[] {
  const unlimited = Number.MAX_SAFE_INTEGER;
  const hasShares = room === "largest_share" || shareEntries !== undefined ||
    shareBytes !== undefined;
  return [
    entries,
    bytes,
    headBytes,
    shareEntries ?? unlimited,
    shareBytes ?? unlimited,
    hasShares ? room : "",
  ];
}

function changeArguments(
  { id: { type, id }, expected, next }: Change,
  isWritten: boolean,
): readonly Argument[] {
  const start = [type, id, expected ?? ""];
  if (next === null) return [...start, "remove"];
  const { head, share, lifeMs, parts, body } = next;
  const sent = isWritten ? [] : newParts(next);
  return [
    ...start,
    "set",
    head,
    headBytes(id, head),
    share,
    lifeMs ?? "",
    parts?.map(({ key }) => key).join(" ") ?? "=",
    sent.length,
    ...partArguments(sent),
    ...bodyArguments(body),
  ];
}

function bodyArguments(body: NextRecord["body"]): readonly Argument[] {
  if (body === undefined) return ["=", ""];
  return body === null ? [-1, ""] : [body.bytes, body.body];
}
