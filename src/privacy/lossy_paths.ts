import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { keptName } from "../core/text_beginning.ts";
import type { Span } from "../formats/edit.ts";
import { type JsonPath, memberOf, valueAt } from "./json_strings.ts";
import { LOGPROBS } from "./logprobs.ts";

/** Keywords that a value keeps and its token breaks, so that no provider can enforce both. */
const TEXT_KEYWORDS: ReadonlySet<string> = new Set(["pattern", "format", "minLength", "maxLength"]);

/** Keywords whose texts answers repeat: what is masked in them has its label in answers too. */
const LITERALS: ReadonlySet<string> = new Set(["enum", "const"]);

/** Where the schemas of answers are, in all client APIs. */
const FORMATS: readonly JsonPath[] = [
  ["response_format", "json_schema", "schema"],
  ["text", "format", "schema"],
  ["output_config", "format", "schema"],
  ["output_format", "schema"],
];

/** Schemas of a tool, in all client APIs. */
const PARAMETERS: readonly JsonPath[] = [
  ["function", "parameters"],
  ["parameters"],
  ["input_schema"],
];

/** Maximum number of paths that a header names, and depth of a schema in which they are found. */
const MAX_PATHS = 16, MAX_SCHEMA_LEVELS = 32;

/** Name of log probabilities in `include` (Responses API). */
const INCLUDED_LOGPROBS = "message.output_text.logprobs";

/** Values of a schema that are looked at before other work may have its turn. */
const STEP_COUNT = 2_048;

/** Facts of a request in which rules have replaced values. */
export interface Replaced {
  readonly hasTokens: boolean;
  /**
   * Returns true if an answer with the text at a path that providers get is not the client's. Can
   * be interrupted.
   */
  isMasked(path: JsonPath, value: JsonValue | undefined): Generator<void, boolean, void>;
}

/**
 * Returns the paths of a request that privacy rules let an answer keep only in part: if it has
 * tokens, keywords of its schemas for texts, which a token does not satisfy; texts of its schemas
 * that are masked; and log probabilities, which are those of tokens, or are left out. Can be
 * interrupted.
 */
export function* lossyPaths(
  request: JsonObject,
  { hasTokens, isMasked }: Replaced,
): Generator<void, readonly JsonPath[], void> {
  const found = logprobPaths(request);
  let count = 0;

  function* visit(
    schema: JsonValue | undefined,
    path: (string | number)[],
  ): Generator<void, void, void> {
    if (path.length > MAX_SCHEMA_LEVELS || !isObject(schema) && !Array.isArray(schema)) return;
    const isList = Array.isArray(schema);
    for (const key of Object.keys(schema)) {
      if (found.length >= MAX_PATHS) return;
      if (++count % STEP_COUNT === 0) yield;
      const step = isList ? Number(key) : key;
      const value = memberOf(schema, step);
      path.push(step);
      // A property may have the name of a keyword; its value then is a schema.
      if (isList || isObject(value)) yield* visit(value, path);
      else if (TEXT_KEYWORDS.has(key) && hasTokens) found.push([...path]);
      else if (!LITERALS.has(key)) yield* visit(value, path);
      else if (yield* isMasked(path, value)) found.push([...path]);
      path.pop();
    }
  }

  function* visitTools(list: JsonPath): Generator<void, void, void> {
    const tools = valueAt(request, list);
    for (const [index, tool] of Array.isArray(tools) ? tools.entries() : []) {
      if (++count % STEP_COUNT === 0) yield;
      const own = [...list, index];
      for (const path of PARAMETERS) yield* visit(valueAt(tool, path), [...own, ...path]);
      // Those of a namespace.
      if (isObject(tool) && own.length < MAX_SCHEMA_LEVELS) yield* visitTools([...own, "tools"]);
    }
  }

  for (const path of FORMATS) yield* visit(valueAt(request, path), [...path]);
  yield* visitTools(["tools"]);
  yield* visitTools(["functions"]);
  const { input } = request;
  for (const [index, item] of Array.isArray(input) ? input.entries() : []) {
    if (!isObject(item) || item.type !== "additional_tools") continue;
    yield* visitTools(["input", index, "tools"]);
  }
  return found.slice(0, MAX_PATHS)
    .map((path) => path.map((step) => typeof step === "string" ? keptName(step) : step));
}

/** Returns the names of the parts of a form that ask for log probabilities (transcriptions). */
export function lossyParts<Part extends Span & { readonly name: string }>(
  parts: readonly Part[],
  textOf: (part: Part) => string | null,
): string[] {
  return parts.filter((part) =>
    /^include(?:\[\d{0,4}\])?$/.test(part.name) &&
    part.end - part.start === LOGPROBS.length && textOf(part) === LOGPROBS
  ).map(({ name }) => name);
}

function logprobPaths({ logprobs, include }: JsonObject): JsonPath[] {
  if (logprobs === true || typeof logprobs === "number") return [["logprobs"]];
  const at = Array.isArray(include) ? include.indexOf(INCLUDED_LOGPROBS) : -1;
  return at < 0 ? [] : [["include", at]];
}
