import { Buffer } from "node:buffer";
import { endOfString, skipBlanks } from "../core/json/scan.ts";

const QUOTE = 34, COLON = 58;
const OPEN_ARRAY = 91, CLOSE_ARRAY = 93, OPEN_OBJECT = 123, CLOSE_OBJECT = 125;

/** Bytes of an image or audio that count as text: those of 1,200 tokens. */
const MAX_MEDIUM_BYTES = 4_800;

/** Levels of a JSON text. One with more counts with all its bytes. */
const MAX_DEPTH = 100;

/** Strings and containers of a JSON text. One with more counts with all its bytes. */
const MAX_ITEMS = 1_000_000;

/** Outermost members that may hold media: those of requests, then those of answers. */
const WITH_MEDIA: ReadonlySet<string> = new Set(
  ("messages input contents images image " +
    "choices output item response message part delta data b64_json partial_image_b64 result")
    .split(" "),
);

/** Members that hold data of any form further inside, such as the arguments of a call. */
const WITH_TEXT: ReadonlySet<string> = new Set(
  ("input arguments args parameters input_schema schema variables action tools metadata " +
    "attributes functionResponse function_response").split(" "),
);

/** Forms in which a medium may stand at a place; all other text there is text. */
interface Place {
  /**
   * Media type of a `data:` URL that names none. Without one the place holds only base64, which is
   * judged by all members of its object.
   */
  readonly url?: string;
  /** Media type of base64 alone, if its object names none. */
  readonly base64?: string;
  /** Member `type` that its object must have. */
  readonly type?: string;
}

const IMAGE_URL = { url: "image/" }, DOCUMENT_URL = { url: "application/pdf" };
const IMAGE = { url: "image/", base64: "image/" }, AUDIO = { url: "audio/", base64: "audio/" };

/** Places of media: a member, that of an object under another member, or the texts of a list. */
const PLACES: ReadonlyMap<string, Place> = new Map<string, Place>([
  ["image_url.url", IMAGE_URL],
  ["image_url", IMAGE_URL],
  ["video[]", IMAGE_URL],
  ["video_url.url", { url: "video/" }],
  ["audio_url.url", { url: "audio/" }],
  ["document_url.url", DOCUMENT_URL],
  ["document_url", DOCUMENT_URL],
  ["file_url", { url: "text/plain" }],
  ["file_data", { url: "text/plain", base64: "application/pdf" }],
  ["source.data", { base64: "image/", type: "base64" }],
  ["inline_data.data", { base64: "image/" }],
  ["inlineData.data", { base64: "image/" }],
  ["input_audio.data", AUDIO],
  ["input_audio", AUDIO],
  ["audio.data", AUDIO],
  ["images[]", IMAGE],
  ["b64_json", IMAGE],
  ["partial_image_b64", IMAGE],
  ["result", { base64: "image/", type: "image_generation_call" }],
]);

/** The name of a member that may hold a medium. */
const MEMBER = new RegExp(
  `"(?:${[...PLACES.keys()].map((place) => place.replace(/^.*\.|\[\]$/, "")).join("|")})"`,
);

/** Members with the media type of the `data` in the same object. */
const MEDIA_TYPES: ReadonlySet<string> = new Set(["media_type", "mime_type", "mimeType"]);

/** Beginning of the `data:` URL of a medium, with its media type. */
const DATA_URL = /^data:([^;,]{0,100})(?:;[^,]{0,100})?;base64,/i;

/** A character outside of base64 in JSON: escaped `+`, `/`, `=` and line ends are inside. */
const NO_BASE64 = /[^A-Za-z0-9+/=_\\-]|\\(?!\/|n|r|u00(?:2[bBfF]|3[dD]))/;

/** An object or a list that is not closed yet. */
interface Level {
  /** Member whose value it is; that of the list for an element. */
  readonly key: string;
  readonly isArray: boolean;
  /** True if nothing in it can be a medium. */
  readonly isText: boolean;
  /** Latest member, that of the list in a list; null if its name has an escape. */
  member: string | null;
  /** Value of the last member `type`; empty if it is none of a medium. */
  type: string;
  /** Media type that the object names; null without one, empty for an unknown one. */
  mediaType: string | null;
  /** Base64 in it that is judged when all members are known; null without any. */
  data: { readonly place: Place; readonly chars: number } | null;
}

/**
 * Returns the bytes of a JSON text, or of its beginning, that count as text for an estimate of its
 * tokens: all, but of media in base64 in the places where providers read them only some. An image
 * or audio counts at most `MAX_MEDIUM_BYTES`, a PDF or a video a tenth, and another file as the
 * text that it holds. The text is scanned, not parsed, in time that is linear in its length.
 */
export function countedBytes(text: string): number {
  const bytes = Buffer.byteLength(text);
  if (text.length <= MAX_MEDIUM_BYTES || !MEMBER.test(text)) return bytes;
  return bytes - uncountedChars(text);
}

/** Returns the characters of media that do not count; 0 for a text that is no JSON object. */
function uncountedChars(text: string): number {
  const outer: Level[] = [];
  let level: Level | undefined;
  let chars = 0;
  let items = 0;
  for (let at = skipBlanks(text, 0); at < text.length; at = nextMark(text, at)) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (++items > MAX_ITEMS || outer.length === MAX_DEPTH) return 0;
      const isArray = code === OPEN_ARRAY;
      const isText = level !== undefined && hasOnlyText(level, outer.length === 1, isArray);
      const key = level?.member ?? "";
      outer.push(level = newLevel(key, isArray, isText));
      at++;
    } else if (level === undefined) {
      return 0;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      if (level.isArray !== (code === CLOSE_ARRAY)) return 0;
      chars += uncountedData(level);
      outer.pop();
      level = outer.at(-1);
      at++;
      if (level === undefined) return skipBlanks(text, at) === text.length ? chars : 0;
    } else {
      if (++items > MAX_ITEMS) return 0;
      const end = endOfString(text, at);
      const next = skipBlanks(text, end);
      if (level.isText) at = next;
      else if (text.charCodeAt(next) === COLON) {
        startMember(level, text.slice(at + 1, end - 1));
        at = next + 1;
      } else {
        // A string that ends with the text may be cut off.
        if (end < text.length) {
          chars += uncountedString(level, outer.length === 1, text.slice(at + 1, end - 1));
        }
        at = next;
      }
    }
  }
  return chars;
}

/** Returns the index from `at` on of the next string or beginning or end of a container. */
function nextMark(text: string, at: number): number {
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE || code === OPEN_OBJECT || code === CLOSE_OBJECT) break;
    if (code === OPEN_ARRAY || code === CLOSE_ARRAY) break;
  }
  return at;
}

function newLevel(key: string, isArray: boolean, isText: boolean): Level {
  return { key, isArray, isText, member: key, type: "", mediaType: null, data: null };
}

/** True if a container that begins in the latest member of a level can have no medium in it. */
function hasOnlyText(level: Level, isOutermost: boolean, isArray: boolean): boolean {
  const { isText, member } = level;
  if (isText || member === null) return true;
  return isOutermost
    ? !WITH_MEDIA.has(member) || member === "input" && !isArray
    : !level.isArray && WITH_TEXT.has(member);
}

function startMember(level: Level, name: string): void {
  // A name with an escape may be any name.
  const member = level.member = name.includes("\\") ? null : name;
  if (member === null || member === "type") level.type = "";
  if (member === null || MEDIA_TYPES.has(member)) level.mediaType = "";
}

/** Returns the characters of a string that do not count as text, as far as they are known yet. */
function uncountedString(level: Level, isOutermost: boolean, value: string): number {
  const { key, isArray, member } = level;
  if (member === null) return 0;
  if (value.length <= MAX_MEDIUM_BYTES) {
    if (member === "type") level.type = value;
    else if (MEDIA_TYPES.has(member)) level.mediaType = value;
    return 0;
  }
  if (isOutermost && !WITH_MEDIA.has(member)) return 0;
  const place = isArray
    ? PLACES.get(`${member}[]`)
    : PLACES.get(`${key}.${member}`) ?? PLACES.get(member);
  if (place === undefined) return 0;
  const [start, urlType] = place.url !== undefined && DATA_URL.exec(value) || [""];
  const mediaType = start === "" ? place.base64 : urlType || place.url;
  if (mediaType === undefined || NO_BASE64.test(value.slice(start.length))) return 0;
  if (place.url !== undefined) return uncounted(value.length, mediaType);
  level.data = { place, chars: value.length };
  return 0;
}

/** Returns the characters of base64 that do not count, by the other members of its object. */
function uncountedData({ type, mediaType, data }: Level): number {
  if (data === null || type !== (data.place.type ?? type)) return 0;
  return uncounted(data.chars, mediaType ?? data.place.base64 ?? "");
}

/** Returns the characters of a medium, longer than `MAX_MEDIUM_BYTES`, that do not count. */
function uncounted(chars: number, mediaType: string): number {
  const type = mediaType.replaceAll("\\/", "/").toLowerCase();
  if (/^(?:image|audio)\//.test(type)) return chars - MAX_MEDIUM_BYTES;
  return /^(?:video\/|application\/pdf$)/.test(type)
    ? chars - Math.max(MAX_MEDIUM_BYTES, Math.ceil(chars / 10))
    : Math.floor(chars / 4);
}
