import { createHash } from "node:crypto";
import type { CallingReasoning, OwnedReasoning } from "../../core/stream/reasoning.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { holdBody } from "../../traffic/call_memory.ts";
import type { Call } from "../../call/call.ts";
import { turnForRequest } from "../../call/call_turns.ts";
import { writtenText } from "../../redaction/request.ts";
import type { RouteTarget } from "../../call/generation.ts";
import type { Inference } from "../../call/inference.ts";
import type { Creator } from "../../store/bindings.ts";
import type { ReasoningKey } from "../../store/object_store.ts";
import { reasoningBytes } from "../../store/retention.ts";
import type { StoredReasoning } from "../../prompt/chat/parse_messages.ts";
import type { Message } from "../../prompt/prompt.ts";
import { isSigningHost, storedBlocks } from "../../wires/compat/host_reasoning.ts";
import type { Target, WireName } from "../../wires/wire.ts";
import { newSealReader } from "./host_seals.ts";

type Context = Pick<Call, "caller" | "generation" | "metrics" | "state">;

/** Stored reasoning of the messages of a request; absent for none. */
export interface FoundReasoning {
  readonly reasoning?: StoredReasoning;
}

/**
 * Stores the reasoning of a response for the next request of its caller. A store that fails is
 * counted, and the response is delivered nevertheless.
 */
export async function storeReasoning(
  { caller, metrics, state }: Context,
  { account: { digest: account }, model }: Pick<Target, "account" | "model">,
  { text, callIds, blocks }: CallingReasoning,
): Promise<Result<void>> {
  if (state.objects.storesNothing) return success(undefined);
  const key = keyOf(caller.name, callIds, text);
  const own = { account, blocks: storedBlocks(blocks, callIds, model) };
  const stored = await state.objects.reasoning.store(key, own);
  if (!stored.ok && stored.failure.kind !== "client_cancelled") {
    metrics.storeFailed("reasoning_store");
  }
  return success(undefined);
}

/**
 * Returns the reasoning of the assistant messages of a prompt that their client has sent back in a
 * seal, or that is stored; nothing if there is none.
 */
export async function findReasoning(
  call: Call,
  messages: readonly Message[],
): Promise<FoundReasoning> {
  const found = new Map<number, OwnedReasoning>();
  const ownSeals = newSealReader(call.generation);
  for (const [index, message] of messages.entries()) {
    const own = message.kind === "assistant" && message.signed !== null
      ? ownSeals(message.signed.value)
      : null;
    if (own !== null) found.set(index, own);
  }
  for (const [index, one] of await findStored(call, messages, found)) found.set(index, one);
  return found.size === 0 ? {} : { reasoning: found };
}

/**
 * Returns the stored reasoning of the messages of which none is known. Only messages with tool
 * calls and without thinking blocks are looked up. The reasoning of a response goes to the last
 * message with its calls alone: a request that repeats a message would have it many times. A store
 * that fails is counted and finds nothing. What is found counts in the body memory, because some
 * bytes name megabytes; the call ends as `overloaded` if there is no room.
 */
async function findStored(
  call: Call,
  messages: readonly Message[],
  known: StoredReasoning,
): Promise<readonly (readonly [index: number, reasoning: OwnedReasoning])[]> {
  const { caller, cancellation, metrics, state } = call;
  const wanted = messages.flatMap((message, index) => {
    if (message.kind !== "assistant" || message.thinking.length > 0 || known.has(index)) return [];
    const callIds = message.calls.flatMap(({ id }) => id === null ? [] : [id.value]);
    const text = message.reasoning === null ? null : writtenText(call, message.reasoning.value);
    return callIds.length === 0 ? [] : [{ index, key: keyOf(caller.name, callIds, text) }];
  });
  const missing = [...new Map(wanted.map((one) => [JSON.stringify(one.key), one])).values()];
  if (state.objects.storesNothing || missing.length === 0) return [];
  // The request is translated in the next piece.
  await turnForRequest(call);
  if (cancellation.isCancelled) return [];
  const found = await state.objects.reasoning.find(missing.map(({ key }) => key));
  if (!found.ok) {
    if (found.failure.kind !== "client_cancelled") metrics.storeFailed("reasoning_find");
    return [];
  }
  const all = missing.flatMap(({ index }, at) => {
    const one = found.value[at] ?? null;
    return one === null ? [] : [[index, one] as const];
  });
  if (all.length === 0) return [];
  const full = holdBody(call, all.reduce((sum, [, one]) => sum + reasoningBytes("", one), 0));
  if (full === null) return all;
  cancellation.cancel(full.failure);
  return [];
}

/**
 * Returns the account that accepts the latest stored reasoning of a request, for the `Inference`.
 */
export function reasoningAccount(
  found: Iterable<FoundReasoning>,
): Pick<Inference, "reasoningAccount"> {
  const all = [...found].flatMap(({ reasoning }) => [...reasoning ?? []]);
  const [, latest] = all.toSorted(([a], [b]) => a - b).at(-1) ?? [];
  return latest === undefined ? {} : { reasoningAccount: latest.account };
}

/**
 * Returns the first target of the configuration for each of these protocols, and for Chat if a host
 * needs what it has signed back.
 */
export function findTargets(
  { generation }: Context,
  protocols: readonly WireName[],
): readonly RouteTarget[] {
  const all = generation.routes.flatMap(({ targets, fallback }) => [...targets, ...fallback])
    .filter((target) => protocols.includes(target.wire.name) || isSigningHost(target));
  const names = new Set(all.map(({ wire }) => wire.name));
  return [...names].flatMap((name) => all.find(({ wire }) => wire.name === name) ?? []);
}

/** Stored reasoning of a request for each protocol, whose messages differ. */
export type ReasoningByWire = ReadonlyMap<WireName, FoundReasoning>;

/** Looks up the stored reasoning of a request for each of the targets. */
export async function findForTargets(
  call: Call,
  targets: readonly RouteTarget[],
  messagesFor: (target: RouteTarget) => readonly Message[],
): Promise<ReasoningByWire> {
  const found = targets.map(async (target, index) => {
    if (index > 0) await turnForRequest(call);
    const messages = call.cancellation.isCancelled ? [] : messagesFor(target);
    return [target.wire.name, await findReasoning(call, messages)] as const;
  });
  return new Map(await Promise.all(found));
}

/** Returns the messages of a prompt with their stored reasoning. */
export function withReasoning(
  messages: readonly Message[],
  reasoning: StoredReasoning | undefined,
): readonly Message[] {
  return messages.map((message, index) =>
    message.kind === "assistant" ? { ...message, stored: reasoning?.get(index) ?? null } : message
  );
}

/**
 * Returns the key of a response's reasoning. Clients may send the calls of a response in another
 * order.
 */
function keyOf(creator: Creator, callIds: readonly string[], text: string | null): ReasoningKey {
  const calls = digestText(JSON.stringify(callIds.toSorted()));
  return { creator, calls, text: text === null ? null : digestText(text) };
}

function digestText(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
