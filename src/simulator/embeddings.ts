import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { defectOf, runModel, type SimCall, wholeResponse, withJson } from "./sim_call.ts";
import { invalidValue, words } from "./field_checks.ts";
import { withoutLatestTag } from "./local_request.ts";
import { newApiError } from "./protocol.ts";
import { hashText } from "./hash.ts";
import { countWords } from "./tokens.ts";

const DEFAULT_DIMENSIONS = 8;
const COMPAT_FIELDS = words("model input encoding_format dimensions user");

/** Responds to an embeddings call of the compat protocol, as numbers or as base64. */
export const embedCompat = withJson((call: SimCall, body) => {
  const { model, encoding_format: encoding = "float", dimensions = DEFAULT_DIMENSIONS } = body;
  if (typeof model !== "string") return invalidValue("model", "model must be text.");
  const unknown = Object.keys(body).find((key) => !COMPAT_FIELDS.includes(key));
  if (unknown !== undefined) return invalidValue(unknown, "Unknown parameter.");
  const texts = parseCompatInput(body.input);
  if (texts === null) return invalidValue("input", "input must be text or tokens.");
  if (encoding !== "float" && encoding !== "base64") {
    return invalidValue("encoding_format", "encoding_format is unknown.");
  }
  if (!isDimensionCount(dimensions)) {
    return invalidValue("dimensions", "dimensions must be a positive integer.");
  }
  return runModel(model, call, (style) => {
    const data = texts.map((text, index) => {
      const vector = embedText(text, dimensions);
      const embedding = encoding === "base64" ? encodeBase64(vector) : [...vector];
      return { object: "embedding", index, embedding };
    });
    const usage = { prompt_tokens: countWords(texts), total_tokens: countWords(texts) };
    const defect = defectOf(style);
    return wholeResponse({ object: "list", data, model, usage }, defect, call);
  });
});

/** Responds to an embeddings call of the local protocol. */
export const embedLocal = withJson((call: SimCall, body) => {
  const { input, dimensions = DEFAULT_DIMENSIONS } = body;
  const model = withoutLatestTag(body.model);
  if (model === "") return newApiError("model is required");
  const texts = parseLocalInput(input);
  if (texts === null) return newApiError("invalid input type");
  if (!isDimensionCount(dimensions)) return newApiError("invalid dimensions");
  if (body.options !== undefined && !isObject(body.options)) {
    return newApiError("json: cannot unmarshal options");
  }
  return runModel(model, call, (style) => {
    const answer: JsonObject = {
      model,
      embeddings: texts.map((text) => [...embedText(text, dimensions)]),
      total_duration: 2000,
      load_duration: 1000,
    };
    // The runtime omits a count of zero (local API, embed).
    if (countWords(texts) > 0) answer.prompt_eval_count = countWords(texts);
    return wholeResponse(answer, defectOf(style), call);
  });
}, newApiError("invalid JSON body"));

function isDimensionCount(value: JsonValue): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 4096;
}

function parseCompatInput(input: JsonValue | undefined): readonly string[] | null {
  if (typeof input === "string") return input === "" ? null : [input];
  if (!Array.isArray(input) || input.length < 1 || input.length > 2048) return null;
  if (input.every(Number.isInteger)) return [input.join(" ")];
  if (input.every((item) => typeof item === "string" && item !== "")) return input.map(String);
  const isTokens = (item: JsonValue) => Array.isArray(item) && item.every(Number.isInteger);
  return input.every(isTokens) ? input.map((item) => String(item).replaceAll(",", " ")) : null;
}

function parseLocalInput(input: JsonValue | undefined): readonly string[] | null {
  if (typeof input === "string") return input === "" ? [] : [input];
  if (!Array.isArray(input)) return null;
  return input.every((item) => typeof item === "string") ? input.map(String) : null;
}

/** Returns a vector of length one that depends only on the text and the number of dimensions. */
function embedText(text: string, dimensions: number): Float32Array<ArrayBuffer> {
  const values = Array.from(
    { length: dimensions },
    (_, at) => hashText(`${at}:${text}`) / 2 ** 31 - 1,
  );
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}

// The API encodes embeddings as little-endian float32 (Embeddings, base64).
function encodeBase64(vector: Float32Array): string {
  const bytes = new DataView(new ArrayBuffer(vector.length * 4));
  vector.forEach((value, at) => bytes.setFloat32(at * 4, value, true));
  return btoa(String.fromCharCode(...new Uint8Array(bytes.buffer)));
}
