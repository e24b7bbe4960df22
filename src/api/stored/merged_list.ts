import { isObject, type JsonDocument, type JsonObject } from "../../core/json/json.ts";
import type { Reply } from "../../core/stream/reply.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { findRest } from "../../routing/accounts.ts";
import type { Call } from "../../call/call.ts";
import { awaitTurn } from "../../call/call_turns.ts";
import { refuseOverloaded } from "../../traffic/call_memory.ts";
import { turnForText } from "../../traffic/loop_turns.ts";
import { parseElements } from "../../formats/edit.ts";
import { utf8Bytes } from "../../formats/utf8.ts";
import type { Provider, ProviderAccount } from "../../wires/wire.ts";
import { shownText } from "./shown_object.ts";
import { pathIdProblem } from "./identifier.ts";
import { callNative, type NativeCall } from "./native_call.ts";
import {
  limitOf,
  type ListedObjects,
  MAX_HIDDEN_PAGES,
  MAX_SKIPPED_COUNT,
  visibleObjects,
} from "./own_page.ts";

/** A list of the objects of several accounts. */
interface MergedList extends ListedObjects {
  readonly provider: Provider;
  readonly accounts: readonly ProviderAccount[];
  readonly query: URLSearchParams;
  /** The call for one page of the list. */
  readonly page: Omit<NativeCall, "account" | "query">;
}

/** An object of a list, with its JSON text as the provider wrote it. */
interface Item {
  readonly id: string;
  readonly created: number;
  readonly text: string;
  readonly isVisible: boolean;
}

/** The list of one account, of which some pages are read. */
interface Source {
  readonly account: ProviderAccount;
  /** Objects of the last page; those before `taken` are no longer in the list. */
  items: readonly Item[];
  taken: number;
  /** Where the next page begins. */
  after: string | null;
  /** True if the last page was read. */
  isOver: boolean;
  /** True for objects that come before the page of the client. */
  isEarlier(item: Item): boolean;
}

/**
 * Lists the objects of several accounts by their time of creation, each once, although accounts of
 * one project have the same ones, and without those of a refused key if another key is not refused.
 * A page ends where the next object could be on an unread page of an account.
 */
export async function listMerged(call: Call, list: MergedList): Promise<Result<Reply>> {
  const { admission } = call.state;
  const holder = `list ${call.id}`;
  const drop = () => call.cancellation.cancel(refuseOverloaded(call, "response_memory").failure);
  try {
    return await mergePages(call, list, (chars) => admission.holdGrowing(holder, chars, drop));
  } finally {
    admission.holdGrowing(holder, 0, drop);
  }
}

/** `hold` is called with the characters of the pages of all accounts after each one. */
async function mergePages(
  call: Call,
  list: MergedList,
  hold: (chars: number) => void,
): Promise<Result<Reply>> {
  const sign = list.query.get("order") === "asc" ? 1 : -1;
  const limit = limitOf(list.query);
  const sources = await openSources(call, list, sign);
  let refused = 0;
  for (let pages = 0;;) {
    for (const source of sources) {
      if (hasItem(source) || source.isOver) continue;
      const isSkipping = pages >= sources.length && limit < MAX_SKIPPED_COUNT;
      const read = await readPage(call, { ...list, isSkipping }, source);
      pages += 1;
      if (read.ok) {
        hold(charsOf(sources));
        continue;
      }
      if (!isRefused(call, list.provider, source.account)) return read;
      source.isOver = true;
      refused += 1;
      if (refused === sources.length) return read;
    }
    const taken: Item[] = [];
    let last: Item | null = null;
    while (taken.length < limit && sources.every((one) => one.isOver || hasItem(one))) {
      const item = takeFirst(sources, sign);
      if (item === null) break;
      last = item;
      if (item.isVisible) taken.push(item);
    }
    const hasMore = sources.some((one) => !one.isOver || hasItem(one));
    if (taken.length === 0 && hasMore && pages < MAX_HIDDEN_PAGES * sources.length) continue;
    const turn = turnForText(call.turns, charsOf(sources), "large", call.cancellation);
    const stopped = await awaitTurn(call, turn);
    if (stopped !== null) return stopped;
    return pageReply(taken, taken.at(-1) ?? (hasMore ? last : null), hasMore);
  }
}

function charsOf(sources: readonly Source[]): number {
  const charsIn = (items: readonly Item[]) => items.reduce((sum, { text }) => sum + text.length, 0);
  return sources.reduce((sum, { items }) => sum + charsIn(items), 0);
}

function hasItem({ items, taken }: Source): boolean {
  return taken < items.length;
}

/**
 * Returns the list of each account with the place where the client's page begins. An account that
 * does not know the object before it begins with its first object that was created later.
 */
async function openSources(
  call: Call,
  { accounts, query, page }: MergedList,
  sign: number,
): Promise<readonly Source[]> {
  const after = query.get("after");
  const found: (number | null)[] = [];
  for (const account of accounts) {
    if (after === null || pathIdProblem(after, "after", false) !== null) break;
    let created: number | null = null;
    await callNative(call, {
      ...page,
      account,
      path: [...page.path, after],
      isValid: ({ id }) => id === after,
      onComplete(resource) {
        created = createdAt(resource);
        return null;
      },
    });
    found.push(created);
  }
  const first = found.findIndex((created) => created !== null);
  return accounts.map((account, index) => {
    const isKnown = first < 0 || found[index] !== null;
    const limit = found[first] ?? 0;
    return {
      account,
      items: [],
      taken: 0,
      after: isKnown ? after : null,
      isOver: false,
      isEarlier({ created }) {
        if (isKnown) return false;
        return sign * (created - limit) < 0 || (created === limit && index < first);
      },
    };
  });
}

/** True if the key of an account rests because it is refused for another reason than its rate. */
function isRefused(call: Call, provider: Provider, account: ProviderAccount): boolean {
  const rest = findRest(call, provider, account);
  return rest !== null && rest.kind !== "throttled";
}

/** Reads the next page of an account, a large one while objects of other clients are skipped. */
async function readPage(
  call: Call,
  list: MergedList & { readonly isSkipping: boolean },
  source: Source,
): Promise<Result<Reply>> {
  const query = new URLSearchParams(list.query);
  if (source.after === null) query.delete("after");
  else query.set("after", source.after);
  if (list.isSkipping) query.set("limit", String(MAX_SKIPPED_COUNT));
  return await callNative(call, {
    ...list.page,
    account: source.account,
    query,
    async rewritten(document) {
      const items = await itemsOf(call, list, document);
      if (!items.ok) return items;
      source.items = items.value.filter((item) => !source.isEarlier(item));
      source.taken = 0;
      const next = items.value.at(-1)?.id ?? source.after;
      source.isOver = document.value.has_more !== true || next === source.after;
      source.after = next;
      return success(null);
    },
  });
}

async function itemsOf(
  call: Call,
  list: MergedList,
  { text, value, members }: JsonDocument,
): Promise<Result<readonly Item[]>> {
  const data = Array.isArray(value.data) ? value.data.filter(isObject) : [];
  const ids = data.map(({ id }) => typeof id === "string" ? id : "");
  const visible = await visibleObjects(call, ids, list);
  if (!visible.ok) return visible;
  const start = members.find(({ key }) => key === "data")?.start ?? 0;
  const spans = parseElements(text, start);
  return success(data.map((resource, index) => {
    const id = ids[index] ?? "";
    const span = spans[index];
    return {
      id,
      created: createdAt(resource),
      text: span === undefined
        ? "{}"
        : shownText(text.slice(span.start, span.end), visible.value.get(id)),
      isVisible: visible.value.has(id),
    };
  }));
}

/** Returns the time at which an object was created in seconds; 0 without one. */
function createdAt({ created_at, created }: JsonObject): number {
  const time = created_at ?? created;
  return typeof time === "number" ? time : 0;
}

/**
 * Takes the next object, of those of the same time the one of the first account, out of all lists
 * that have it.
 */
function takeFirst(sources: readonly Source[], sign: number): Item | null {
  let first: Item | null = null;
  for (const { items, taken } of sources) {
    const item = items[taken];
    if (item === undefined) continue;
    if (first === null || sign * (item.created - first.created) < 0) first = item;
  }
  for (const source of sources) {
    if (first !== null && source.items[source.taken]?.id === first.id) source.taken += 1;
  }
  return first;
}

function pageReply(items: readonly Item[], last: Item | null, hasMore: boolean): Result<Reply> {
  const text = `{"object":"list","data":[${items.map((item) => item.text).join(",")}],` +
    `"first_id":${JSON.stringify(items[0]?.id ?? null)},` +
    `"last_id":${JSON.stringify(last?.id ?? null)},"has_more":${hasMore}}`;
  return success({
    kind: "whole",
    response: {
      status: 200,
      headers: { "content-type": "application/json" },
      body: utf8Bytes(text),
    },
  });
}
