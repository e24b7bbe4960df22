import { isObject, type JsonDocument, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { changeMembers, type Entry, parseMembers, splice } from "../formats/edit.ts";
import type { Parameters, Preset } from "../prompt/preset.ts";

/** Place of a parameter in a request: a top-level member, or a member of one. */
type Place = readonly [member: string] | readonly [member: string, inner: string];

/** How a protocol has the parameters of named models, for requests whose text is passed on. */
export interface ParameterPlaces {
  /** The place of each parameter that the protocol has. */
  readonly places: Readonly<Partial<Record<keyof Parameters, Place>>>;
  /** True if another member of a request speaks for the parameter, or excludes it. */
  isTaken(key: keyof Parameters, body: JsonObject): boolean;
  /** Returns the value of a parameter in the protocol; undefined to send none. */
  written?(key: keyof Parameters, value: JsonValue): JsonValue | undefined;
}

/** Members that a named model adds to a request. */
export interface FilledMembers {
  /** The members to set. */
  readonly entries: readonly Entry[];
  /** Their values, besides those of inner members. */
  readonly values: JsonObject;
  /** The parameters that the request does not set. */
  readonly filled: Parameters;
}

/** Returns the members that the parameters of a named model add to a request. */
export function fillMembers(
  document: JsonDocument,
  { parameters }: Preset,
  { places, isTaken, written = (_, value) => value }: ParameterPlaces,
): FilledMembers {
  const body = document.value;
  const entries: Entry[] = [];
  const values: JsonObject = {};
  const filled: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    const key = name as keyof Parameters;
    if (parameter === undefined || isTaken(key, body)) continue;
    const [member, inner] = places[key] ?? [];
    const own = member === undefined ? null : body[member] ?? null;
    const isSet = inner === undefined
      ? own !== null
      : isObject(own)
      ? (own[inner] ?? null) !== null
      : own !== null;
    if (isSet) continue;
    filled[key] = parameter;
    const value = member === undefined ? undefined : written(key, copied(parameter));
    if (member === undefined || value === undefined) continue;
    const text = JSON.stringify(value);
    if (inner === undefined) values[member] = value;
    entries.push([member, inner === undefined ? text : withInner(document, member, [inner, text])]);
  }
  return { entries, values, filled };
}

function copied(value: NonNullable<Parameters[keyof Parameters]>): JsonValue {
  return typeof value === "object" ? [...value] : value;
}

/** Returns the text of a member that is an object or absent, with an inner member set. */
export function withInner(
  { text, members }: Pick<JsonDocument, "text" | "members">,
  key: string,
  entry: Entry,
): string {
  const member = members.findLast((one) => one.key === key);
  const own = member === undefined ? "" : text.slice(member.start, member.end);
  const object = own.startsWith("{") ? own : "{}";
  return splice(object, changeMembers(0, parseMembers(object), [entry]));
}
