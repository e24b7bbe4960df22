import { parseJson } from "../core/json/json.ts";
import { refuse, type Result, success } from "../core/failure/result.ts";
import { formHeads, formTexts, type MultipartBody, withTexts } from "../formats/multipart.ts";
import { parseMembers } from "../formats/edit.ts";
import { replaceJson, type ReplaceOptions, UNREAD } from "./replace_json.ts";
import { search } from "./search.ts";
import type { CallPrivacy } from "./types.ts";

/**
 * Returns a multipart body in whose texts the rules of a call have replaced values. The content of
 * files is not read; their names and the other headers of parts are searched as names.
 */
export async function replaceInForm(
  privacy: CallPrivacy,
  form: MultipartBody,
  options: ReplaceOptions,
): Promise<Result<MultipartBody>> {
  const files = form.parts.filter(({ isFile }) => isFile);
  const [file] = files;
  privacy.counts.unread += files.length;
  if (file !== undefined && privacy.policy.refusesUnread) {
    const isValue = search(file.name, privacy.policy.request).length > 0;
    return refuse("privacy_unread", UNREAD, isValue ? "*" : file.name);
  }
  const texts = formTexts(form);
  // Without the backslashes that may escape any character in a quoted name.
  const heads = formHeads(form).map((head) =>
    `${JSON.stringify(head.replace(/\\(.)/g, "$1"))}:null`
  );
  const fields = form.parts.flatMap(({ name }, index) => {
    const text = texts[index] ?? null;
    return text === null ? [] : [`${JSON.stringify(name)}:${JSON.stringify(text)}`];
  });
  // Names may occur twice in it, so it is not parsed as one value.
  const json = `{${[...heads, ...fields].join(",")}}`;
  const replaced = await replaceJson(privacy, json, {}, options);
  if (!replaced.ok) return replaced;
  if (replaced.value === json) return success(form);
  const values = parseMembers(replaced.value).slice(heads.length).map(({ start, end }) =>
    parseJson(replaced.value.slice(start, end))
  );
  const changed = texts.map((text) => {
    if (text === null) return null;
    const value = values.shift();
    return typeof value === "string" && value !== text ? value : null;
  });
  const fixed = form.parts.find(({ length }, index) => length !== null && changed[index] !== null);
  if (fixed !== undefined) {
    return refuse(
      "privacy_unreplaceable",
      {
        kind: "rule",
        rule: "has a value of a privacy rule in a part with a Content-Length; send it without",
      },
      fixed.name,
    );
  }
  return success(withTexts(form, changed));
}
