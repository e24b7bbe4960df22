import { MODEL_NAME } from "../config/models_schema.ts";
import { placeOf } from "./litellm_place.ts";
import type { ServedPlace } from "./litellm_asked.ts";
import type { Timeouts } from "./litellm_timeouts.ts";
import type { Report } from "./report.ts";
import { memberOf, membersOf, textOf, type Tree } from "./source.ts";
import { isUnnamed, type Variables } from "./variables.ts";

/** Context in which entries are read. */
export interface EntryReader {
  readonly report: Report;
  readonly variables: Variables;
  /** Values of `credential_list` by name. */
  readonly credentials: ReadonlyMap<string, Tree>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Timeouts for entries without their own, in seconds. */
  readonly usual: Timeouts;
}

/** An entry of `model_list` that can be served, with the provider of its model. */
export interface Parts {
  readonly tree: Tree;
  readonly params: Tree;
  readonly named: Named;
  readonly written: Named;
  readonly place: ServedPlace;
  readonly upstream: string | undefined;
}

/** Why an entry cannot be served, with the member of the source that says so. */
interface Refused {
  readonly ok: false;
  readonly tree: Tree | undefined;
  readonly note: string;
}

/** A name or a model of an entry. */
interface Named {
  readonly text: string;
  /** Note about a variable that was read; empty for a plain text. */
  readonly note: string;
  /** A variable that is not set. */
  readonly unset: string | null;
}

/** Returns a text, or the value of the variable that it names: names and models are no secrets. */
function resolved(tree: Tree | undefined, { environment, variables }: EntryReader): Named | null {
  const text = textOf(tree);
  if (text === null) return null;
  const name = variables.reference(text);
  if (isUnnamed(text)) return { text: "", note: "", unset: "that it names" };
  if (name === null) return { text, note: "", unset: null };
  const value = Object.hasOwn(environment, name) ? environment[name] ?? "" : "";
  if (value === "") return { text: "", note: "", unset: name };
  return { text: value, note: `the value of ${name} at the time of the import`, unset: null };
}

/** Returns the parts of an entry, or why it cannot be served. */
export function readParts(
  tree: Tree,
  reader: EntryReader,
): { readonly ok: true; readonly parts: Parts } | Refused {
  const params = withCredential(memberOf(tree, "litellm_params"), reader);
  const [nameTree, modelTree] = [memberOf(tree, "model_name"), memberOf(params, "model")];
  const [named, written] = [resolved(nameTree, reader), resolved(modelTree, reader)];
  if (named === null) return refused(nameTree ?? tree, "the entry has no model_name");
  if (params === undefined || written === null) {
    return refused(modelTree ?? nameTree, "the entry has no litellm_params.model");
  }
  if (named.unset !== null) {
    return refused(nameTree, `the variable ${named.unset} is not set: set it for the import`);
  }
  if (written.unset !== null) {
    const note =
      `the variable ${written.unset} is not set: its value names the provider, so set it for the import`;
    return refused(modelTree, note);
  }
  if (!MODEL_NAME.test(named.text)) {
    const note =
      "a name here is 1 to 128 letters, digits and ._:/*- and begins with a letter, a digit or *";
    return refused(nameTree, note);
  }
  const mode = textOf(memberOf(memberOf(tree, "model_info"), "mode"));
  const place = placeOf(written.text, mode, params, reader.variables);
  if (!place.ok) return refused(modelTree, place.note);
  const upstream = upstreamModel(named.text, place.model);
  return upstream.ok
    ? { ok: true, parts: { tree, params, named, written, place, upstream: upstream.model } }
    : refused(modelTree, upstream.note);
}

function refused(tree: Tree | undefined, note: string): Refused {
  return { ok: false, tree, note };
}

/** Returns the model that is sent; between equal patterns it is the requested name. */
function upstreamModel(name: string, model: string) {
  const isPattern = name.includes("*");
  if (model.trim() === "") return { ok: false, note: "it names no model" } as const;
  if (!model.includes("*")) return { ok: true, model } as const;
  if (isPattern && model === name) return { ok: true, model: undefined } as const;
  const note = isPattern
    ? "the text of * is not sent alone; name the models, or use a route with match.models"
    : "a model with * needs a name with *";
  return { ok: false, note } as const;
}

/** Returns the parameters of an entry with those of the credential that it names. */
function withCredential(
  params: Tree | undefined,
  { credentials, report }: EntryReader,
): Tree | undefined {
  const name = memberOf(params, "litellm_credential_name");
  if (name === undefined || params?.kind !== "mapping") return params;
  const values = credentials.get(textOf(name) ?? "");
  if (values === undefined) {
    report.missing(name, "credential_list has no credential with this name");
    return params;
  }
  report.carried(name, "providers");
  const members = new Map([...membersOf(values), ...params.members]);
  return { ...params, members };
}
