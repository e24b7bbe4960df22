import { isPattern } from "../config/models_rules.ts";
import type { Refusal } from "../core/failure/failure.ts";
import { type Failed, refuse, type Result, success } from "../core/failure/result.ts";
import {
  type Binding,
  creatorOf,
  isVisible,
  type Owner,
  type ResponseProvenance,
  type Shown,
} from "../store/bindings.ts";
import { type BoundType, ownerStore } from "../store/object_store.ts";
import type { Provider, Sender, Target, Wire } from "../wires/wire.ts";
import { appendedText } from "../prompt/preset.ts";
import { findAccount } from "./key_pool.ts";
import type { Call } from "../call/call.ts";
import type { Place } from "../call/inference.ts";
import { providerById } from "./capability.ts";
import { refuseModel } from "../access/permissions.ts";

/** Returns the API that requests of this wire use. */
export function protocolOf({ name }: Pick<Wire, "name">): ResponseProvenance["protocol"] {
  return name === "responses" ? "responses" : "chat_completions";
}

/** True if an ID is known only as that of an object that the call may not see. */
export function isHidden(call: Pick<Call, "caller">, binding: Binding | null): boolean {
  return binding !== null && !isVisible(call, creatorOf(binding));
}

/**
 * True if the call may use objects whose creator is not known: without isolation it may be any, and
 * some client keys may adopt what no client of the gateway has.
 */
export function mayUseUnknown({ caller, client }: Pick<Call, "caller" | "client">): boolean {
  return !caller.isIsolated || client.key?.adoptsUnknown === true;
}

/**
 * Binds the ID of an object that an upstream has created for the call, or for another creator;
 * `origin` is that of a completion.
 */
export async function bindObject(
  { state, caller }: Call,
  type: Exclude<BoundType, "response">,
  id: string,
  { provider, account }: Sender,
  { origin = null, creator = caller.name }: Partial<Pick<Owner, "origin" | "creator">> = {},
): Promise<Result<void>> {
  const owner = { provider: provider.id, account: account.digest, origin, creator };
  const bound = await state.outcomes.bind(type, id, owner);
  return bound.ok ? success(undefined) : bound;
}

/** Removes the owner of a deleted object, unless the ID was returned to another caller since. */
export async function release(
  { state, caller }: Call,
  type: BoundType,
  id: string,
  account: string,
): Promise<Result<void>> {
  return await state.outcomes.unbind(type, id, account, caller);
}

/** The place of an object with its owner. */
export interface Owned extends Place {
  /** Owner of the object; null if the client names the provider and no binding is known. */
  readonly owner: Owner | null;
  /** True if an upstream has returned the ID, also if two accounts have. */
  readonly isReturned: boolean;
}

/** An object ID in a client request. */
export interface Reference {
  readonly type: BoundType;
  readonly id: string;
  /** Name of the parameter with the ID. */
  readonly param:
    | "response_id"
    | "previous_response_id"
    | "completion_id"
    | "conversation_id"
    | "file_id"
    | "batch_id"
    | "upload_id"
    | "input_file_id"
    | "conversation";
  /** The provider that the client names. */
  readonly provider: string | null;
}

/** Looks up the owner of an object; see `resolveOwner`. */
export async function findOwner(call: Call, reference: Reference): Promise<Result<Owned | null>> {
  const binding = await ownerStore(call.state.objects, reference.type).findBinding(reference.id);
  return binding.ok ? resolveOwner(call, reference, binding.value) : binding;
}

/**
 * Returns the owner of an object like `findBoundOwner`; refused if the client key may not use its
 * provider or the model that made it.
 */
export function resolveOwner(
  call: Call,
  reference: Pick<Reference, "param" | "provider">,
  binding: Binding | null,
): Result<Owned | null> {
  const owned = findBoundOwner(call, reference, binding);
  if (!owned.ok || owned.value === null) return owned;
  const { provider, owner } = owned.value;
  const origin = owner?.origin ?? null;
  return refuseOrigin(call, provider.id, origin) ?? owned;
}

/**
 * Returns the refusal of an object whose model the client key may not use, also not by the named
 * model that made it; null if it may.
 */
export function refuseOrigin(
  { generation, client: { key } }: Pick<Call, "generation" | "client">,
  provider: string,
  origin: ResponseProvenance | null,
): Failed<Refusal> | null {
  const name = generation.routes.find(({ name }) => name === origin?.route)?.preset?.name ?? null;
  // Of a pattern, the client has requested one of its names.
  const asked = name !== null && isPattern(name) ? origin?.requestedModel ?? null : name;
  return refuseModel(key, provider, origin?.model ?? null, asked);
}

/** Returns how a client sees the objects that a provider stores for a target. */
export function shownAs({ named }: Target): Pick<ResponseProvenance, "shown"> {
  if (named === undefined) return {};
  const { preset: { system, showsName }, name } = named;
  if (!showsName && system === null) return {};
  const appended = system === null ? 0 : appendedText(system).length;
  return { shown: { model: showsName ? name : null, appended } };
}

/**
 * Returns how the client sees an object that its provider stores; undefined to leave it unchanged.
 * Of an object without a known origin, each named model may have written all its instructions.
 */
export function shownOf(
  { generation: { routes } }: Pick<Call, "generation">,
  { owner }: Pick<Owned, "owner">,
): Shown | undefined {
  const origin = owner?.origin ?? null;
  if (origin !== null) return origin.shown;
  const hasSystem = routes.some(({ preset }) => (preset?.system ?? null) !== null);
  return hasSystem ? { model: null, appended: Infinity } : undefined;
}

/**
 * Returns the owner of an object with this binding in the configuration of the call; null if no
 * owner is known. An ID of two accounts (`provider_binding_conflict`) and an ID whose account no
 * key of its provider has any more (`provider_binding_stale`) are refused unless the client names
 * the provider. The binding is not removed, because the call may have an older configuration than
 * the one in which the account is right. Also null for an object that the call may not see, and for
 * an unknown one that it may not use, even if the client names a provider.
 */
function findBoundOwner(
  call: Call,
  reference: Pick<Reference, "param" | "provider">,
  binding: Binding | null,
): Result<Owned | null> {
  const owner = binding?.kind === "bound" ? binding.owner : null;
  if (binding === null ? !mayUseUnknown(call) : isHidden(call, binding)) {
    return reference.provider === null ? success(null) : hiddenFrom(call, reference.provider);
  }
  const isReturned = binding !== null;
  if (reference.provider !== null) {
    const named = checkNamedOwner(call, reference.provider, owner);
    if (!named.ok) return named;
    const account = owner === null ? null : findAccount(named.value, owner.account);
    return success({ provider: named.value, account, owner, isReturned });
  }
  if (binding?.kind === "conflict") {
    return refuse(
      "provider_binding_conflict",
      "Two providers have used this id; name one with the X-Gateway-Provider header.",
      reference.param,
    );
  }
  if (owner === null) return success(null);
  const provider = call.generation.providers.get(owner.provider);
  const account = provider === undefined ? null : findAccount(provider, owner.account);
  if (provider === undefined || account === null) {
    return refuse(
      "provider_binding_stale",
      "The account of the provider that owns this id has changed since; " +
        "name the provider with the X-Gateway-Provider header.",
      reference.param,
    );
  }
  return success({ provider, account, owner, isReturned });
}

/** Returns the provenance of a response; null if none is known for an account of the provider. */
export function findProvenance({ account, owner }: Owned): ResponseProvenance | null {
  return account === null ? null : owner?.origin ?? null;
}

/** True if only the upstream stores a response of this provenance. */
export function isUpstreamOnly({ protocol, hasSnapshot }: ResponseProvenance): boolean {
  return protocol === "responses" && !hasSnapshot;
}

/**
 * Returns null as for an unknown ID; refused if the provider that the client names does not exist.
 */
function hiddenFrom(call: Call, provider: string): Result<null> {
  const named = providerById(call, provider);
  return named.ok ? success(null) : named;
}

function checkNamedOwner(call: Call, id: string, owner: Owner | null): Result<Provider> {
  const named = providerById(call, id);
  if (!named.ok) return named;
  if (owner !== null && owner.provider !== id && !isRenamed(call, named.value, owner)) {
    return refuse(
      "invalid_value",
      "The id belongs to another provider; name that one or none.",
      "provider",
    );
  }
  return named;
}

/** True if the provider has the owner's account under another name. */
function isRenamed(call: Call, provider: Provider, owner: Owner): boolean {
  return !call.generation.providers.has(owner.provider) &&
    findAccount(provider, owner.account) !== null;
}
