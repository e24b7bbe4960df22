import { isRefusal, type Reason } from "../../../core/failure.ts";
import { type Failed, failed } from "../../../core/result.ts";
import type { PlacedMessage } from "./chat_turns.ts";

/** Client paths of the messages and tools in a translated request. */
export interface Origins {
  readonly messages: readonly PlacedMessage[];
  /** Path of each tool in the client's request. */
  readonly tools: readonly string[];
}

/** Chat field names, longest first, with the Responses names of the same fields. */
const FIELDS = [
  ["response_format.json_schema", "text.format"],
  ["response_format", "text.format"],
  ["max_completion_tokens", "max_output_tokens"],
  ["reasoning_effort", "reasoning.effort"],
  ["verbosity", "text.verbosity"],
  ["tool_choice.function", "tool_choice"],
] as const;

/** Reasoning without a signature, with where clients of this API have it. */
const UNSIGNED: Reason = {
  kind: "unsigned_reasoning",
  resend: "'encrypted_content' of the item",
};

/** Returns a wire's refusal of a translated request with the client's own path and field names. */
export function toClientPaths(refused: Failed, origins: Origins): Failed {
  const { failure } = refused;
  if (!isRefusal(failure) || failure.at === null) return refused;
  const reason = failure.reason.kind === "unsigned_reasoning" ? UNSIGNED : failure.reason;
  return failed({ ...failure, at: toClientPath(failure.at, origins), reason });
}

/** Returns the path in the client's request for a path in the translated request. */
export function toClientPath(path: string, { messages, tools }: Origins): string {
  const [, list, number = "", below = ""] = /^(messages|tools)(?:\[(\d+)\](.*))?$/.exec(path) ?? [];
  if (list === "messages") {
    const message = messages[Number(number)];
    return number === "" || message === undefined ? "input" : messagePath(message, below);
  }
  if (list === "tools") {
    const tool = tools[Number(number)];
    return number === "" || tool === undefined
      ? "tools"
      : tool + below.replace(/^\.function(?=\.|$)/, "");
  }
  const field = FIELDS.find(([name]) => path === name || path.startsWith(`${name}.`));
  return field === undefined ? path : field[1] + path.slice(field[0].length);
}

function messagePath(
  { message, at, reasoningAt, callsAt, partsAt }: PlacedMessage,
  below: string,
): string {
  const [, number = "", inCall = ""] = /^\.tool_calls\[(\d+)\](.*)$/.exec(below) ?? [];
  const call = callsAt[Number(number)];
  if (number !== "" && call !== undefined) {
    return call(inCall === ".id" ? ".call_id" : inCall.replace(/^\.function(?=\.|$)/, ""));
  }
  if (below.startsWith(".thinking_blocks")) return (reasoningAt ?? at)(".encrypted_content");
  if (below.startsWith(".reasoning_content")) return (reasoningAt ?? at)("");
  if (below === ".tool_call_id") return at(".call_id");
  const inside = partMember(below);
  const [, index = "", inPart = ""] = /^\.content\[(\d+)\](.*)$/.exec(inside) ?? [];
  const part = index === "" ? undefined : partsAt?.[Number(index)];
  if (part !== undefined) return part(inPart);
  return at(
    message.role === "tool"
      ? inside.replace(/^\.content/, ".output")
      : inside.replace(/^\.refusal$/, ".content"),
  );
}

/** Returns a path with the member of an image or file as the Responses API has it. */
function partMember(below: string): string {
  return below.replace(/\.image_url\.url$/, ".image_url")
    .replace(/\.image_url\.detail$/, ".detail")
    .replace(/\.file(?=\.file|$)/, "");
}
