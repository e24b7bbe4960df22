import type { OwnedReasoning, ReasoningBlock } from "../../core/stream/reasoning.ts";
import type { StreamEvent } from "../../core/stream/events.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { Optional } from "../../prompt/refusals.ts";
import type { Target } from "../wire.ts";

/**
 * Maximum length of what a host has signed or encrypted in one response, in characters of JSON. Of
 * a response with more nothing is stored.
 */
const MAX_SIGNED_CHARS = 256 * 1024;

/** Types of the stored blocks, after the members of the Chat protocol that hold them. */
const SIGNATURE = "extra_content", DETAILS = "reasoning_details";

/** What a host has signed or encrypted in an earlier message, and needs back unchanged. */
export interface ReturnedReasoning {
  /** Signatures by the IDs of the calls. */
  readonly signatures: ReadonlyMap<string, JsonObject>;
  /** The list `reasoning_details`; null for none. */
  readonly details: JsonValue;
}

const NOTHING: ReturnedReasoning = { signatures: new Map(), details: null };

/** Returns the event of the signature of a call, which follows that of the call. */
export function signatureEvent(signature: JsonObject): StreamEvent {
  return { type: "reasoning_item", value: { type: SIGNATURE, signature } };
}

/** Collects the list `reasoning_details` of a message, whole or in deltas. */
export interface DetailsReader {
  read(details: Optional): void;
  /** Returns the event of the whole list; no event for an empty list or one that is too long. */
  end(): readonly StreamEvent[];
  heldChars(): number;
}

/**
 * Returns the reader of `reasoning_details`. Deltas with the type and index of the one before
 * continue its texts; their other members replace those of the one before.
 */
export function newDetailsReader(): DetailsReader {
  const details: JsonObject[] = [];
  let length = 0;

  function add(piece: JsonObject): void {
    const last = details.at(-1);
    if (last === undefined || last.type !== piece.type || last.index !== piece.index) {
      details.push({ ...piece });
      return;
    }
    for (const [key, value] of Object.entries(piece)) {
      const before = last[key];
      const isText = CONTINUED.includes(key) && typeof before === "string" &&
        typeof value === "string";
      if (isText) last[key] = before + value;
      else if ((value ?? null) !== null) last[key] = value;
    }
  }

  return {
    read(given) {
      if (!Array.isArray(given) || length > MAX_SIGNED_CHARS) return;
      for (const piece of given.filter(isObject)) {
        length += JSON.stringify(piece).length;
        if (length <= MAX_SIGNED_CHARS) add(piece);
      }
    },
    end: () =>
      details.length === 0 || length > MAX_SIGNED_CHARS
        ? []
        : [{ type: "reasoning_item", value: { type: DETAILS, details } }],
    heldChars: () => Math.min(length, MAX_SIGNED_CHARS),
  };
}

/** Members of an element of `reasoning_details` whose texts arrive in pieces. */
const CONTINUED: readonly string[] = ["text", "summary", "data"];

/**
 * Returns the blocks of a response to store. Those that a Chat host has signed get the model, as
 * the host accepts them for this one only, and the ID of their call.
 */
export function storedBlocks(
  blocks: readonly ReasoningBlock[],
  callIds: readonly string[],
  model: string,
): readonly ReasoningBlock[] {
  const signed = blocks.filter(({ value }) => value.type === SIGNATURE);
  const chars = signed.reduce((sum, { value }) => sum + JSON.stringify(value).length, 0);
  const kept = chars > MAX_SIGNED_CHARS ? blocks.filter((one) => !signed.includes(one)) : blocks;
  return kept.map((block) => {
    const { value, callsBefore } = block;
    if (value.type === DETAILS) return { ...block, value: { ...value, model } };
    if (value.type !== SIGNATURE) return block;
    return { ...block, value: { ...value, model, call_id: callIds[callsBefore - 1] ?? null } };
  });
}

/** Returns what the target has signed of stored reasoning: nothing of another account or model. */
export function returnedReasoning(
  stored: OwnedReasoning | null,
  { account, model }: Pick<Target, "account" | "model">,
): ReturnedReasoning {
  if (stored === null || stored.account !== account.digest) return NOTHING;
  const own = stored.blocks.map(({ value }) => value).filter((value) => value.model === model);
  const signatures = own.flatMap(({ type, call_id: id, signature }) =>
    type === SIGNATURE && typeof id === "string" && isObject(signature)
      ? [[id, signature] as const]
      : []
  );
  const details = own.find(({ type }) => type === DETAILS)?.details ?? null;
  return { signatures: new Map(signatures), details };
}
