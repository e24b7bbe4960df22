import type { RefusalKind } from "../../core/failure/failure.ts";
import { type Failed, refuse, type Result, success } from "../../core/failure/result.ts";
import { requestedModel } from "../../exchange.ts";
import type { Call } from "../../call/call.ts";
import {
  findNativeProvider,
  type NativeCapability,
  requireCapability,
} from "../../routing/capability.ts";
import { findOwner, mayUseUnknown, type Owned, type Reference } from "../../routing/ownership.ts";
import { identifierProblem, pathIdProblem } from "./identifier.ts";

/** An object in the path of a request that only its upstream stores. */
export interface OwnedObject extends Pick<Reference, "type" | "param"> {
  /** The ID in the path. */
  readonly id: string;
  /** The name under which its owner is stored. */
  readonly boundId: string;
  /** Capability that its provider must have. */
  readonly capability: NativeCapability;
  /** Noun of the object in messages. */
  readonly noun: string;
  readonly notFound: RefusalKind;
}

/** The provider and the account that store an object, and its owner if it is known. */
export type OwnedPlace = Pick<Owned, "provider" | "account" | "owner">;

/** Returns the provider and the account that store an object. Refused if they are not known. */
export async function findOwnedPlace(call: Call, object: OwnedObject): Promise<Result<OwnedPlace>> {
  const { id, param, type } = object;
  const problem = identifierProblem(id, param);
  if (problem !== null) return problem;
  const named = requestedModel(call, "");
  if (!named.ok) return named;
  const { provider: requested } = named.value;
  const reference = { type, id: object.boundId, param, provider: requested };
  let owned = await findOwner(call, reference);
  if (owned.ok && owned.value === null && requested === null) {
    const only = findOnlyProvider(call, object);
    if (only !== null) owned = await findOwner(call, { ...reference, provider: only });
  }
  if (!owned.ok) return owned;
  if (owned.value === null) return unknownOwner(call, object);
  const { provider, account, owner, isReturned } = owned.value;
  const unsafe = pathIdProblem(id, param, isReturned);
  if (unsafe !== null) return unsafe;
  const able = requireCapability(provider, object.capability, requested !== null);
  return able.ok ? success({ provider, account, owner }) : able;
}

/**
 * Returns the provider that has every file, batch and upload: the only capable one, with a single
 * account.
 */
function findOnlyProvider(call: Call, { type, capability }: OwnedObject): string | null {
  if (type !== "relayed_object") return null;
  const only = findNativeProvider(call, null, capability);
  return only.ok && only.value?.accounts.length === 1 ? only.value.id : null;
}

/** Returns the refusal of an object whose provider is not known. */
export function unknownOwner(
  call: Call,
  { notFound, noun, param }: Pick<OwnedObject, "notFound" | "noun" | "param">,
): Failed {
  return refuse(
    notFound,
    mayUseUnknown(call)
      ? `It is not known which provider stores this ${noun}; name the provider in the X-Gateway-Provider header.`
      : `There is no ${noun} with this id that belongs to this client key.`,
    param,
  );
}
