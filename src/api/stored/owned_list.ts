import type { Reply } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { requestedModel } from "../../exchange.ts";
import type { Call } from "../../call/call.ts";
import { type NativeCapability, requireNativeProvider } from "../../routing/capability.ts";
import { servingAccounts } from "../../routing/key_pool.ts";
import type { JsonDocument, JsonObject } from "../../core/json/json.ts";
import type { Sender } from "../../wires/wire.ts";
import { listMerged } from "./merged_list.ts";
import { callNative, isList, type NativeCall } from "./native_call.ts";
import {
  isRewritten,
  limitOf,
  type ListedObjects,
  MAX_HIDDEN_PAGES,
  MAX_SKIPPED_COUNT,
  type OwnPage,
  ownPage,
} from "./own_page.ts";

/** A list of objects that an upstream stores. */
export interface OwnedList extends ListedObjects, Pick<NativeCall, "path" | "isRetried"> {
  /** Capability that their provider must have. */
  readonly capability: NativeCapability;
  readonly query: URLSearchParams;
  /** Stores what follows from a page of an account, before it is sent; absent for nothing. */
  onPage?(page: JsonObject, sender: Sender): Promise<Result<void>>;
}

/**
 * Lists the objects of the accounts of a provider, without the objects of other clients. The
 * provider is the one that the client names, else the only capable one.
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
  const page = {
    provider,
    method: "GET",
    path,
    ...isRetried && { isRetried },
    isValid: isList,
    onComplete: (resource: JsonObject, sender: Sender) => onPage?.(resource, sender) ?? null,
  } as const;
  const accounts = servingAccounts(provider, "");
  if (accounts.length > 1) {
    return await listMerged(call, { type, idOf, provider, accounts, query: clientQuery, page });
  }
  const listed = { ...page, account: null };
  return await readPages(
    call,
    listed,
    clientQuery,
    isRewritten(call) ? (document, limit) => ownPage(call, document, { type, idOf }, limit) : null,
  );
}

/**
 * Returns the first page of a list of one account that holds an object for the client; `rewrite`
 * returns each page as the client sees it, null to leave all as they are.
 */
export async function readPages(
  call: Call,
  page: Omit<NativeCall, "query" | "rewritten">,
  clientQuery: URLSearchParams,
  rewrite: ((document: JsonDocument, limit: number) => Promise<Result<OwnPage>>) | null,
): Promise<Result<Reply>> {
  const query = new URLSearchParams(clientQuery);
  const limit = limitOf(query);
  for (let pages = 1;; pages++) {
    let next: string | null = null;
    const reply = await callNative(call, {
      ...page,
      query,
      ...rewrite !== null && {
        async rewritten(document) {
          const own = await rewrite(document, limit);
          if (!own.ok) return own;
          next = own.value.next;
          return success(own.value.text);
        },
      },
    });
    if (!reply.ok || next === null || pages >= MAX_HIDDEN_PAGES) return reply;
    query.set("after", next);
    if (limit < MAX_SKIPPED_COUNT) query.set("limit", String(MAX_SKIPPED_COUNT));
  }
}
