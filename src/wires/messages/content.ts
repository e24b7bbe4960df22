import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type { CacheMark, Content, FilePart, ImagePart, Part } from "../../prompt/prompt.ts";
import { documentSource, imageSource } from "./sources.ts";

type Blocks = Result<readonly JsonObject[]>;

/**
 * Returns a content as Messages blocks. Empty text is omitted, because the upstream refuses an
 * empty text block. A Refusal names the part that cannot be translated.
 */
export function encodeContent({ parts }: Content, carrier: Carrier): Blocks {
  const blocks: JsonObject[] = [];
  for (const part of parts) {
    const own = encodePart(part, carrier);
    if (!own.ok) return own;
    const marked = withCacheMark(own.value, part.cache, carrier);
    if (!marked.ok) return marked;
    blocks.push(...marked.value);
  }
  return success(blocks);
}

/** Returns a text block; an empty list if the text is empty. */
export function textBlocks(text: string): readonly JsonObject[] {
  return text === "" ? [] : [{ type: "text", text }];
}

/** Returns the blocks with the `cache_control` of a part or a message on the last block. */
export function withCacheMark(
  blocks: readonly JsonObject[],
  cache: CacheMark | null,
  carrier: Carrier,
): Blocks {
  if (cache === null) return success(blocks);
  if (!cache.ok) return cache;
  const last = blocks.at(-1);
  if (last === undefined || !isCacheable(last)) {
    return carrier.refuse(cache.value.at, "There is nothing to cache.");
  }
  return success([...blocks.slice(0, -1), { ...last, cache_control: cache.value.value }]);
}

/**
 * True if a block or a tool can carry a `cache_control`: thinking and empty text cannot (Messages
 * API, prompt cache).
 */
export function isCacheable({ type, text }: JsonObject): boolean {
  return type !== "thinking" && type !== "redacted_thinking" && (type !== "text" || text !== "");
}

function encodePart(part: Part, carrier: Carrier): Blocks {
  switch (part.kind) {
    case "text":
    case "refusal":
      return success(textBlocks(part.text));
    case "image":
      return encodeImage(part, carrier);
    case "file":
      return encodeFile(part, carrier);
  }
}

function encodeImage({ url, detail }: ImagePart, carrier: Carrier): Blocks {
  // The upstream always processes an image at full size.
  if (detail !== null && detail.value !== "auto") {
    const refused = detail.value === "high" ? carrier.apply(detail.at) : carrier.refuse(detail.at);
    if (refused !== null) return refused;
  }
  const source = imageSource(url, carrier);
  return source.ok ? success([{ type: "image", source: source.value }]) : source;
}

function encodeFile({ data, name, dataAt }: FilePart, carrier: Carrier): Blocks {
  if (data === null) return carrier.refuseAbsent(dataAt.path);
  const source = documentSource(data, carrier);
  if (!source.ok) return source;
  if (source.value.data === "") {
    return carrier.refuseValue(data.at.path, "must be a file with content");
  }
  const title = name?.value ?? "";
  return success([{ type: "document", source: source.value, ...title !== "" && { title } }]);
}
