import { isObject, type JsonObject, type JsonValue } from "../core/json.ts";
import { bodyOf, perform, refusal, type Scene, whole } from "./chat.ts";
import { invalid } from "./checks.ts";
import { bareName } from "./local_request.ts";
import { complain } from "./voice.ts";
import { hashOf, wordsOf } from "./words.ts";

const DIMENSIONS = 8;
const COMPAT_FIELDS: readonly string[] = [
  "model",
  "input",
  "encoding_format",
  "dimensions",
  "user",
];

/** Answers an embeddings call of the compat protocol, as numbers or as base64. */
export async function embedCompat(scene: Scene): Promise<Response> {
  const body = await bodyOf(scene.request);
  if (body === null) return refusal(complain("The body is no JSON object."), scene);
  const { model, encoding_format: encoding = "float", dimensions = DIMENSIONS } = body;
  if (typeof model !== "string") return refusal(invalid("model", "model must be text."), scene);
  const unknown = Object.keys(body).find((key) => !COMPAT_FIELDS.includes(key));
  if (unknown !== undefined) return refusal(invalid(unknown, "Unknown parameter."), scene);
  const texts = compatTexts(body.input);
  if (texts === null) return refusal(invalid("input", "input must be text or tokens."), scene);
  if (encoding !== "float" && encoding !== "base64") {
    return refusal(invalid("encoding_format", "encoding_format is unknown."), scene);
  }
  if (!isSize(dimensions)) {
    return refusal(invalid("dimensions", "dimensions must be a positive integer."), scene);
  }
  return await perform(model, scene, (manner) => {
    const data = texts.map((text, index) => {
      const vector = vectorOf(text, dimensions);
      const embedding = encoding === "base64" ? base64Of(vector) : [...vector];
      return { object: "embedding", index, embedding };
    });
    const usage = { prompt_tokens: tokensOf(texts), total_tokens: tokensOf(texts) };
    const defect = manner.kind === "broken" ? manner.defect : null;
    return whole({ object: "list", data, model, usage }, defect, scene);
  });
}

/** Answers an embeddings call of the local protocol. */
export async function embedLocal(scene: Scene): Promise<Response> {
  const body = await bodyOf(scene.request);
  if (body === null) return refusal(complain("invalid JSON body"), scene);
  const { input, dimensions = DIMENSIONS } = body;
  const model = bareName(body.model);
  if (model === "") return refusal(complain("model is required"), scene);
  const texts = localTexts(input);
  if (texts === null) return refusal(complain("invalid input type"), scene);
  if (!isSize(dimensions)) return refusal(complain("invalid dimensions"), scene);
  if (body.options !== undefined && !isObject(body.options)) {
    return refusal(complain("json: cannot unmarshal options"), scene);
  }
  return await perform(model, scene, (manner) => {
    const answer: JsonObject = {
      model,
      embeddings: texts.map((text) => [...vectorOf(text, dimensions)]),
      total_duration: 2000,
      load_duration: 1000,
    };
    // A count of zero is left out (local API, embed).
    if (tokensOf(texts) > 0) answer.prompt_eval_count = tokensOf(texts);
    return whole(answer, manner.kind === "broken" ? manner.defect : null, scene);
  });
}

function isSize(value: JsonValue): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 4096;
}

function compatTexts(input: JsonValue | undefined): readonly string[] | null {
  if (typeof input === "string") return input === "" ? null : [input];
  if (!Array.isArray(input) || input.length < 1 || input.length > 2048) return null;
  if (input.every(Number.isInteger)) return [input.join(" ")];
  if (input.every((item) => typeof item === "string" && item !== "")) return input.map(String);
  const isTokens = (item: JsonValue) => Array.isArray(item) && item.every(Number.isInteger);
  return input.every(isTokens) ? input.map((item) => String(item).replaceAll(",", " ")) : null;
}

function localTexts(input: JsonValue | undefined): readonly string[] | null {
  if (typeof input === "string") return input === "" ? [] : [input];
  if (!Array.isArray(input)) return null;
  return input.every((item) => typeof item === "string") ? input.map(String) : null;
}

function tokensOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + wordsOf(text).length, 0);
}

/** A vector of length one, the same for the same text. */
function vectorOf(text: string, dimensions: number): Float32Array<ArrayBuffer> {
  const values = Array.from(
    { length: dimensions },
    (_, at) => hashOf(`${at}:${text}`) / 2 ** 31 - 1,
  );
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}

// Embeddings, base64: float32, the low byte first.
function base64Of(vector: Float32Array): string {
  const bytes = new DataView(new ArrayBuffer(vector.length * 4));
  vector.forEach((value, at) => bytes.setFloat32(at * 4, value, true));
  return btoa(String.fromCharCode(...new Uint8Array(bytes.buffer)));
}
