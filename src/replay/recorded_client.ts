import { keyForSomeUser, refuseUnnamed } from "../access/end_users.ts";
import { refuseEndpoint } from "../access/permissions.ts";
import { type ClientKey, isLapsed } from "../access/client_key.ts";
import { clientByTemplate } from "../access/tokens/token_clients.ts";
import type { Call } from "../call/call.ts";
import { requiresKey } from "../access/presented_key.ts";
import type { Generation } from "../call/generation.ts";
import { type Failed, refuse } from "../core/failure/result.ts";
import type { RecordHead } from "../record/record.ts";
import { setCaller } from "../server/admission/auth.ts";
import { SUBJECT_PREFIX } from "../traffic/buckets.ts";

/** Client of a record by a configuration. */
export interface ClientView {
  /** `lapsed`: disabled, or expired at the time of the record. */
  readonly kind: "not required" | "missing" | "lapsed" | "known";
  /** Permissions of the client, as text. */
  readonly permissions: string;
  /** Header that names the end users of the key. */
  readonly userHeader: string | null;
}

/**
 * Admits the client of a record by its name, because no record has a credential. Limits do not
 * count, but permissions do. `userHeader` is the header in which the client has named its end user,
 * null for that of the key. Returns the refusal; null if the call continues.
 */
export function admitRecorded(
  call: Call,
  head: RecordHead,
  userHeader: string | null,
): Failed | null {
  const { generation } = call;
  if (!requiresKey(generation)) return null;
  const key = findClient(generation, head);
  if (key === null || isLapsed(key, call.world.wall())) {
    return refuse("invalid_api_key", "This client key is not known here, or not valid any more.");
  }
  setCaller(call, key);
  const isNamed = userHeader === null || userHeader === key.endUsers?.header;
  return admitUser(call, key, isNamed ? head.end_user : null) ??
    refuseEndpoint(key, call.report.endpoint.api);
}

/** Admits the end user of a record, of whom only a part of a digest is known. */
function admitUser(
  { report, caller, client }: Call,
  key: ClientKey,
  endUser: string | null,
): Failed | null {
  const { endUsers, name } = key;
  if (endUsers === null) return null;
  if (endUser === null) return refuseUnnamed(endUsers);
  report.endUser = endUser;
  // Some limits refuse by their kind, such as a budget in USD a model without a price.
  client.key = keyForSomeUser(key);
  caller.name = `${SUBJECT_PREFIX}user ${JSON.stringify([name, endUser])}`;
  return null;
}

function findClient(
  { clientKeys, tokens }: Generation,
  { key: name, issuer: issuerName, template, labels: recorded }: RecordHead,
): ClientKey | null {
  if (name === null) return null;
  if (issuerName === null) return clientKeys.find((key) => key.name === name) ?? null;
  const issuer = tokens?.issuers.find((one) => one.name === issuerName);
  const rule = issuer?.rules.find((one) => one.template.template === template);
  if (issuer === undefined || rule === undefined) return null;
  const labels = new Map(rule.template.labels);
  // Those of claims, which only the record has.
  for (const [label] of issuer.labels) {
    const value = recorded[label];
    if (value !== undefined) labels.set(label, value);
  }
  return clientByTemplate(name, issuer, rule.template, labels);
}

/** Returns what a configuration says of the client of a record at its time. */
export function viewClient(generation: Generation, head: RecordHead, wallMs: number): ClientView {
  if (!requiresKey(generation)) {
    return { kind: "not required", permissions: "all", userHeader: null };
  }
  const key = findClient(generation, head);
  if (key === null) return { kind: "missing", permissions: "none", userHeader: null };
  return {
    kind: isLapsed(key, wallMs) ? "lapsed" : "known",
    permissions: permissionsText(generation, head),
    userHeader: key.endUsers?.header ?? null,
  };
}

/** Returns what the key, or the template of a token, permits. */
function permissionsText(
  { config: { security } }: Generation,
  { key, issuer, template }: RecordHead,
): string {
  const written = issuer === null
    ? security.api_key.keys.find(({ name }) => name === key)
    : security.templates.find(({ name }) => name === template);
  const { models, providers, endpoints } = written ?? {};
  return Object.entries({ models, providers, endpoints })
    .flatMap(([name, list]) => list === undefined ? [] : [`${name}: ${list.toSorted().join(", ")}`])
    .join("; ") || "all";
}
