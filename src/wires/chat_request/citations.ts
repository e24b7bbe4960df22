import { isObject, type JsonObject, numberOf } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { mapObjects } from "./chat_tools.ts";
import { COMMON } from "./common_rows.ts";
import {
  isEmpty,
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
  wrongValue,
} from "./refusals.ts";

/** A web citation in the form of Responses, with offsets from the start of the whole response text. */
export interface Citation extends JsonObject {
  readonly start_index: number;
  readonly end_index: number;
}

const ANNOTATION = COMMON.members("messages[assistant].annotations[url_citation]");

const MEMBERS = COMMON.members("messages[assistant].annotations[url_citation].url_citation");

/**
 * Returns the `annotations` of an assistant message. A Refusal names the first that is not a web
 * citation.
 */
export function parseCitations(given: Optional, path: string): Result<readonly Citation[]> {
  return mapObjects(given, path, parseCitation);
}

function parseCitation(annotation: JsonObject, path: string): Result<Citation> {
  if (annotation.type !== "url_citation") return unsupported(`${path}.type`);
  const unknown = unknownMember(annotation, ANNOTATION, path);
  if (unknown !== null) return unknown;
  const cited = annotation.url_citation;
  const at = `${path}.url_citation`;
  if (!isObject(cited)) return wrongType(at, "an object");
  const other = unknownMember(cited, MEMBERS, at);
  if (other !== null) return other;
  const { url } = cited;
  const title = cited.title ?? "";
  if (typeof url !== "string") return missing(`${at}.url`);
  if (typeof title !== "string") return wrongType(`${at}.title`, "a string");
  const start = parseIndex(cited.start_index, `${at}.start_index`);
  if (!start.ok) return start;
  const end = parseIndex(cited.end_index, `${at}.end_index`);
  if (!end.ok) return end;
  return success({
    type: "url_citation",
    url,
    title,
    start_index: start.value,
    end_index: end.value,
  });
}

function parseIndex(given: Optional, path: string): Result<number> {
  const index = numberOf(given);
  if (index === null || !Number.isInteger(index)) return wrongType(path, "an integer");
  return index < 0 ? wrongValue(path, "at least 0") : success(index);
}

/**
 * Returns the paths of the citations in the messages of a request, for protocols that send the cited
 * text without them. Types are not validated.
 */
export function citationPaths(messages: Optional): readonly string[] {
  return (Array.isArray(messages) ? messages : []).flatMap((message, index) => {
    if (!isObject(message) || message.role !== "assistant") return [];
    if (!isEmpty(message.annotations)) return [`messages[${index}].annotations`];
    const [first] = Array.isArray(message.content) ? message.content : [];
    const isCited = isObject(first) && !isEmpty(first.annotations);
    return isCited ? [`messages[${index}].content[0].annotations`] : [];
  });
}
