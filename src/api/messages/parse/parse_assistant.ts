import { pushAll } from "../../../core/push_all.ts";
import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import { findMember, parseElements, type Span } from "../../../formats/edit.ts";
import { sealedText } from "../../../core/stream/sealed_text.ts";
import { textContent } from "../../../prompt/content.ts";
import { type InnerItems, tooManyInnerItems } from "../../../prompt/inner_json.ts";
import type { AssistantTurn, FieldRef, ToolCall } from "../../../prompt/prompt.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import { isHostSigned } from "../../../wires/compat/host_reasoning.ts";
import { parseThinking, reasoningTextOf } from "../../reasoning/sealed_thinking.ts";
import { invalidValue } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import {
  type BlockInput,
  blockPlace,
  blockText,
  contentBlocks,
  type Place,
  unexpectedTag,
} from "./parse_content.ts";
import { upstreamName } from "./parse_tools.ts";
import { memberText, objectAt, textAt, unknownIn } from "./read.ts";

const CONTENT = "messages[assistant].content";

const CALL = "messages[assistant].tool_calls[function]";

const ASSISTANT_BLOCKS = ["text", "thinking", "redacted_thinking", "tool_use"];

/** Context in which assistant messages are parsed. */
export interface AssistantInput extends BlockInput {
  /** The client's text. */
  readonly text: string;
  readonly innerItems: InnerItems;
}

/**
 * Returns an assistant message, or null if nothing of it can be sent; `span` is its text in the
 * client's document.
 */
export function parseAssistant(
  message: JsonObject,
  index: number,
  span: Span,
  input: AssistantInput,
): Result<AssistantTurn | null> {
  const path = `messages.${index}`;
  const unknown = unknownIn(message, "messages[assistant]", path);
  if (unknown !== null) return unknown;
  const blocks = contentBlocks(message.content, `${path}.content`);
  if (!blocks.ok) return blocks;
  const spans = blocks.value.some(({ type }) => type === "tool_use")
    ? blockSpans(input.text, span)
    : [];
  const read = newAssistantReader(input);
  for (const [at, block] of blocks.value.entries()) {
    const taken = read.take(block, blockPlace(index, at), spans[at]);
    if (!taken.ok) return taken;
  }
  return success(read.turn(path));
}

/** Returns the spans of the content's blocks, so that the input of a call keeps its text. */
function blockSpans(text: string, { start }: Span): readonly Span[] {
  const content = findMember(text, start, "content");
  return content === undefined ? [] : parseElements(text, content.start);
}

function newAssistantReader(input: AssistantInput) {
  const { lossy, carrier } = input;
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: ToolCall[] = [];
  const signed: JsonObject[] = [];
  let signedAt: FieldRef | null = null;
  let reasoningAt: FieldRef | null = null;
  const ids = new Set<string>();

  function take(block: JsonObject, place: Place, span: Span | undefined): Result<null> {
    switch (block.type) {
      case "text":
        return takeText(block, place);
      case "thinking":
        return takeThinking(block, place);
      case "redacted_thinking":
        // Only its maker can read it.
        lossy.push(place.listedPath);
        return success(null);
      case "tool_use":
        return takeCall(block, place, span);
      default:
        return unexpectedTag(block, place.path, ASSISTANT_BLOCKS);
    }
  }

  function takeText(block: JsonObject, place: Place): Result<null> {
    const text = blockText(block, place, lossy);
    if (!text.ok) return text;
    if (text.value === "") return success(null);
    // In a prompt all text is before the calls.
    if (calls.length > 0) lossy.push(place.listedPath);
    texts.push(text.value);
    return success(null);
  }

  function takeThinking(block: JsonObject, { path }: Place): Result<null> {
    const unknown = unknownIn(block, `${CONTENT}[thinking]`, path);
    if (unknown !== null) return unknown;
    const thinking = textAt(block.thinking, `${path}.thinking`);
    if (!thinking.ok) return thinking;
    const signature = textAt(block.signature ?? "", `${path}.signature`);
    if (!signature.ok) return signature;
    reasoningAt ??= { field: "messages[assistant].reasoning_content", path };
    const sealed = sealedText(signature.value);
    if (sealed === null) {
      // A signature of another maker means nothing to this upstream.
      if (signature.value !== "") lossy.push(thinking.value === "" ? path : `${path}.signature`);
      if (thinking.value !== "") thoughts.push(thinking.value);
      return success(null);
    }
    if (!input.innerItems.admits(sealed)) return tooManyInnerItems(`${path}.signature`);
    const sealedBlocks = parseThinking(sealed) ?? [];
    thoughts.push(thinking.value || sealedBlocks.map(reasoningTextOf).join(""));
    takeSigned(sealedBlocks.filter(isHostSigned), `${path}.signature`);
    return success(null);
  }

  /** Takes what a Chat host has signed: only such a host takes it back. */
  function takeSigned(blocks: readonly JsonObject[], path: string): void {
    if (blocks.length === 0) return;
    signedAt ??= { field: "messages[assistant].reasoning_content", path };
    if (input.wire === "compat") pushAll(signed, blocks);
    else lossy.push(path);
  }

  function takeCall(block: JsonObject, { path }: Place, span: Span | undefined): Result<null> {
    const { caller = null } = block;
    const unknown = unknownIn(block, `${CONTENT}[tool_use]`, path);
    if (unknown !== null) return unknown;
    if (caller !== null && !(isObject(caller) && caller.type === "direct")) {
      return unsupported(`${path}.caller`);
    }
    const id = textAt(block.id, `${path}.id`);
    if (!id.ok) return id;
    const name = textAt(block.name, `${path}.name`);
    if (!name.ok) return name;
    const given = objectAt(block.input, `${path}.input`);
    if (!given.ok) return given;
    if (ids.has(id.value)) return invalidValue(`${path}.id`, SENTENCES.idsNotUnique);
    ids.add(id.value);
    input.mention(name.value);
    const at = { field: `${CALL}.id`, path } as const;
    calls.push({
      kind: "function",
      at,
      id: { value: id.value, at: { ...at, path: `${path}.id` } },
      name: upstreamName(name.value, input.wire),
      text: {
        value: memberText(input.text, span, "input") ?? "{}",
        at: { field: `${CALL}.function.arguments`, path: `${path}.input` },
      },
    });
    return carrier.use(at) ?? success(null);
  }

  function turn(path: string): AssistantTurn | null {
    const content = texts.join("");
    const reasoning = thoughts.join("");
    if (content === "" && reasoning === "" && calls.length === 0) return null;
    return {
      kind: "assistant",
      at: { field: "messages[assistant]", path },
      content: content === "" && calls.length > 0
        ? null
        : textContent(content, { field: CONTENT, path: `${path}.content` }),
      refusal: null,
      citations: null,
      reasoning: reasoning === "" || reasoningAt === null
        ? null
        : { value: reasoning, at: reasoningAt },
      thinking: [],
      calls,
      signed: signed.length === 0 || signedAt === null ? null : { value: signed, at: signedAt },
      stored: null,
      cache: null,
    };
  }

  return { take, turn };
}
