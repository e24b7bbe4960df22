import {
  isObject,
  type JsonDocument,
  type JsonValue,
  numberOf,
  parseJson,
} from "../../core/json/json.ts";
import type { Fault } from "../../core/failure.ts";
import { type Failed, refuse, type Result, success } from "../../core/result.ts";
import { findValue, parseElements } from "../../formats/edit.ts";
import type { Target, UpstreamRequest } from "../wire.ts";
import { malformed } from "./errors.ts";
import { posted } from "../chat_request/encoding.ts";
import { missing, unsupported, wrongType } from "../chat_request/refusals.ts";
import { fractionProblem, tokenCount } from "../token_counts.ts";
import { runSettings } from "./options.ts";

/** Fields of an embeddings request that ask for nothing when they are null; all others are unknown. */
const HARMLESS: ReadonlySet<string> = new Set(["encoding_format", "dimensions", "user"]);

/**
 * An embeddings request as a call of the local runtime. Input must be one text or a list of texts;
 * a Refusal names the field that cannot be kept. Long input is an error, never cut in silence.
 */
export function encodeEmbeddings(
  document: JsonDocument,
  target: Target,
): Result<UpstreamRequest> {
  for (const key of Object.keys(document.value)) {
    const value = document.value[key] ?? null;
    const isKept = key === "model" || key === "input";
    const isHarmless = (HARMLESS.has(key) && value === null) ||
      (key === "encoding_format" && value === "float");
    if (isKept || isHarmless) continue;
    // Some client libraries ask for base64 unless they are told otherwise.
    return unsupported(key, key === "encoding_format" ? "Send 'encoding_format: \"float\"'." : "");
  }
  const input = inputOf(document.value.input ?? null);
  if (!input.ok) return input;
  const { topLevel, options } = runSettings(target.provider.settings);
  const request = {
    model: target.model,
    input: input.value,
    options: Object.keys(options).length === 0 ? undefined : options,
    ...topLevel,
    truncate: false,
  };
  return success(posted("/api/embed", request));
}

function inputOf(input: JsonValue): Result<JsonValue> {
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
  // The runtime answers an empty text with no vector at all.
  if (texts.length === 0 || texts.includes("")) {
    return refuse("invalid_value", "'input' must not be empty or hold empty text.", "input");
  }
  return success(input);
}

/**
 * The runtime's answer as an embeddings list in the client's JSON; vectors keep their text. A
 * failure when there are not exactly as many vectors as inputs, or one is empty or holds anything
 * but finite numbers.
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
  const list = findValue(text, ["embeddings"]);
  const vectors = list === null ? [] : parseElements(text, list.start);
  const data = vectors.map(({ start, end }, index) =>
    `{"object":"embedding","index":${index},"embedding":${text.slice(start, end)}}`
  );
  const fraction = fractionProblem([body.prompt_eval_count]);
  if (fraction !== null) return fraction;
  const tokens = tokenCount(body.prompt_eval_count) ?? 0;
  const usage = JSON.stringify({ prompt_tokens: tokens, total_tokens: tokens });
  const named = JSON.stringify(model);
  return success(`{"object":"list","model":${named},"data":[${data.join(",")}],"usage":${usage}}`);
}

function unusable(): Failed<Fault> {
  return malformed("embeddings that do not fit the input");
}

function isVector(value: JsonValue): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isFinite);
}
