import { refuse, type Result, success } from "../core/result.ts";
import {
  type Binding,
  type Creator,
  creatorOf,
  isVisibleTo,
  type Owner,
  type ResponseProvenance,
} from "../state/bindings.ts";
import { type BoundType, ownerStore } from "../state/object_store.ts";
import type { Provider, Wire } from "../wires/wire.ts";
import type { Call } from "./call.ts";
import { providerById } from "./named_provider.ts";

/** Who must serve a call, and what of the earlier one it keeps. */
export interface RequiredTarget {
  readonly provider: Provider;
  /** The API that must be asked. */
  readonly protocol: ResponseProvenance["protocol"];
  /** Null: the client names the provider of something that nothing is known about. */
  readonly origin: ResponseProvenance | null;
  /** The field of the request that holds the id of what is continued. */
  readonly param: "previous_response_id" | "conversation";
}

/** The API that a target of this protocol is asked. */
export function protocolOf({ name }: Pick<Wire, "name">): ResponseProvenance["protocol"] {
  return name === "responses" ? "responses" : "chat_completions";
}

/** Returns whether what this creator has created exists for the call. */
export function isVisible({ caller }: Pick<Call, "caller">, creator: Creator): boolean {
  return isVisibleTo(caller, creator);
}

/** Returns whether an ID is known, but only as that of an object that does not exist for the call. */
export function isHidden(call: Pick<Call, "caller">, binding: Binding | null): boolean {
  return binding !== null && !isVisible(call, creatorOf(binding));
}

/** Binds an object that an upstream has made for the call. */
export async function bindObject(
  { state, caller: { name: creator } }: Call,
  type: Exclude<BoundType, "response">,
  id: string,
  { id: provider, account }: Provider,
): Promise<Result<void>> {
  const owner = { provider, account, origin: null, creator };
  const bound = await state.objects.owners[type].bind(id, owner);
  return bound.ok ? success(undefined) : bound;
}

/** Removes the owner of a deleted object, unless another caller has got the ID since. */
export async function release(
  { state, caller }: Call,
  type: BoundType,
  id: string,
  account: string,
): Promise<Result<void>> {
  const unbound = await ownerStore(state.objects, type).unbind(id, account, caller);
  return unbound.ok ? success(undefined) : unbound;
}

/** Who an object belongs to. */
export interface Owned {
  readonly provider: Provider;
  /** Null when the client names the provider and nothing else is known. */
  readonly owner: Owner | null;
  /** True if an upstream has returned the id, also where two of them have. */
  readonly isReturned: boolean;
}

/** An object that a client names. */
export interface Reference {
  readonly type: BoundType;
  readonly id: string;
  /** Where the client wrote the id. */
  readonly param:
    | "response_id"
    | "previous_response_id"
    | "completion_id"
    | "conversation_id"
    | "conversation";
  /** The provider that the client names; null when it names none. */
  readonly provider: string | null;
}

/** Looks up the owner of an object; see `ownerIn`. */
export async function findOwner(call: Call, reference: Reference): Promise<Result<Owned | null>> {
  const binding = await ownerStore(call.state.objects, reference.type).findBinding(reference.id);
  return binding.ok ? resolveOwner(call, reference, binding.value) : binding;
}

/**
 * Returns the owner of an object with this binding, as the configuration of the call has it; null if
 * no provider is known to own it. An ID of two accounts (`provider_binding_conflict`) and one whose
 * account has changed (`provider_binding_stale`) are refused unless the client names the provider.
 * Nothing is discarded: a call may have an older configuration than the one in which the account is
 * right. Null also for an object that does not exist for the call, whatever provider the client names.
 */
export function resolveOwner(
  call: Call,
  reference: Pick<Reference, "param" | "provider">,
  binding: Binding | null,
): Result<Owned | null> {
  const owner = binding?.kind === "bound" ? binding.owner : null;
  if (isHidden(call, binding)) {
    return reference.provider === null ? success(null) : hiddenFrom(call, reference.provider);
  }
  const isReturned = binding !== null;
  if (reference.provider !== null) {
    const named = checkNamedOwner(call, reference.provider, owner);
    return named.ok ? success({ provider: named.value, owner, isReturned }) : named;
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
  if (provider?.account !== owner.account) {
    return refuse(
      "provider_binding_stale",
      "The account of the provider that owns this id has changed since; " +
        "name the provider with the X-Gateway-Provider header.",
      reference.param,
    );
  }
  return success({ provider, owner, isReturned });
}

/** How a response was made; null when nothing is known of it that holds for the provider's account. */
export function originOf({ provider, owner }: Owned): ResponseProvenance | null {
  return owner?.account === provider.account ? owner.origin : null;
}

/** Whether the upstream keeps a response that was made so, and the gateway does not. */
export function isUpstreamOnly({ protocol, hasSnapshot }: ResponseProvenance): boolean {
  return protocol === "responses" && !hasSnapshot;
}

/** A provider that is not there is refused as for an id that nothing is known about. */
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

/** Whether the provider is the owner's account under another name. */
function isRenamed(call: Call, { account }: Provider, owner: Owner): boolean {
  return !call.generation.providers.has(owner.provider) && account === owner.account;
}
