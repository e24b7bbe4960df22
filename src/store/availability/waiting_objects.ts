import { allOf, type Result, success } from "../../core/failure/result.ts";
import type { StateOperation } from "../../data/state_operation.ts";
import { keyText } from "../key_text.ts";
import {
  type BoundType,
  type ConversationStore,
  type ObjectStore,
  type OwnerStore,
  ownerStore,
  type ResponseItem,
  type Stored,
} from "../object_store.ts";
import { OWNER_TYPES } from "../objects/new_objects.ts";
import { newOutcomes, type OutcomeStore, type OutcomeWrite } from "../outcome_store.ts";
import type { RecordId } from "../records/record_store.ts";
import { heldBytes } from "../retention.ts";
import { storeUnavailable } from "../store_failure.ts";
import type { AvailabilityLog } from "./availability.ts";
import type { PendingWrites } from "./pending_writes.ts";

/** A store that may be unavailable, and what waits for it. */
export interface WaitingOptions {
  /** The store, whose operations are observed. */
  readonly objects: ObjectStore;
  readonly pending: PendingWrites;
  readonly log: AvailabilityLog;
}

/** Returns the record whose writes wait together; `turns` are those of a conversation. */
function recordOf(type: BoundType | "turns", id: string): RecordId {
  return { type: type === "turns" ? "conversation" : OWNER_TYPES[type], id: keyText(id) };
}

/**
 * Returns a store that finds the objects whose writes wait. A change of such an object is made
 * after its waiting writes.
 */
export function withWaitingObjects(options: WaitingOptions): ObjectStore {
  const { objects, pending } = options;
  const { waiting } = pending;
  const { responses, reasoning } = objects;
  return {
    responses: {
      ...responses,
      ...waitingOwners("response", options),
      async find(id) {
        await pending.inMemory();
        const place = pending.has(recordOf("response", id)) ? waiting : objects;
        return await place.responses.find(id);
      },
      async findItems(ids) {
        if (pending.count === 0) return await responses.findItems(ids);
        await pending.flush();
        await pending.inMemory();
        const held = await waiting.responses.findItems(ids);
        const found = await responses.findItems(ids);
        if (!held.ok || (!found.ok && hasEach(held.value, ids))) return held;
        return found.ok ? success([...found.value, ...held.value]) : found;
      },
    },
    conversations: afterWaitingTurns(objects.conversations, pending),
    owners: {
      chat_completion: waitingOwners("chat_completion", options),
      conversation: waitingOwners("conversation", options),
      relayed_object: waitingOwners("relayed_object", options),
    },
    reasoning,
    stats: () => objects.stats(),
  };
}

function waitingOwners(
  type: BoundType,
  { objects, pending }: WaitingOptions,
): OwnerStore {
  const stored = ownerStore(objects, type);
  const held = ownerStore(pending.waiting, type);
  const isWaiting = (id: string) => pending.has(recordOf(type, id));
  return {
    async findBinding(id) {
      await pending.inMemory();
      return await (isWaiting(id) ? held : stored).findBinding(id);
    },
    async findBindings(ids) {
      if (pending.count === 0) return await stored.findBindings(ids);
      await pending.inMemory();
      const { here = [], there = [] } = Object.groupBy(
        ids,
        (id) => isWaiting(id) ? "here" : "there",
      );
      const finding = [held.findBindings(here)];
      if (there.length > 0) finding.push(stored.findBindings(there));
      const found = allOf(await Promise.all(finding));
      return found.ok ? success(new Map(found.value.flatMap((some) => [...some]))) : found;
    },
    bind: (id, owner) => stored.bind(id, owner),
    async unbind(id, account, caller) {
      await pending.inMemory();
      if (!isWaiting(id)) return await stored.unbind(id, account, caller);
      const unbound = await held.unbind(id, account, caller);
      if (unbound.ok && unbound.value) {
        // A write that waits may have taken effect in the store: the object is deleted there too.
        pending.replace(recordOf(type, id), {
          operation: unbindOf(type),
          bytes: () => heldBytes(account),
          run: (all) => ownerStore(all, type).unbind(id, account, caller),
        });
        return unbound;
      }
      // Its writes may have been made meanwhile.
      return isWaiting(id) ? unbound : await stored.unbind(id, account, caller);
    },
  };
}

/**
 * Returns conversations that are read and changed only after their waiting turns are in the store.
 */
function afterWaitingTurns(
  conversations: ConversationStore,
  pending: PendingWrites,
): ConversationStore {
  async function after<T>(id: string, start: () => Stored<T>): Stored<T> {
    return await pending.flushObject(recordOf("turns", id)) ? await start() : storeUnavailable();
  }

  return {
    maxBytes: conversations.maxBytes,
    create: (conversation) => conversations.create(conversation),
    find: (id) => after(id, () => conversations.find(id)),
    findRest: (id) => after(id, () => conversations.findRest(id)),
    setMetadata: (id, metadata) => after(id, () => conversations.setMetadata(id, metadata)),
    append: (id, items) => after(id, () => conversations.append(id, items)),
    removeItem: (id, item) => after(id, () => conversations.removeItem(id, item)),
    delete: (id) => after(id, () => conversations.delete(id)),
    async findItems(ids) {
      if (pending.count > 0) await pending.flush();
      return await conversations.findItems(ids);
    },
  };
}

/**
 * Returns the writes of a store that may be unavailable. What cannot be written waits, or is lost
 * if too many wait; both are a success, because the response has been paid for.
 */
export function newWaitingOutcomes(options: WaitingOptions): OutcomeStore {
  const { objects, pending, log } = options;

  /** Writes now, or after the writes of the object that wait already. */
  async function make(type: BoundType | "turns", id: string, write: OutcomeWrite) {
    const record = recordOf(type, id);
    if (!pending.has(record)) {
      const written: Result<unknown> = await write.run(objects);
      if (written.ok) return success("stored" as const);
      if (written.failure.kind !== "state_unavailable") return written;
    }
    if (!pending.add(record, write)) return success("lost" as const);
    log.error(
      `${write.operation} waits for the state store, which is unavailable; its call is served`,
    );
    return success("pending" as const);
  }

  const outcomes = newOutcomes(withWaitingObjects(options), make);
  return {
    ...outcomes,
    async unbind(type, id, account, caller) {
      const unbound = await outcomes.unbind(type, id, account, caller);
      if (unbound.ok || unbound.failure.kind !== "state_unavailable") return unbound;
      log.error(
        `${unbindOf(type)} failed because the state store is unavailable; ` +
          "the object is deleted at its provider, and its owner stays until it expires",
      );
      return success(undefined);
    },
  };
}

function unbindOf(type: BoundType): StateOperation {
  return type === "response" ? "response_unbind" : "owner_unbind";
}

function hasEach(items: readonly ResponseItem[], ids: ReadonlySet<string>): boolean {
  return ids.isSubsetOf(new Set(items.map(({ id }) => id)));
}
