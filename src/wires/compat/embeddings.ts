import { isObject, type JsonDocument, parseJson } from "../../core/json/json.ts";
import {
  type Failed,
  invalidResponse,
  refuse,
  type Result,
  success,
} from "../../core/failure/result.ts";
import { insertMembers, replaceValue, splice } from "../../formats/edit.ts";
import { wrongValue } from "../../prompt/refusals.ts";
import { newPayload } from "../payload.ts";
import { EMBEDDINGS } from "./fields.ts";
import type { Target, UpstreamRequest } from "../wire.ts";

/**
 * Returns an embeddings request for a compat provider: the client's text with `model` replaced. A
 * Refusal names an unknown field, or an encoding that the provider does not declare.
 */
export function encodeEmbeddings(
  document: JsonDocument,
  target: Target,
): Result<UpstreamRequest> {
  const { text, value, members } = document;
  const unknown = members.find(({ key }) => !EMBEDDINGS.topLevel.has(key));
  if (unknown !== undefined) {
    return unsupportedValue("is not a field of an embeddings request; leave it out", unknown.key);
  }
  const format = value.encoding_format ?? "float";
  if (format !== "float" && format !== "base64") {
    return wrongValue("encoding_format", "float or base64");
  }
  const { provider } = target;
  if (format === "base64" && !provider.settings.capabilities.embeddings_base64) {
    return unsupportedValue(
      "base64, the default of the OpenAI SDKs, is not declared: send float, or set " +
        `providers.${provider.id}.capabilities.embeddings_base64 if the upstream can`,
      "encoding_format",
    );
  }
  const name = JSON.stringify(target.model);
  const member = members.find((candidate) => candidate.key === "model");
  const edit = member === undefined
    ? insertMembers(text, text.indexOf("{"), [["model", name]])
    : replaceValue(member, name);
  return success({
    method: "POST",
    path: "/embeddings",
    payload: newPayload(() => splice(text, [edit])),
  });
}

function unsupportedValue(rule: string, path: string): Failed {
  return refuse("unsupported_feature", { kind: "rule", rule }, path);
}

/** Returns the response as received. Fails unless `data` has one element for each input. */
export function decodeEmbeddings(text: string, _model: string, inputs: number): Result<string> {
  const body = parseJson(text);
  const fits = checkVectors(
    isObject(body) && Array.isArray(body.data) ? body.data.length : -1,
    inputs,
  );
  return fits.ok ? success(text) : fits;
}

/** Fails unless a response has one vector for each input. */
export function checkVectors(vectors: number, inputs: number): Result<void> {
  return vectors === inputs
    ? success(undefined)
    : invalidResponse("The provider's response is no list of embeddings that fits the input.");
}
