import { isRefusal } from "../../../core/failure.ts";
import { type Failed, failed } from "../../../core/result.ts";
import type { PlacedMessage } from "./placed_message.ts";

/** The client's paths of the messages and tools in a translated request. */
export interface Origins {
  readonly messages: readonly PlacedMessage[];
  /** Position of each sent tool in the client's `tools`. */
  readonly tools: readonly number[];
  /** Path of the response format. */
  readonly format: string;
}

/** Chat field names, longest first, with the names of the same fields in the Messages API. */
const FIELDS = [
  ["parallel_tool_calls", "tool_choice.disable_parallel_tool_use"],
  ["max_completion_tokens", "max_tokens"],
  ["tool_choice.function", "tool_choice"],
  ["reasoning_effort", "output_config.effort"],
  ["stop", "stop_sequences"],
  ["user", "metadata.user_id"],
] as const;

/** Returns a wire's refusal of a translated request with the client's own path. */
export function toClientPaths(refused: Failed, origins: Origins): Failed {
  const { failure } = refused;
  if (!isRefusal(failure) || failure.at === null) return refused;
  // A refusal names the type of a tool, as the vendor does.
  const at = clientPath(failure.at, origins).replace(/^(tools\.\d+)(?=\.)/, "$1.custom");
  return failed({ ...failure, at });
}

/** Returns the client's path of a field of the translated request. */
export function clientPath(path: string, origins: Origins): string {
  const { messages, tools, format } = origins;
  const [, list, number = "", below = ""] = /^(messages|tools)(?:\[(\d+)\](.*))?$/.exec(path) ?? [];
  if (list === "messages") {
    const message = messages[Number(number)];
    return number === "" || message === undefined ? "messages" : messagePath(message, below);
  }
  if (list === "tools") {
    const tool = tools[Number(number)];
    if (number === "" || tool === undefined) return "tools";
    return dotted(`tools.${tool}${toolMember(below)}`);
  }
  if (path.startsWith("response_format")) return format;
  const field = FIELDS.find(([name]) =>
    path === name || /^[.[]/.test(path.slice(name.length)) && path.startsWith(name)
  );
  return dotted(field === undefined ? path : field[1] + path.slice(field[0].length));
}

/**
 * Chat fields of a response format that the translation writes itself: the Messages API has only the
 * schema, so that the client loses nothing with them.
 */
const OWN_FIELDS: readonly string[] = [
  "response_format.json_schema.name",
  "response_format.json_schema.strict",
];

/** Type of the outer block, which a refusal names before the blocks of a tool result. */
const OUTER_TYPE = /^(messages\.\d+\.content\.\d+)\.tool_result(?=\.)/;

/**
 * Returns the client's paths of the fields that the wire carries only in part. They name members only,
 * whereas a refusal also names the type of a block, as the vendor does.
 */
export function lossyPaths(paths: readonly string[], origins: Origins): readonly string[] {
  return paths.filter((path) => !OWN_FIELDS.includes(path)).map((path) =>
    clientPath(path, origins).replace(OUTER_TYPE, "$1")
  );
}

function messagePath(placed: PlacedMessage, below: string): string {
  const { at, partsAt, callsAt, reasoningAt = at } = placed;
  const [, list, number = "", inside = ""] = /^\.(tool_calls|content)\[(\d+)\](.*)$/.exec(below) ??
    [];
  const call = list === "tool_calls" ? callsAt[Number(number)] : undefined;
  if (call !== undefined) return call + callMember(inside);
  const part = list === "content" ? partsAt[Number(number)] : undefined;
  if (part !== undefined) return part + partMember(inside);
  if (below === ".tool_call_id") return `${at}.tool_use_id`;
  if (below === ".role") return `${at}.role`;
  if (below === ".reasoning_content") return reasoningAt;
  return partsAt.length === 1 && below.startsWith(".content") ? partsAt[0] ?? at : at;
}

/** Returns the member of a tool. */
function toolMember(below: string): string {
  return below.replace(/^\.function(?=\.|$)/, "")
    .replace(/^\.parameters(?=[.[]|$)/, ".input_schema");
}

function callMember(inside: string): string {
  if (inside.startsWith(".function.arguments")) return ".input";
  return inside.startsWith(".function.name") ? ".name" : inside === ".id" ? ".id" : "";
}

/** Returns the member of a block: its source for a wrong value, its type for one that is not taken. */
function partMember(inside: string): string {
  if (inside === ".image_url.url") return ".source.data";
  if (inside.startsWith(".image_url")) return ".image";
  return inside.startsWith(".file") ? ".document" : "";
}

/** Returns a path with dots before indexes, as clients of this API read it. */
function dotted(path: string): string {
  return path.replace(/\[(\d+)\]/g, ".$1");
}
