import type { Refusal } from "../core/failure/failure.ts";
import { createHash } from "node:crypto";
import { SUBJECT_PREFIX } from "../traffic/buckets.ts";
import { type Failed, refuse, type Result, success } from "../core/failure/result.ts";
import { decodeHeaderText, type RequestHeaders } from "../core/header_fields.ts";
import type { ClientGroup, ClientKey, EndUsers } from "./client_key.ts";
import { isName } from "./tokens/issuer.ts";

/** An end user behind a client key. */
export interface EndUser {
  /** Identity for its limits and its objects, distinct for each key. */
  readonly caller: string;
  /** Name in logs: a part of the digest of key and user, which does not show the user. */
  readonly hash: string;
}

/** Hexadecimal digits of the name of an end user in logs. */
const HASH_CHARS = 12;

/** A client key for one request. */
export interface KeyForUser {
  /** The key, with the limits of the end user that the request names. */
  readonly key: ClientKey;
  /** The end user. */
  readonly user: EndUser | null;
}

/**
 * Returns the key for the end user that a request names. A client with the key may name any of
 * them.
 */
export function keyForUser(
  key: ClientKey,
  endUsers: EndUsers,
  headers: RequestHeaders,
): Result<KeyForUser> {
  const { header } = endUsers;
  const written = headers.get(header);
  if (written === null) return refuseUnnamed(endUsers) ?? success({ key, user: null });
  // A front end may add its field to that of a browser, which must not choose its user.
  if (headers.isRepeated?.(header) === true) {
    return refuse("invalid_value", { kind: "rule", rule: "must be sent once" }, header);
  }
  const name = decodeHeaderText(written);
  if (!isEndUser(name)) {
    const rule = "must be 1 to 256 characters without control characters and blanks around them";
    return refuse("invalid_value", { kind: "rule", rule }, header);
  }
  const user = newEndUser(key, name);
  return success({ key: withUserLimits(key, endUsers, user), user });
}

/** Returns the refusal of a request that names no end user; null if its key does not demand one. */
export function refuseUnnamed({ header, isRequired }: EndUsers): Failed<Refusal> | null {
  if (!isRequired) return null;
  return refuse("invalid_value", `Send the end user in the header ${header}.`, header);
}

/** Returns the key with the limits of an end user, if it names any. */
export function keyForSomeUser(key: ClientKey): ClientKey {
  return key.endUsers === null ? key : withUserLimits(key, key.endUsers, { caller: "" });
}

/** True if the text can name an end user: it is taken as it is, so no blank is around it. */
function isEndUser(text: string): boolean {
  return isName(text) && text.trim() === text;
}

/** Returns the end user with this name. */
function newEndUser({ name }: ClientKey, user: string): EndUser {
  // A list, because both names may have any character.
  const identity = JSON.stringify([name, user]);
  return {
    caller: `${SUBJECT_PREFIX}user ${identity}`,
    hash: createHash("sha256").update(identity).digest("hex").slice(0, HASH_CHARS),
  };
}

/** Returns the key with the limits of its end user, which are counted together with its own. */
function withUserLimits(
  key: ClientKey,
  { limits }: EndUsers,
  { caller }: Pick<EndUser, "caller">,
): ClientKey {
  if (limits === null) return key;
  const { requestsPerMinute } = limits;
  const user: ClientGroup = { name: "", caller, limits, user: { requestsPerMinute } };
  const own = key.limits ?? NO_LIMITS;
  return { ...key, limits: { ...own, groups: [...own.groups, user] } };
}

const NO_LIMITS = { tokensPerMinute: null, maxConcurrent: null, budgets: [], groups: [] };
