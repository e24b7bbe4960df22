import {
  isObject,
  isTooDeep,
  type JsonObject,
  type JsonValue,
  parseExact,
} from "../../../core/json/json.ts";
import {
  invalidResponse,
  responseTooLarge,
  type Result,
  success,
} from "../../../core/failure/result.ts";
import { areTooLarge } from "../../../formats/parse_limits.ts";
import type { MessageEvent } from "./blocks.ts";

/** Order of content blocks in a whole message, by type; any other type is thinking. */
const RANKS: Readonly<Record<string, number>> = { text: 1, tool_use: 2 };

/** Members of a block that its deltas add to. */
const ADDED = ["text", "thinking", "signature"] as const;

/** A block with the text of its arguments, which is empty for any other block. */
interface Folded {
  readonly block: JsonObject;
  input: string;
}

/**
 * Returns the message that is the sum of the events of a complete stream. A call whose arguments
 * the token limit has cut is left out. Fails on arguments that are too large to be parsed, or
 * nested too deeply to be encoded.
 */
export function foldMessage(events: readonly MessageEvent[]): Result<JsonObject> {
  const folded: Folded[] = [];
  let message: JsonObject = {};
  for (const event of events) {
    const { message: start, content_block: block, delta } = event;
    if (event.type === "message_start" && isObject(start)) message = { ...start };
    if (isObject(block)) folded.push({ block: { ...block }, input: "" });
    if (event.type === "content_block_delta" && isObject(delta)) add(folded.at(-1), delta);
    if (event.type === "message_delta" && isObject(delta)) {
      message = { ...message, ...delta, usage: event.usage };
    }
  }
  if (areTooLarge(folded.map(({ input }) => input))) {
    return responseTooLarge(
      "The provider called tools with arguments that are too large to be parsed.",
    );
  }
  const content: JsonValue[] = [];
  for (const one of folded.toSorted(byRank)) {
    const block = completed(one);
    if (!block.ok) return block;
    if (block.value !== null) content.push(block.value);
  }
  return success({ ...message, content });
}

/** Adds a delta to its block, which is always the last one: one block is open at a time. */
function add(last: Folded | undefined, delta: JsonObject): void {
  if (last === undefined) return;
  if (typeof delta.partial_json === "string") last.input += delta.partial_json;
  for (const name of ADDED) {
    const [before, added] = [last.block[name], delta[name]];
    if (typeof added === "string") last.block[name] = `${before ?? ""}${added}`;
  }
}

/** Returns a block with its arguments; null for a call whose arguments are no JSON object. */
function completed({ block, input }: Folded): Result<JsonObject | null> {
  if (input === "") return success(block);
  const value = parseExact(input);
  if (!isObject(value)) return success(null);
  return isTooDeep(value)
    ? invalidResponse("The provider called a tool with arguments that are nested too deeply.")
    : success({ ...block, input: value });
}

function byRank(a: Folded, b: Folded): number {
  return rankOf(a) - rankOf(b);
}

function rankOf({ block: { type } }: Folded): number {
  return typeof type === "string" ? RANKS[type] ?? 0 : 0;
}
