import type { OwnedReasoning, ReasoningBlock } from "../../core/stream/reasoning.ts";
import type { StreamEvent } from "../../core/stream/events.ts";
import { isObject, isTooDeep, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { profileOf } from "../../data/hosts.ts";
import type { AssistantTurn } from "../../prompt/prompt.ts";
import type { Optional } from "../../prompt/refusals.ts";
import type { Target } from "../wire.ts";

/**
 * Maximum length of what a host has signed or encrypted in one response, in characters of JSON. Of
 * a response with more nothing is stored.
 */
export const MAX_SIGNED_CHARS = 256 * 1024;

/** Types of the stored blocks, after the members of the Chat protocol that hold them. */
const SIGNATURE = "extra_content", DETAILS = "reasoning_details";

/** Members that a host has signed or encrypted in an earlier message, and needs back unchanged. */
export interface ReturnedReasoning {
  /** Signatures by the IDs of the calls. */
  readonly signatures: ReadonlyMap<string, JsonObject>;
  /** Signature of the message itself; null for none. */
  readonly ownSignature: JsonObject | null;
  /** The list `reasoning_details`; null for none. */
  readonly details: JsonValue;
  /** True for a signature that another account or model has made, as far as it is known. */
  isForeign(signature: JsonObject): boolean;
}

/** True if the target has Chat, and its host needs what it has signed back. */
export function isSigningHost({ wire, provider }: Pick<Target, "wire" | "provider">): boolean {
  if (wire.name !== "compat") return false;
  const { unsignedCall, hasReasoningDetails } = profileOf(provider.settings.compatibility_profile);
  return unsignedCall !== undefined || hasReasoningDetails === true;
}

/** Returns the signature in a message or call: an `extra_content` with a text; null for none. */
export function signatureIn({ extra_content: signature }: JsonObject): JsonObject | null {
  return isObject(signature) && !isTooDeep(signature) && hasText(signature) ? signature : null;
}

function hasText(value: Optional): boolean {
  return typeof value === "string" || isObject(value) && Object.values(value).some(hasText);
}

/**
 * Returns the event of a signature, which precedes that of its call; `call` is the position of the
 * call, null for the signature of the message itself.
 */
export function signatureEvent(signature: JsonObject, call: number | null): StreamEvent {
  return {
    type: "reasoning_item",
    value: { type: SIGNATURE, signature, ...call !== null && { call } },
  };
}

/** Collects the list `reasoning_details` of a message, whole or in deltas. */
export interface DetailsReader {
  read(details: Optional): void;
  /**
   * Returns the event of the details since the last one; no event if there are none. Of a list that
   * is too long it has none, so that nothing of it is sent back.
   */
  take(): readonly StreamEvent[];
  heldChars(): number;
}

/** Returns the reader of `reasoning_details`. */
export function newDetailsReader(): DetailsReader {
  let details: JsonObject[] = [];
  let length = 0;
  let hasMore = false;

  return {
    read(given) {
      if (!Array.isArray(given) || length > MAX_SIGNED_CHARS) return;
      for (const piece of given.filter(isObject)) {
        hasMore = true;
        length += JSON.stringify(piece).length;
        if (length <= MAX_SIGNED_CHARS) addDetail(details, piece);
      }
    },
    take() {
      if (!hasMore) return [];
      const taken = length > MAX_SIGNED_CHARS ? null : details;
      details = [];
      hasMore = false;
      return [{ type: "reasoning_item", value: { type: DETAILS, details: taken } }];
    },
    heldChars: () => Math.min(length, MAX_SIGNED_CHARS),
  };
}

/**
 * Adds a piece to a list of details. One with the type and index of the one before continues its
 * texts; its other members replace those of the one before.
 */
function addDetail(details: JsonObject[], piece: JsonObject): void {
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

/** Members of an element of `reasoning_details` whose texts arrive in pieces. */
const CONTINUED: readonly string[] = ["text", "summary", "data"];

/** True for a block that a Chat host has signed or encrypted. */
export function isHostSigned({ type }: JsonObject): boolean {
  return type === SIGNATURE || type === DETAILS;
}

/**
 * Returns a block of a Chat host with the model, as the host accepts it for this one only, and the
 * ID of its call.
 */
export function namedBlock(
  { call, ...block }: JsonObject,
  model: string,
  callIdAt: (position: number) => string | undefined,
): JsonObject {
  const id = typeof call === "number" ? callIdAt(call) ?? null : undefined;
  return { ...block, model, ...id !== undefined && { call_id: id } };
}

/** Returns the blocks of a response to store. */
export function storedBlocks(
  blocks: readonly ReasoningBlock[],
  callIds: readonly string[],
  model: string,
): readonly ReasoningBlock[] {
  const signed = blocks.filter(({ value }) => isHostSigned(value));
  const chars = signed.reduce((sum, { value }) => sum + JSON.stringify(value).length, 0);
  const kept = chars > MAX_SIGNED_CHARS
    ? blocks.filter(({ value }) => !isHostSigned(value))
    : blocks;
  return kept.map((block) =>
    isHostSigned(block.value)
      ? { ...block, value: namedBlock(block.value, model, (call) => callIds[call]) }
      : block
  );
}

/** Returns what the target has signed of stored reasoning: nothing of another account or model. */
export function returnedReasoning(
  stored: OwnedReasoning | null,
  { account, model }: Pick<Target, "account" | "model">,
): ReturnedReasoning {
  const blocks = stored?.blocks.map(({ value }) => value) ?? [];
  const isOwn = (block: JsonObject) => stored?.account === account.digest && block.model === model;
  const own = blocks.filter(isOwn);
  const signatures = own.flatMap(({ type, call_id: id, signature }) =>
    type === SIGNATURE && typeof id === "string" && isObject(signature)
      ? [[id, signature] as const]
      : []
  );
  const { signature = null } =
    own.findLast(({ type, call_id: id }) => type === SIGNATURE && id === undefined) ?? {};
  let known: ReadonlyMap<string, boolean> | null = null;
  return {
    signatures: new Map(signatures),
    ownSignature: isObject(signature) ? signature : null,
    details: joinedDetails(own.filter(({ type }) => type === DETAILS)),
    isForeign(given) {
      // Once for all calls: each signature of many would be compared with each block.
      known ??= ownBySignature(blocks, isOwn);
      return known.get(JSON.stringify(given)) === false;
    },
  };
}

/** Returns for each signature, as text, whether one of the blocks with it is the target's own. */
function ownBySignature(
  blocks: readonly JsonObject[],
  isOwn: (block: JsonObject) => boolean,
): ReadonlyMap<string, boolean> {
  const known = new Map<string, boolean>();
  for (const block of blocks) {
    if (block.type !== SIGNATURE) continue;
    const text = JSON.stringify(block.signature ?? null);
    known.set(text, known.get(text) === true || isOwn(block));
  }
  return known;
}

/** Returns the whole list of details; null if a part of it is missing. */
function joinedDetails(blocks: readonly JsonObject[]): JsonValue {
  const details: JsonObject[] = [];
  for (const { details: part } of blocks) {
    if (!Array.isArray(part)) return null;
    for (const piece of part.filter(isObject)) addDetail(details, piece);
  }
  return details.length === 0 ? null : details;
}

/** True if the target gets back what its host has signed of a message. */
export function returnsSigned(
  { stored }: Pick<AssistantTurn, "stored">,
  target: Target,
): boolean {
  if (!isSigningHost(target)) return false;
  const { signatures, ownSignature, details } = returnedReasoning(stored, target);
  return signatures.size > 0 || ownSignature !== null || details !== null;
}
