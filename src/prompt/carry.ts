import type { ProviderConfig } from "../config/schema.ts";
import type { Refusal } from "../core/failure/failure.ts";
import type { JsonObject, JsonValue } from "../core/json/json.ts";
import type { Failed, Result } from "../core/failure/result.ts";
import type { ChatField } from "./chat_fields.ts";
import { type FieldTable, isNoOp, type Treatment, treatmentOf } from "./field_table.ts";
import type { FieldRef, Given } from "./prompt.ts";
import { type Optional, undeclared, unknownMember, unsupported } from "./refusals.ts";

/** Maximum number of recorded paths, more than a response header can name. */
const MAX_LOSSY_PATHS = 512;

type Refused = Failed<Refusal> | null;

/**
 * Decides by the field table of a wire what becomes of each field of one request. It is the only
 * reader of the table: a field without a row is refused.
 */
export interface Carrier {
  /**
   * Called by the parser of a client API for each field that requests something, before it reads
   * what is inside: refuses it, or records that only a part of it is carried. Rows that the wire
   * decides (`byWire`) are left to it.
   */
  use(at: FieldRef, value?: JsonValue): Refused;
  /** The same for all top-level fields of a Chat request that are not null. */
  useTopLevel(body: JsonObject): Refused;
  /**
   * Returns the refusal of the first member of an object that has no row and is not null; null for
   * an `open` one.
   */
  unknown(value: JsonObject, holder: ChatHolder, path: string): Refused;
  /**
   * True if the protocol has a choice of tools. Without one, `auto` is ignored and `none` leaves
   * the tools out.
   */
  hasChoice(): boolean;
  /**
   * True if the route leaves out hosted tools of this type, whose path the parser then gives to
   * `lose`.
   */
  omits(type: Optional): boolean;
  /** Called by the wire for a field whose row it decides, if the row holds. */
  apply(at: FieldRef): Refused;
  /** Records the path of a field of which only a part is carried, such as one below a row. */
  lose(path: string): void;
  /**
   * Returns the recorded paths as the member `lossy` of the upstream request; no member if nothing
   * is lost.
   */
  done(): { readonly lossy?: readonly string[] };
}

/** Path of an object of a Chat request. */
export type ChatHolder = Parameters<FieldTable<ChatField>["members"]>[0];

/** The facts of a target that decide what it carries. */
export interface CarriedBy {
  readonly fields: FieldTable<ChatField>;
  readonly provider: { readonly id: string; readonly settings: ProviderConfig };
  /** Types of hosted tools that the route leaves out; absent for none. */
  readonly omitTools?: readonly string[];
}

/** Returns the carrier of one request to a target. */
export function newCarrier({ fields, provider, omitTools = [] }: CarriedBy): Carrier {
  const paths: string[] = [];

  function lose(path: string): void {
    if (paths.length < MAX_LOSSY_PATHS) paths.push(path);
  }

  function treat(treatment: Treatment, at: CarriedField, value?: JsonValue): Refused {
    const isNothing = value !== undefined && isNoOp(treatment, value);
    switch (treatment.kind) {
      case "refused":
        return isNothing ? null : notCarried(at);
      case "gated":
        return declares(provider.settings, treatment)
          ? null
          : undeclared(at.refusedPath ?? at.path, provider, treatment.capability);
      case "verified":
        if (provider.settings.verify || isNothing) return null;
        return unsupported(at.path, treatment.advice);
      case "lossy":
        lose(listedPath(at));
        return null;
      case "exact":
      case "ignored":
        return null;
    }
  }

  return {
    use(at, value) {
      const treatment = treatmentOf(fields, at.field);
      return treatment.byWire === true ? null : treat(treatment, at, value);
    },
    useTopLevel(body) {
      for (const [path, value] of Object.entries(body)) {
        if ((value ?? null) === null || value === undefined) continue;
        const treatment = fields.topLevel.get(path) ?? fields.others;
        const refused = treatment.byWire === true ? null : treat(treatment, { path }, value);
        if (refused !== null) return refused;
      }
      return null;
    },
    unknown(value, holder, path) {
      const isOpen = fields.others.kind !== "refused" ||
        treatmentOf(fields, holder).isOpen === true;
      return isOpen ? null : unknownMember(value, fields.members(holder), path);
    },
    hasChoice: () => treatmentOf(fields, "tool_choice=auto").kind !== "ignored",
    omits: (type) => omitTools.some((omitted) => omitted === type),
    apply: (at) => treat(treatmentOf(fields, at.field), at),
    lose,
    done: () => paths.length === 0 ? {} : { lossy: inRequestOrder(paths) },
  };
}

/**
 * Returns a value that the parser has read, if it is there, or the carrier's refusal of its field.
 */
export function usedBy<One extends Given<JsonValue> | null>(
  carrier: Carrier,
  read: Result<One>,
): Result<One> {
  if (!read.ok || read.value === null) return read;
  return carrier.use(read.value.at, read.value.value) ?? read;
}

type CarriedField = Omit<FieldRef, "field">;

/** Returns the path of a field in the lists of lossy and verified fields. */
export function listedPath({ path, listedPath: listed = path }: CarriedField): string {
  return listed;
}

/**
 * Returns the refusal of a field, or of a value of it, that has no counterpart in the provider's
 * protocol.
 */
export function notCarried({ path, refusedPath = path }: CarriedField, advice?: string) {
  return unsupported(refusedPath, advice);
}

/** Members of a request whose paths are named after those of other members, in this order. */
const ORDERED_MEMBERS = ["messages", "input", "tools", "response_format", "text"];

/**
 * Returns paths in the order of the messages, tools and format of a request. Parser and wire record
 * them in the order in which they read the request.
 */
function inRequestOrder(paths: readonly string[]): readonly string[] {
  const keyed = paths.map((path) => {
    const [, member = "", index = "0"] = /^(\w+)(?:[.[](\d+))?/.exec(path) ?? [];
    return { path, rank: ORDERED_MEMBERS.indexOf(member), index: Number(index) };
  });
  return keyed.toSorted((one, other) => one.rank - other.rank || one.index - other.index)
    .map(({ path }) => path);
}

function declares(
  { capabilities }: ProviderConfig,
  { capability, listed }: Treatment & { readonly kind: "gated" },
): boolean {
  const declared = capabilities[capability];
  return Array.isArray(declared) ? declared.some((one) => one === listed) : declared === true;
}
