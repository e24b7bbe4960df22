import { success } from "../../core/failure/result.ts";
import { isObject, type JsonObject, parseJson } from "../../core/json/json.ts";
import { changeMembers, type Entry, parseMembers, splice } from "../../formats/edit.ts";
import type { Shown } from "../../store/bindings.ts";
import type { NativeCall } from "./native_call.ts";

/**
 * Returns the members to set so that an object of a provider has the model that its client
 * requested, and only the client's own instructions.
 */
export function shownMembers(
  { model, instructions }: JsonObject,
  { model: shown, appended }: Shown,
): readonly Entry[] {
  const entries: Entry[] = [];
  if (shown !== null && typeof model === "string" && model !== shown) {
    entries.push(["model", JSON.stringify(shown)]);
  }
  if (appended > 0 && (instructions ?? null) !== null) {
    // A provider may write them as items, of which it is not known what was added.
    const own = typeof instructions === "string" ? instructions.slice(0, -appended) : "";
    entries.push(["instructions", JSON.stringify(own === "" ? null : own)]);
  }
  return entries;
}

/** Returns the members to set so that the error of a failed object quotes none of these texts. */
export function errorMembers(
  { error = null }: JsonObject,
  hidden: readonly string[],
): readonly Entry[] {
  if (!isObject(error) || typeof error.message !== "string") return [];
  const { message: own } = error;
  const message = hidden.reduce((text, one) => text.replaceAll(one, "[redacted]"), own);
  return message === own ? [] : [["error", JSON.stringify({ ...error, message })]];
}

/** Returns the JSON text of an object as the client of a named model sees it. */
export function shownText(text: string, shown: Shown | undefined): string {
  const value = shown === undefined ? null : parseJson(text);
  if (shown === undefined || !isObject(value)) return text;
  const entries = shownMembers(value, shown);
  return entries.length === 0 ? text : splice(text, changeMembers(0, parseMembers(text), entries));
}

/** Returns the change of a resource for the client of a named model, whose error quotes no text. */
export function rewrittenAs(
  shown: Shown | undefined,
  hidden: readonly string[] = [],
): Pick<NativeCall, "rewritten"> {
  if (shown === undefined) return {};
  return {
    rewritten({ text, value, members }) {
      const entries = [...shownMembers(value, shown), ...errorMembers(value, hidden)];
      if (entries.length === 0) return Promise.resolve(success(null));
      const edits = changeMembers(text.indexOf("{"), members, entries);
      return Promise.resolve(success(splice(text, edits)));
    },
  };
}
