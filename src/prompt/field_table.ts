import type { ProviderConfig } from "../config/schema.ts";
import { type JsonValue, numberOf } from "../core/json/json.ts";
import type { Members } from "./members.ts";
import { isEmpty } from "./refusals.ts";

/** Name of a capability that a provider declares. */
export type CapabilityName = keyof ProviderConfig["capabilities"];

/** How a request field reaches the upstream. `note` says which values are treated differently. */
export type Treatment =
  & {
    readonly note?: string;
    /** True if the wire decides by the rest of the request whether this holds (`Carrier.apply`). */
    readonly byWire?: boolean;
    /** True if members of the object that have no row are ignored. */
    readonly isOpen?: boolean;
  }
  & (
    /** Carried with nothing lost. */
    | { readonly kind: "exact" }
    /** Accepted, but the upstream receives only a part of the meaning. */
    | { readonly kind: "lossy"; readonly keeps: string }
    /**
     * Not enforced by the upstream; the gateway checks the response, unless the provider's `verify`
     * is false: then refused, with this advice. The values of `unless` request nothing.
     */
    | {
      readonly kind: "verified";
      readonly unless?: readonly JsonValue[];
      readonly advice?: string;
    }
    /**
     * Carried exactly if the provider declares the capability, or lists `listed` in it, else
     * refused.
     */
    | { readonly kind: "gated"; readonly capability: CapabilityName; readonly listed?: string }
    /** Refused by its path, except for the values of `unless`, which request nothing. */
    | { readonly kind: "refused"; readonly unless?: readonly JsonValue[] }
    /** Accepted and not sent, because it requests nothing. */
    | { readonly kind: "ignored" }
  );

/**
 * Treatments of fields by their paths. Variants of objects and lists are in brackets:
 * `tools[function]`.
 */
export type FieldRows<Path extends string> = Readonly<Partial<Record<Path, Treatment>>>;

/** Paths of the objects that hold fields with these paths. */
type HolderOf<Path extends string> = Path extends `${infer Head}.${infer Tail}`
  ? Head | `${Head}.${HolderOf<Tail>}`
  : Path extends `${string}]` ? Path
  : never;

/**
 * The treatments of all request fields by one protocol; its closed objects accept no other members.
 */
export interface FieldTable<Path extends string = string> {
  /** Treatment of a field without a row. */
  readonly others: Treatment;
  readonly rows: FieldRows<Path>;
  /** Treatments of the top-level fields by their names. */
  readonly topLevel: ReadonlyMap<string, Treatment>;
  /** Returns the members of an object that are not refused, with the one that names its variant. */
  members(holder: HolderOf<Path>): Members;
}

/** Carried exactly. */
export const exact: Treatment = { kind: "exact" };

/** Accepted without effect. */
export const ignored: Treatment = { kind: "ignored" };

/** Refused. */
export const refused: Treatment = { kind: "refused" };

/** Returns the treatment of a field that is refused, except for values that request nothing. */
export function refusedUnless(...unless: readonly JsonValue[]): Treatment {
  return { kind: "refused", unless };
}

/** Returns the treatment of a refused field with values that are treated differently. */
export function refusedBut(note: string): Treatment {
  return { kind: "refused", note };
}

/** Returns the treatment of a field of which only a part is kept. */
export function lossy(keeps: string, note?: string): Treatment {
  return { kind: "lossy", keeps, ...note !== undefined && { note } };
}

/** Returns the treatment of a field that needs a declared capability. */
export function gated(
  capability: CapabilityName,
  note?: string,
): Treatment & { readonly kind: "gated" } {
  return { kind: "gated", capability, ...note !== undefined && { note } };
}

/** Returns the treatment of a field that needs this name in the list of its capability. */
export function needing(
  name: string,
  treatment: Treatment & { readonly kind: "gated" },
): Treatment {
  return { ...treatment, listed: name };
}

/**
 * Returns the treatment of a field that the gateway checks, except for values that request nothing.
 */
export function verified(
  note?: string,
  ...unless: readonly JsonValue[]
): Treatment & { readonly kind: "verified" } {
  return {
    kind: "verified",
    ...unless.length > 0 && { unless },
    ...note !== undefined && { note },
  };
}

/**
 * Returns the treatment with the condition that the wire decides whether it holds for a request.
 */
export function byWire<Kind extends Treatment>(treatment: Kind): Kind {
  return { ...treatment, byWire: true };
}

/** Returns the treatment of an object whose members without a row are ignored. */
export function open(treatment: Treatment): Treatment {
  return { ...treatment, isOpen: true };
}

/**
 * Returns the treatment of a field that the gateway checks, with advice for providers that must
 * not.
 */
export function advised(
  treatment: Treatment & { readonly kind: "verified" },
  advice: string,
): Treatment {
  return { ...treatment, advice };
}

/** Returns the treatment of an ignored field with values that are treated differently. */
export function ignoredBut(note: string): Treatment {
  return { kind: "ignored", note };
}

/** Returns the treatment of an exact field with values that are treated differently. */
export function exactBut(note: string): Treatment {
  return { kind: "exact", note };
}

/**
 * Returns the field table with these rows. Fields without a row are refused unless `others`
 * differs.
 */
export function newFieldTable<Path extends string>(
  rows: FieldRows<Path>,
  others: Treatment = refused,
): FieldTable<Path> {
  const entries = Object.entries<Treatment | undefined>(rows)
    .flatMap(([path, treatment]) => treatment === undefined ? [] : [{ path, treatment }]);
  const topLevel = new Map(
    entries.filter(({ path }) => /^\w+$/.test(path)).map((row) => [row.path, row.treatment]),
  );
  let members: ReadonlyMap<string, Members> | null = null;
  return {
    others,
    rows,
    topLevel,
    // Made for the first request that has such an object: the tables together take 2 % of the
    // start.
    members: (holder) =>
      (members ??= membersByHolder(entries)).get(holder) ?? listOf(variantMember(holder)),
  };
}

/** Returns the members of each object that has rows which are not refused. */
function membersByHolder(
  rows: readonly { readonly path: string; readonly treatment: Treatment }[],
): ReadonlyMap<string, Members> {
  const members = new Map<string, Members>();
  for (const { path, treatment } of rows) {
    if (treatment.kind === "refused" && treatment.unless === undefined) continue;
    for (const { holder, member } of steps(path)) {
      const before = members.get(holder) ?? listOf(variantMember(holder));
      members.set(holder, before.includes(member) ? before : listOf([...before, member]));
    }
  }
  return members;
}

/** Returns the objects on a path, each with its member that leads on. */
function steps(path: string): readonly { readonly holder: string; readonly member: string }[] {
  return [...path.matchAll(/\.(\w+)/g)].map(({ index, 1: member = "" }) => ({
    holder: path.slice(0, index),
    member,
  }));
}

/** Returns the member whose value names the variant of an object. */
function variantMember(holder: string): readonly string[] {
  if (!holder.endsWith("]") || holder.endsWith("[]")) return [];
  return /^messages\[\w+\]$/.test(holder) ? ["role"] : ["type"];
}

function listOf(names: readonly string[]): Members {
  return names as Members;
}

/**
 * Returns the treatment of a field. A field of a refused object, or without a row, is refused too.
 */
export function treatmentOf({ rows, others }: FieldTable, path: string): Treatment {
  return rows[path] ?? others;
}

/** True if a field with this value is refused: values that request nothing never are. */
export function isRefused(treatment: Treatment, value: JsonValue): boolean {
  return treatment.kind === "refused" && !isNoOp(treatment, value);
}

/** True if a field with this value requests nothing. */
export function isNoOp(treatment: Treatment, value: JsonValue): boolean {
  const { unless = [] } = "unless" in treatment ? treatment : {};
  return unless.some((noOp) => isSame(noOp, value));
}

/** True if a value equals one that requests nothing. A number may be its exact text. */
function isSame(noOp: JsonValue, value: JsonValue): boolean {
  if (isEmpty(noOp)) return isEmpty(value);
  const number = numberOf(noOp);
  if (number !== null) return numberOf(value) === number;
  if (!Array.isArray(noOp)) return noOp === value;
  return Array.isArray(value) && value.length === noOp.length &&
    noOp.every((item, index) => isSame(item, value[index] ?? null));
}
