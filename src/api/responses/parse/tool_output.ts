import { type Result, success } from "../../../core/failure/result.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import { contentOf, textPart } from "../../../prompt/content.ts";
import type { Content, Part } from "../../../prompt/prompt.ts";
import type { Optional } from "../../../prompt/refusals.ts";
import type { WireName } from "../../../wires/wire.ts";
import { newMovedTexts } from "../../generate/moved_media.ts";
import { parseContent } from "./parse_content.ts";

/** The output of a call: the content of its result, and what that cannot hold. */
export interface ToolOutput {
  readonly content: Content;
  /** Images and files for a user message after the results. */
  readonly moved: readonly Part[];
}

/**
 * Returns the output of a call, which is at `path`. Only the Messages API takes images and files in
 * a result. Over other protocols they move to a user message, and a text takes their place.
 */
export function parseToolOutput(
  output: Optional,
  callId: string,
  path: string,
  { wire, carrier }: { readonly wire: WireName; readonly carrier: Carrier },
): Result<ToolOutput> {
  const media = wire === "messages" ? "tool" : "user";
  const content = parseContent(output, path, { role: "tool", media }, carrier);
  if (!content.ok) return content;
  if (media === "tool") return success({ content: content.value, moved: [] });
  const nextTexts = newMovedTexts(callId);
  const moved: Part[] = [];
  const parts = content.value.parts.map((part) => {
    if (part.kind !== "image" && part.kind !== "file") return part;
    const { placeholder, title } = nextTexts(part.kind === "file" ? "document" : "image");
    moved.push(textPart(title, part.at), part);
    carrier.lose(part.at.path);
    return textPart(placeholder, part.at);
  });
  return success({ content: contentOf(parts, content.value.at), moved });
}
