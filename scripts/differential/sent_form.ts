import { concatBytes } from "../../src/core/concat_bytes.ts";
import { formText, newFormParser, withModel } from "../../src/formats/multipart.ts";
import type { DrawnForm } from "./drawn_forms.ts";

/**
 * Reading of a form by a parser: the names of its parts in order of the alphabet, and the texts of
 * the parts `model`.
 */
export interface Reading {
  readonly names: readonly string[];
  readonly models: readonly string[];
}

/** A form as the gateway sends it to a provider, and what the gateway itself reads in it. */
export interface SentForm {
  readonly contentType: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly reading: Reading;
}

/** The model that takes the place of the client's. */
const MODEL = "another-model";

/** Returns a form as the gateway sends it; null if the gateway refuses it. */
export function sentForm({ contentType, body, isRenamed }: DrawnForm): SentForm | null {
  const parser = newFormParser(contentType);
  if (!parser.ok || parser.value.push(body) !== null) return null;
  const form = parser.value.end([body]);
  if (!form.ok) return null;
  const { parts } = form.value;
  const names = parts.map(({ name }) => name);
  const own = formText(form.value, "model");
  const isAdded = isRenamed && own === null;
  return {
    contentType: form.value.contentType,
    body: isRenamed ? concatBytes(withModel(form.value, MODEL)) : body,
    reading: {
      names: [...names, ...isAdded ? ["model"] : []].toSorted(),
      models: isRenamed ? [MODEL] : own === null ? [] : [own],
    },
  };
}
