import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import type { NativeType } from "./bound_kinds.ts";
import { assertEquals } from "../../support/assert.ts";
import {
  type Account,
  naming,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  type ScriptedResponse,
  type SentRequest,
} from "../../support/native_gateway.ts";
import type { Reply } from "../../support/state_call.ts";
import { kindOf, KINDS } from "./bound_kinds.ts";

/** The providers; each has one account at a time. */
export const PROVIDERS = ["first", "second"] as const;
export type ProviderId = typeof PROVIDERS[number];

/** The keys that make their accounts. */
export const KEYS = ["a", "b"] as const;
type Keys = Readonly<Record<ProviderId, typeof KEYS[number]>>;

const CAN = ["responses_lifecycle", "chat_completions_lifecycle", "conversations"];

/** Null: two accounts have returned the id. */
interface Known {
  readonly owner: { readonly provider: ProviderId; readonly key: string } | null;
  readonly at: number;
}

/** A gateway whose every call is compared with what a plain table says. */
export interface BindingTable {
  create(type: NativeType, provider: ProviderId, id: string): Promise<void>;
  retrieve(type: NativeType, id: string, named: ProviderId | null): Promise<void>;
  remove(type: NativeType, id: string, named: ProviderId | null): Promise<void>;
  /** Creates a response that continues the one of this id; it gets the id `next`. */
  follow(id: string, next: string, named: ProviderId | null): Promise<void>;
  /** Creates a response in a conversation, which is not stored. */
  associate(id: string, named: ProviderId | null): Promise<void>;
  /** Changes the account of a provider. */
  change(provider: ProviderId, key: typeof KEYS[number]): void;
  pass(ms: number): Promise<void>;
}

/** A table and a gateway that know nothing yet. */
export function newBindingTable(): BindingTable {
  const known = new Map<string, Known>();
  let keys: Keys = { first: "a", second: "a" };
  let time = 0;
  let nextId = "";

  const gateway: NativeGateway = nativeGateway(configOf(keys), says);

  function says({ method, path }: SentRequest): ScriptedResponse {
    const [type, rest] = kindOf(path);
    if (method === "DELETE") {
      return { body: { id: rest, object: KINDS[type].deleted, deleted: true } };
    }
    return { body: KINDS[type].resource(rest === "" ? nextId : rest) };
  }

  function find(type: NativeType, id: string): Known | undefined {
    const entry = known.get(`${type} ${id}`);
    return entry !== undefined && time - entry.at < DEFAULT_RETENTION.ttlMs ? entry : undefined;
  }

  function bind(type: NativeType, id: string, provider: ProviderId) {
    const entry = find(type, id);
    const key = keys[provider];
    const isSame = entry?.owner?.provider === provider && entry.owner.key === key;
    if (isSame || entry?.owner === null) return;
    const owner = entry === undefined ? { provider, key } : null;
    known.set(`${type} ${id}`, { owner, at: time });
  }

  /** The provider that must be called, or the error. */
  function expected(
    type: NativeType,
    id: string,
    named: ProviderId | null,
    param = KINDS[type].param,
    unknown: readonly unknown[] = [404, KINDS[type].unknown, param],
  ): ProviderId | readonly unknown[] {
    const entry = find(type, id);
    const owner = entry?.owner ?? null;
    if (named !== null) {
      const isOther = owner !== null && owner.provider !== named;
      return isOther ? [400, "invalid_value", "provider"] : named;
    }
    if (entry === undefined) return unknown;
    if (owner === null) return [400, "provider_binding_conflict", param];
    return keys[owner.provider] === owner.key
      ? owner.provider
      : [400, "provider_binding_stale", param];
  }

  /**
   * Compares a call with its expected result. Returns the provider that served it, or null if none
   * did.
   */
  async function compare(
    wanted: ProviderId | readonly unknown[],
    send: () => Promise<Reply>,
  ): Promise<ProviderId | null> {
    const before = gateway.requests.length;
    const { status, text, error } = await send();
    const reached = gateway.requests.slice(before)
      .map(({ host, headers }) => `${host} ${headers.get("authorization")}`);
    if (typeof wanted !== "string") {
      assertEquals([status, error.code, error.param], wanted, text);
      assertEquals(reached, []);
      return null;
    }
    assertEquals([status, reached], [200, [`${wanted} Bearer sk-${wanted}-${keys[wanted]}`]], text);
    return wanted;
  }

  const headersOf = (named: ProviderId | null) => named === null ? {} : naming(named);

  return {
    async create(type, provider, id) {
      nextId = id;
      const { path, create } = KINDS[type];
      await compare(provider, () => gateway.post(path, create, naming(provider)));
      bind(type, id, provider);
    },
    async retrieve(type, id, named) {
      const path = `${KINDS[type].path}/${id}`;
      await compare(expected(type, id, named), () => gateway.get(path, headersOf(named)));
    },
    async remove(type, id, named) {
      const path = `${KINDS[type].path}/${id}`;
      const wanted = expected(type, id, named);
      const served = await compare(wanted, () => gateway.delete(path, headersOf(named)));
      const owner = find(type, id)?.owner ?? null;
      const isOwn = served !== null && owner?.provider === served && owner.key === keys[served];
      if (isOwn) known.delete(`${type} ${id}`);
    },
    async follow(id, next, named) {
      nextId = next;
      const param = "previous_response_id";
      const unknown = [400, "previous_response_not_found", param];
      const wanted = expected("response", id, named, param, unknown);
      const body = { ...KINDS.response.create, previous_response_id: id };
      const served = await compare(
        wanted,
        () => gateway.post("/responses", body, headersOf(named)),
      );
      if (served !== null) bind("response", next, served);
    },
    async associate(id, named) {
      nextId = "unstored";
      const wanted = expected("conversation", id, named, "conversation");
      const body = { ...KINDS.response.create, conversation: id, store: false };
      await compare(wanted, () => gateway.post("/responses", body, headersOf(named)));
    },
    change(provider, key) {
      keys = { ...keys, [provider]: key };
      gateway.reload(configOf(keys));
    },
    async pass(ms) {
      time += ms;
      await gateway.world.advance(ms);
    },
  };
}

function configOf(keys: Keys): string {
  const accountOf = (id: ProviderId): Account => ({ can: CAN, key: `sk-${id}-${keys[id]}` });
  return nativeConfig({ first: accountOf("first"), second: accountOf("second") });
}
