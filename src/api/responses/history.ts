import { isObject, type JsonObject } from "../../core/json.ts";
import { refuse, type Result, success } from "../../core/result.ts";
import { namedBy } from "../../exchange.ts";
import type { Call } from "../../gateway/call.ts";
import { ownerOf, type Pin } from "../../gateway/owner.ts";
import {
  addedProblem,
  fullConversation,
  MOST_ITEMS,
  unknownConversation,
} from "../../state/conversations.ts";
import type { Snapshot } from "../../state/snapshots.ts";
import { isReference } from "../kept_item.ts";
import type { ResponsesRequest } from "./request.ts";
import type { HistoryItem } from "./to_chat.ts";

/** What a request means together with what it refers to. */
export interface Context {
  /** The items before the new ones, oldest first. */
  readonly history: readonly JsonObject[];
  /** The new items; what stood for another one is that one. */
  readonly added: readonly HistoryItem[];
  /** Who made the response that is continued; null when none is. */
  readonly owner: Pin | null;
  /** The local conversation that gets the new items and the output. */
  readonly conversation: string | null;
  /** The bare model that is asked for; null leaves it open. */
  readonly asked: string | null;
}

interface Earlier {
  readonly history: readonly JsonObject[];
  readonly owner: Pin | null;
}

/** Finds what a request continues, belongs to and points at; refused when something is not there. */
export function contextOf(call: Call, request: ResponsesRequest): Result<Context> {
  const named = namedBy(call, request.model);
  if (!named.ok) return named;
  const { provider, model } = named.value;
  const earlier = request.previousResponseId !== null
    ? continued(call, request.previousResponseId, provider)
    : request.conversation !== null
    ? associated(call, request.conversation)
    : success<Earlier>({ history: [], owner: null });
  if (!earlier.ok) return earlier;
  const { history, owner } = earlier.value;
  const added = resolved(call, request, history);
  if (!added.ok) return added;
  const problem = request.conversation === null
    ? null
    : roomProblem(history, added.value.map(({ item }) => item));
  return problem ?? success({
    history,
    added: added.value,
    owner,
    conversation: request.conversation,
    asked: model ?? owner?.origin.asked ?? null,
  });
}

function continued(call: Call, id: string, provider: string | null): Result<Earlier> {
  const param = "previous_response_id";
  const owned = ownerOf(call, { type: "response", id, param, provider });
  if (!owned.ok) return owned;
  const origin = owned.value?.owner?.origin ?? null;
  const snapshot = origin === null ? undefined : call.vault.snapshots.get(id);
  if (owned.value === null || origin === null || snapshot === undefined) {
    return refuse(
      "previous_response_not_found",
      "There is no such response to continue; send the whole conversation as input.",
      param,
    );
  }
  const history = [...snapshot.input, ...outputOf(snapshot)];
  return success({ history, owner: { provider: owned.value.provider, origin } });
}

function associated(call: Call, id: string): Result<Earlier> {
  const conversation = call.vault.conversations.get(id);
  return conversation === undefined
    ? unknownConversation("conversation")
    : success({ history: conversation.items, owner: null });
}

/** There must be room for the new items and for at least one item of output. */
function roomProblem(history: readonly JsonObject[], added: readonly JsonObject[]) {
  return history.length + added.length >= MOST_ITEMS
    ? fullConversation()
    : addedProblem(history, added, "input");
}

function resolved(
  call: Call,
  { input, document }: ResponsesRequest,
  history: readonly JsonObject[],
): Result<readonly HistoryItem[]> {
  const isText = typeof document.value.input === "string";
  const ids = new Set(input.filter(isReference).map(({ id }) => id));
  const known = new Map(ids.size === 0 ? [] : keptItems(call, ids));
  const present = new Set(history.map(({ id }) => id));
  const items: HistoryItem[] = [];
  for (const [index, item] of input.entries()) {
    const path = isText ? "input" : `input[${index}]`;
    if (!isReference(item)) items.push({ item, path });
    else if (typeof item.id !== "string" || !present.has(item.id)) {
      const kept = known.get(item.id);
      if (kept === undefined) {
        return refuse("invalid_value", "There is no item with this id.", `${path}.id`);
      }
      items.push({ item: kept, path });
    }
  }
  return success(items);
}

/** The kept items with these ids, each with its id; of two with the same the later one counts. */
function* keptItems(
  call: Call,
  ids: ReadonlySet<JsonObject[string]>,
): Generator<readonly [JsonObject[string], JsonObject]> {
  const { snapshots, conversations } = call.vault;
  const lists = [
    ...conversations.values().map(({ items }) => items),
    ...snapshots.values().filter((snapshot) => isCurrent(call, snapshot))
      .flatMap((snapshot) => [snapshot.input, outputOf(snapshot)]),
  ];
  for (const item of lists.flat()) {
    if (ids.has(item.id)) yield [item.id, item];
  }
}

/** What belongs to an account that has changed since is not to be handed on. */
function isCurrent(call: Call, { resource: { id } }: Snapshot): boolean {
  const param = "response_id";
  return typeof id === "string" &&
    ownerOf(call, { type: "response", id, param, provider: null }).ok;
}

function outputOf({ resource }: Snapshot): readonly JsonObject[] {
  return Array.isArray(resource.output) ? resource.output.filter(isObject) : [];
}
