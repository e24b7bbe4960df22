import type { RefusalKind } from "../core/failure.ts";
import { type Failed, refuse, type Result, success } from "../core/result.ts";
import { requestedModel } from "../exchange.ts";
import type { Call } from "../call/call.ts";
import { type NativeCapability, requireCapability } from "../call/capability.ts";
import { findOwner, type Place, type Reference } from "../call/ownership.ts";
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

/** Returns the provider and the account that store an object. Refused if no owner is known. */
export async function findOwnedPlace(call: Call, object: OwnedObject): Promise<Result<Place>> {
  const { id, param, type } = object;
  const problem = identifierProblem(id, param);
  if (problem !== null) return problem;
  const named = requestedModel(call, "");
  if (!named.ok) return named;
  const { provider: requested } = named.value;
  const owned = await findOwner(call, { type, id: object.boundId, param, provider: requested });
  if (!owned.ok) return owned;
  if (owned.value === null) return unknownOwner(object);
  const { provider, account, isReturned } = owned.value;
  const unsafe = pathIdProblem(id, param, isReturned);
  if (unsafe !== null) return unsafe;
  const able = requireCapability(provider, object.capability, requested !== null);
  return able.ok ? success({ provider, account }) : able;
}

/** Returns the refusal of an object whose provider is not known. */
export function unknownOwner(
  { notFound, noun, param }: Pick<OwnedObject, "notFound" | "noun" | "param">,
): Failed {
  return refuse(
    notFound,
    `It is not known which provider stores this ${noun}; name the provider in the X-Gateway-Provider header.`,
    param,
  );
}
