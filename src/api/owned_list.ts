import type { Reply } from "../core/reply.ts";
import { type Result, success } from "../core/result.ts";
import { requestedModel } from "../exchange.ts";
import type { Call } from "../call/call.ts";
import { type NativeCapability, requireNativeProvider } from "../call/capability.ts";
import { hasPool } from "../call/key_pool.ts";
import { findOwner } from "../call/ownership.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { Provider, ProviderAccount, Sender } from "../wires/wire.ts";
import { callNative, isList, type NativeCall } from "./native_call.ts";
import { type ListedObjects, ownPage } from "./own_page.ts";

/** A list of objects that an upstream stores. */
export interface OwnedList extends ListedObjects, Pick<NativeCall, "path" | "isRetried"> {
  /** Capability that their provider must have. */
  readonly capability: NativeCapability;
  readonly query: URLSearchParams;
  /** Stores what follows from a page of an account, before it is sent; absent for nothing. */
  onPage?(page: JsonObject, sender: Sender): Promise<Result<void>>;
}

/** Number of consecutive pages with objects of other clients only, after which a list ends. */
const MAX_HIDDEN_PAGES = 20;

/**
 * Lists the objects of an upstream account, without the objects of other clients. The account is that of
 * the provider that the client names, else of the only capable one.
 */
export async function listOwned(
  call: Call,
  { capability, type, idOf, path, query: clientQuery, isRetried, onPage }: OwnedList,
): Promise<Result<Reply>> {
  const named = requestedModel(call, "");
  if (!named.ok) return named;
  const able = requireNativeProvider(call, named.value.provider, capability);
  if (!able.ok) return able;
  const provider = able.value;
  const query = new URLSearchParams(clientQuery);
  const after = query.get("after");
  let account = after === null ? null : await findAccount(call, provider, type, idOf(after));
  for (let page = 1;; page++) {
    let next: string | null = null;
    const reply = await callNative(call, {
      provider,
      account,
      method: "GET",
      path,
      query,
      ...isRetried && { isRetried },
      isValid: isList,
      onComplete(resource, sender) {
        // The cursor of the next page is an ID of the same account.
        account = sender.account;
        return onPage?.(resource, sender) ?? null;
      },
      ...((call.caller.isIsolated || call.client.key?.permissions?.models) && {
        async rewritten(document) {
          const own = await ownPage(call, document, { type, idOf });
          if (!own.ok) return own;
          next = own.value.next;
          return success(own.value.text);
        },
      }),
    });
    if (!reply.ok || next === null || page >= MAX_HIDDEN_PAGES) return reply;
    query.set("after", next);
  }
}

/** Returns the account of the object after which a page begins; null if any key may be used. */
async function findAccount(
  call: Call,
  provider: Provider,
  type: ListedObjects["type"],
  id: string,
): Promise<ProviderAccount | null> {
  if (!hasPool(provider)) return null;
  const param = "completion_id";
  const owned = await findOwner(call, { type, id, param, provider: provider.id });
  return owned.ok ? owned.value?.account ?? null : null;
}
