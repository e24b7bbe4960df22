import type { Refusal } from "../../../core/failure/failure.ts";
import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { type Failed, type Result, success } from "../../../core/failure/result.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import type { FieldRef } from "../../../prompt/prompt.ts";
import { type Optional, unsupported } from "../../../prompt/refusals.ts";
import type { WireName } from "../../../wires/wire.ts";
import { wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { textAt, unknownIn } from "./read.ts";

/** Context in which the blocks of a request are parsed. */
export interface BlockInput {
  readonly wire: WireName;
  readonly carrier: Carrier;
  /** Paths of fields that are carried in part over every wire, to which a parser adds. */
  readonly lossy: string[];
  /** True if the request declares a tool of this name. */
  hasTool(name: string): boolean;
  /** Records a tool that the dialogue names, on its first mention. */
  mention(name: string): void;
}

/** Place of a block in the client's request. */
export interface Place extends Pick<FieldRef, "path"> {
  /** Path without the type of the outer block, which only refusals name, as the vendor does. */
  readonly listedPath: string;
}

/** Returns the place of a block in the content of a message. */
export function blockPlace(message: number, block: number): Place {
  const path = `messages.${message}.content.${block}`;
  return { path, listedPath: path };
}

/** Returns the place of a block in the content of a tool result. */
export function innerPlace({ path, listedPath }: Place, index: number): Place {
  return {
    path: `${path}.tool_result.content.${index}`,
    listedPath: `${listedPath}.content.${index}`,
  };
}

/**
 * Returns the blocks of a content that is a text or an array; `path` is the path of the content.
 */
export function contentBlocks(content: Optional, path: string): Result<readonly JsonObject[]> {
  if (typeof content === "string") return success([{ type: "text", text: content }]);
  if (!Array.isArray(content)) return wrongType(content, path, "a valid string or list");
  const wrong = content.findIndex((block) => !isObject(block));
  if (wrong >= 0) return wrongType(content[wrong], `${path}.${wrong}`, "a valid dictionary");
  return success(content.filter(isObject));
}

/**
 * Returns the text of a text block. Its citations, which have no place in a prompt, are added to
 * `lossy` unread.
 */
export function blockText(
  block: JsonObject,
  { path, listedPath }: Place,
  lossy: string[],
): Result<string> {
  const unknown = unknownIn(block, "messages[].content[text]", path);
  if (unknown !== null) return unknown;
  const text = textAt(block.text, `${path}.text`);
  const { citations } = block;
  const isCited = Array.isArray(citations) && citations.length > 0;
  if (text.ok && isCited) lossy.push(`${listedPath}.citations`);
  return text;
}

/** Returns the refusal of a block whose type has no counterpart. */
export function unexpectedTag(
  { type }: JsonObject,
  path: string,
  expected: readonly string[],
): Failed<Refusal> {
  if (typeof type !== "string") return wrongType(type, `${path}.type`, "a valid string");
  return unsupported(path, SENTENCES.unexpectedTag(type, expected));
}
