import type { ProviderConfig } from "../config/schema.ts";
import type { Refusal } from "../core/failure/failure.ts";
import type { JsonObject, JsonValue } from "../core/json/json.ts";
import type { Failed, Result } from "../core/failure/result.ts";
import { pushAll } from "../core/push_all.ts";
import { keptName } from "../core/text_beginning.ts";
import type { ChatField } from "./chat_fields.ts";
import {
  type CapabilityName,
  type FieldTable,
  isNoOp,
  type Treatment,
  treatmentOf,
} from "./field_table.ts";
import type { FieldRef, Given } from "./prompt.ts";
import {
  brokenRule,
  contradiction,
  missing,
  type Optional,
  unknownMember,
  unsupported,
} from "./refusals.ts";
import type { ResponsePromise } from "./response_promise.ts";

/** Maximum number of recorded paths, more than a response header can name. */
const MAX_LOSSY_PATHS = 512;

/** Length from which a path gets no further names: no list shows so much of it. */
const MAX_NAMED_CHARS = 1024;

/**
 * Returns the path of a member whose name a client chooses. Of a long name it has the beginning,
 * and below many names none: each of many paths below them would hold all of them.
 */
export function memberPath(path: string, name: string): string {
  return path.length < MAX_NAMED_CHARS ? `${path}.${keptName(name)}` : path;
}

type Refused = Failed<Refusal> | null;

/** Fields of a request that the upstream does not get, or enforce, as the client has sent them. */
export interface Carried {
  /**
   * Paths of the client's request fields that the upstream receives only in part, each once, for
   * the header `X-Gateway-Lossy`; absent for none.
   */
  readonly lossy?: readonly string[];
  /**
   * The client's request fields that the gateway checks on the response, because the upstream does
   * not enforce them, for the header `X-Gateway-Verified`; absent for none.
   */
  readonly promises?: readonly ResponsePromise[];
}

/**
 * Decides by the field table of a wire what becomes of each field of one request. It is the only
 * reader of the table: a field without a row is refused. It is also the only one that makes the
 * refusals of a wire, and that records what the upstream does not get or enforce.
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
  /** Returns the refusal of a field, or of a value of it, that the protocol has no place for. */
  refuse(at: CarriedField, advice?: string): Failed<Refusal>;
  /** Returns the refusal of a value that needs a capability which the provider does not declare. */
  refuseUndeclared(at: CarriedField, capability: CapabilityName): Failed<Refusal>;
  /** Returns the refusal of a value that breaks a `rule`: the predicate of a sentence. */
  refuseValue(path: string, rule: string): Failed<Refusal>;
  /** Returns the refusal of a request that lacks a field. */
  refuseAbsent(path: string): Failed<Refusal>;
  /** Returns the refusal of a field that contradicts another one; `text` is the sentence. */
  refusePair(path: string, text: string): Failed<Refusal>;
  /** Records the path of a field of which only a part is carried, such as one below a row. */
  lose(path: string): void;
  /**
   * Records the path of a field that is lost before the request is a prompt, or without one. These
   * are listed first, in the order of the calls.
   */
  drop(path: string): void;
  /** Records fields that the gateway checks on the response. */
  promise(...made: readonly ResponsePromise[]): void;
  /** Returns all that is recorded, as members of the upstream request. */
  done(): Carried;
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
  const lost = new Set<string>();
  const dropped = new Set<string>();
  const promises: ResponsePromise[] = [];

  function record(paths: Set<string>, path: string): void {
    if (lost.size + dropped.size < MAX_LOSSY_PATHS) paths.add(path);
  }

  function refuse({ path, refusedPath = path }: CarriedField, advice?: string): Failed<Refusal> {
    return unsupported(refusedPath, advice);
  }

  function refuseUndeclared(at: CarriedField, capability: CapabilityName): Failed<Refusal> {
    const key = `providers.${provider.id}.capabilities.${capability}`;
    return refuse(at, `If its upstream can, set ${key}.`);
  }

  function treat(treatment: Treatment, at: CarriedField, value?: JsonValue): Refused {
    const isNothing = value !== undefined && isNoOp(treatment, value);
    switch (treatment.kind) {
      case "refused":
        return isNothing ? null : refuse(at);
      case "gated":
        return declares(provider.settings, treatment)
          ? null
          : refuseUndeclared(at, treatment.capability);
      case "verified":
        if (provider.settings.verify || isNothing) return null;
        return unsupported(at.path, treatment.advice);
      case "lossy":
        record(lost, listedPath(at));
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
    refuse,
    refuseUndeclared,
    refuseValue: brokenRule,
    refuseAbsent: missing,
    refusePair: contradiction,
    lose: (path) => record(lost, path),
    drop: (path) => record(dropped, path),
    promise: (...made) => pushAll(promises, made),
    done: () => ({
      ...lost.size + dropped.size > 0 &&
        { lossy: [...dropped.union(new Set(inRequestOrder([...lost])))] },
      ...promises.length > 0 && { promises },
    }),
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

/** The paths of a field. */
type CarriedField = Omit<FieldRef, "field">;

/** Returns the path of a field in the lists of lossy and verified fields. */
export function listedPath({ path, listedPath: listed = path }: CarriedField): string {
  return listed;
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
