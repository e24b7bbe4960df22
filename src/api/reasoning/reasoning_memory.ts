import { createHash } from "node:crypto";
import type { CallingReasoning, OwnedReasoning } from "../../core/stream/reasoning.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Call } from "../../call/call.ts";
import type { RouteTarget } from "../../call/generation.ts";
import type { Inference } from "../../call/inference.ts";
import type { Creator } from "../../store/bindings.ts";
import type { ReasoningKey } from "../../store/object_store.ts";
import type { StoredReasoning } from "../../prompt/chat/parse_messages.ts";
import type { Message } from "../../prompt/prompt.ts";
import type { ProviderAccount, WireName } from "../../wires/wire.ts";

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
  { digest: account }: ProviderAccount,
  { text, callIds, blocks }: CallingReasoning,
): Promise<Result<void>> {
  if (state.objects.storesNothing) return success(undefined);
  const key = keyOf(caller.name, callIds, text);
  const stored = await state.objects.reasoning.store(key, { account, blocks });
  if (!stored.ok && stored.failure.kind !== "client_cancelled") {
    metrics.storeFailed("reasoning_store");
  }
  return success(undefined);
}

/**
 * Returns the stored reasoning of the assistant messages of a prompt; nothing if there is none.
 * Only messages with tool calls and without thinking blocks are looked up. A store that fails is
 * counted and finds nothing.
 */
export async function findReasoning(
  { caller, metrics, state }: Context,
  messages: readonly Message[],
): Promise<FoundReasoning> {
  const missing = messages.flatMap((message, index) => {
    if (message.kind !== "assistant" || message.thinking.length > 0) return [];
    const callIds = message.calls.flatMap(({ id }) => id === null ? [] : [id.value]);
    const text = message.reasoning?.value ?? null;
    return callIds.length === 0 ? [] : [{ index, key: keyOf(caller.name, callIds, text) }];
  });
  if (state.objects.storesNothing || missing.length === 0) return {};
  const found = await state.objects.reasoning.find(missing.map(({ key }) => key));
  if (!found.ok) {
    if (found.failure.kind !== "client_cancelled") metrics.storeFailed("reasoning_find");
    return {};
  }
  const reasoning = new Map<number, OwnedReasoning>();
  for (const [at, { index }] of missing.entries()) {
    const one = found.value[at] ?? null;
    if (one !== null) reasoning.set(index, one);
  }
  return { reasoning };
}

/**
 * Returns the account that accepts the latest stored reasoning of a request, for the `Inference`.
 */
export function reasoningAccount(
  { reasoning }: FoundReasoning,
): Pick<Inference, "reasoningAccount"> {
  const latest = [...reasoning?.values() ?? []].at(-1);
  return latest === undefined ? {} : { reasoningAccount: latest.account };
}

/**
 * Returns the first target of the configuration with one of these protocols; undefined if there is
 * none.
 */
export function findTarget(
  { generation }: Context,
  protocols: readonly WireName[],
): RouteTarget | undefined {
  return generation.routes.flatMap(({ targets, fallback }) => [...targets, ...fallback])
    .find(({ wire: { name } }) => protocols.includes(name));
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
