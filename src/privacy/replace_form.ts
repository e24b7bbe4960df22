import { parseJson } from "../core/json/json.ts";
import { refuse, type Result, success } from "../core/failure/result.ts";
import { formHeads, type MultipartBody, partText } from "../formats/multipart.ts";
import { parseMembers } from "../formats/edit.ts";
import { utf8Bytes } from "../formats/utf8.ts";
import { newRoom } from "./find_matches.ts";
import { replaceJson, type ReplaceOptions, UNREAD } from "./replace_json.ts";
import { search } from "./search.ts";
import type { CallPrivacy } from "./types.ts";

/** Content of a part of a form. */
type Content = ReturnType<typeof utf8Bytes>;

/**
 * Returns the contents of the parts of a multipart body in whose texts the rules of a call have
 * replaced values; null for a part that stays. The content of files is not read; their names and
 * the other headers of parts are searched as names.
 */
export async function replaceInForm(
  privacy: CallPrivacy,
  form: MultipartBody,
  options: ReplaceOptions,
): Promise<Result<readonly (Content | null)[]>> {
  const files = form.parts.filter(({ isFile }) => isFile);
  const [file] = files;
  privacy.counts.unread += files.length;
  if (file !== undefined && privacy.policy.refusesUnread) {
    const isValue = search(file.name, privacy.policy.request).length > 0;
    return refuse("privacy_unread", UNREAD, isValue ? "*" : file.name);
  }
  const heads = formHeads(form);
  const room = newRoom();
  const contents: (Content | null)[] = [];
  // One after the other: all texts of a large form would be one piece of work and of memory.
  for (const [index, part] of form.parts.entries()) {
    const text = partText(form, part);
    // Without the backslashes that may escape any character in a quoted name.
    const head = (heads[index] ?? "").replace(/\\(.)/g, "$1");
    const field = text === null ? "" : `,${JSON.stringify(part.name)}:${JSON.stringify(text)}`;
    const json = `{${JSON.stringify(head)}:null${field}}`;
    const replaced = await replaceJson(privacy, json, {}, { ...options, room });
    if (!replaced.ok) return replaced;
    if (replaced.value === json) {
      contents.push(null);
      continue;
    }
    if (part.length !== null) {
      return refuse(
        "privacy_unreplaceable",
        {
          kind: "rule",
          rule: "has a value of a privacy rule in a part with a Content-Length; send it without",
        },
        part.name,
      );
    }
    const [, { start, end } = { start: 0, end: 0 }] = parseMembers(replaced.value);
    const value = parseJson(replaced.value.slice(start, end));
    contents.push(typeof value === "string" ? utf8Bytes(value) : null);
  }
  return success(contents);
}
