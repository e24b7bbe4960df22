import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import type { StreamRecord } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { malformed, providerError } from "../openai/errors.ts";

/** One record of a Chat Completions stream. */
export type ChatRecord =
  | { readonly kind: "chunk"; readonly chunk: JsonObject }
  | { readonly kind: "done" }
  /**
   * A record without content: a comment, empty data, an event of another type, or an object that is
   * not a chunk.
   */
  | { readonly kind: "nothing" };

const NOTHING: Result<ChatRecord> = { ok: true, value: { kind: "nothing" } };
const DONE: Result<ChatRecord> = { ok: true, value: { kind: "done" } };

/**
 * Parses a record of a Chat Completions stream. A chunk has a list of choices, or the usage. Fails
 * on an error record, and on data that is neither `[DONE]` nor a JSON object.
 */
export function parseRecord({ event, data }: StreamRecord): Result<ChatRecord> {
  const text = data.trim();
  if (text === "") return NOTHING;
  if (text === "[DONE]") return DONE;
  const chunk = parseJson(data);
  if (!isObject(chunk)) return malformed("a record that is not a JSON object");
  const { choices, usage } = chunk;
  const isChunk = Array.isArray(choices) || isObject(usage);
  if (event === "error" || (chunk.error ?? null) !== null) return providerError(chunk);
  if (isChunk) return success({ kind: "chunk", chunk });
  // Some servers report an error without an `error` member.
  if (chunk.object === "error" || chunk.type === "error") return providerError(chunk);
  return (choices ?? null) === null ? NOTHING : malformed("a record that is no completion chunk");
}
