import {
  isObject,
  type JsonDocument,
  type JsonValue,
  numberOf,
  parseJson,
} from "../../core/json/json.ts";
import type { Fault } from "../../core/failure/failure.ts";
import { type Failed, type Result, success } from "../../core/failure/result.ts";
import { findValue, parseElements } from "../../formats/edit.ts";
import type { Target, UpstreamRequest } from "../wire.ts";
import { malformed } from "./errors.ts";
import { newPostRequest } from "../post_request.ts";
import { isRefused } from "../../prompt/field_table.ts";
import { EMBEDDINGS } from "./fields.ts";
import { brokenRule, missing, unsupported, wrongType } from "../../prompt/refusals.ts";
import { countOrZero, fractionProblem } from "../token_counts.ts";
import { runSettings } from "./options.ts";

/** Advice where a client library requests base64, as some do by default. */
const BASE64_REMEDY = "Send 'encoding_format: \"float\"', or use a provider of type compat that " +
  "declares capabilities.embeddings_base64.";

/**
 * Returns an embeddings request for the local runtime. Input must be a string or a list of strings;
 * a Refusal names the field that cannot be translated. Input that is too long is an error and never
 * truncated.
 */
export function encodeEmbeddings(
  document: JsonDocument,
  target: Target,
): Result<UpstreamRequest> {
  for (const key of Object.keys(document.value)) {
    const value = document.value[key] ?? null;
    const treatment = EMBEDDINGS.topLevel.get(key);
    if (treatment !== undefined && (value === null || !isRefused(treatment, value))) continue;
    return unsupported(key, key === "encoding_format" ? BASE64_REMEDY : null);
  }
  const input = parseInput(document.value.input ?? null);
  if (!input.ok) return input;
  const { topLevel, options } = runSettings(target.provider.settings);
  const request = {
    model: target.model,
    input: input.value,
    options: Object.keys(options).length === 0 ? undefined : options,
    ...topLevel,
    truncate: false,
  };
  return success(newPostRequest("/api/embed", request));
}

function parseInput(input: JsonValue): Result<JsonValue> {
  if (input === null) return missing("input");
  const texts = Array.isArray(input) ? input : [input];
  if (
    Array.isArray(input) && texts.some((item) => numberOf(item) !== null || Array.isArray(item))
  ) {
    return unsupported("input", "Send text instead of tokens.");
  }
  if (!texts.every((item) => typeof item === "string")) {
    return wrongType("input", "a string or an array of strings");
  }
  // The runtime returns no vector for an empty text.
  if (texts.length === 0 || texts.includes("")) {
    return brokenRule("input", "must not be empty or hold empty text");
  }
  return success(input);
}

/**
 * Returns the runtime's response as an embeddings list, with vectors as exact text. Fails unless
 * there is one vector for each input and each is a non-empty list of finite numbers. Without
 * `usage` if the runtime's count is invalid.
 */
export function decodeEmbeddings(
  text: string,
  model: string,
  inputCount: number,
): Result<string> {
  const body = parseJson(text);
  if (!isObject(body) || !Array.isArray(body.embeddings)) return unusable();
  const { embeddings } = body;
  if (embeddings.length !== inputCount || !embeddings.every(isVector)) return unusable();
  const found = findValue(text, ["embeddings"]);
  const vectors = found === null ? [] : parseElements(text, found.start);
  const data = vectors.map(({ start, end }, index) =>
    `{"object":"embedding","index":${index},"embedding":${text.slice(start, end)}}`
  );
  const fraction = fractionProblem(body, ["prompt_eval_count"]);
  if (fraction !== null) return fraction;
  const tokens = countOrZero(body.prompt_eval_count);
  const named = JSON.stringify(model);
  const list = `"object":"list","model":${named},"data":[${data.join(",")}]`;
  if (tokens === null) return success(`{${list}}`);
  const usage = JSON.stringify({ prompt_tokens: tokens, total_tokens: tokens });
  return success(`{${list},"usage":${usage}}`);
}

function unusable(): Failed<Fault> {
  return malformed("embeddings that do not fit the input");
}

function isVector(value: JsonValue): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isFinite);
}
