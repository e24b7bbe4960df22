import { exchange } from "../../exchange.ts";
import { ROUTED_PATHS } from "../../core/endpoint.ts";
import type { Usage } from "../../core/stream/events.ts";
import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
  numberOf,
  parseJson,
} from "../../core/json/json.ts";
import { openaiErrors } from "../../core/failure/openai_error.ts";
import type { JsonOutline, UpstreamResponse } from "../../core/stream/reply.ts";
import { invalidResponse, refuse, type Result, success } from "../../core/failure/result.ts";
import { canonicalJson } from "../../formats/canonical.ts";
import { utf8Bytes, utf8Text } from "../../formats/utf8.ts";
import type { Candidate, Inference, ResponseHandler, WholeHandler } from "../../call/inference.ts";
import { reportedUsage } from "../../wires/reported_usage.ts";
import { fractionProblem, usageFrom } from "../../wires/token_counts.ts";
import { findValue, replaceValue, splice } from "../../formats/edit.ts";
import { type EmbeddingsWire, shownModel, type Target } from "../../wires/wire.ts";
import type { ClientApi } from "../client_api.ts";
import { number, objectOf, text as textField, typeProblem } from "../items/shape.ts";

const body = objectOf({
  model: textField,
  input: { ...textField, array: "any" },
  encoding_format: textField,
  dimensions: number,
  user: textField,
}, "input");

/** Refusal message for a provider whose protocol has no embeddings. */
export const NO_EMBEDDINGS = "The provider has no embeddings; choose another one.";

const MATCHES_AS = ["embeddings"] as const;

/** `POST /v1/embeddings` (OpenAI API, Embeddings). */
export const embeddings: ClientApi = {
  name: "embeddings",
  errors: openaiErrors,
  endpoints: [{
    method: "POST",
    path: ROUTED_PATHS.embeddings,
    about: "Embeddings of texts.",
    body: true,
    matchesAs: MATCHES_AS,
    operation: "embeddings",
    sharesAnswer: true,
    async handle(call, { document }) {
      const problem = typeProblem(body, document.value);
      return problem ?? await exchange(call, newInference(document));
    },
  }],
};

function newInference(document: JsonDocument): Inference {
  const { model } = document.value;
  return {
    matchesAs: MATCHES_AS,
    model: typeof model === "string" ? model : "",
    stream: false,
    owner: null,
    canonical: ({ payload }) => canonicalJson(`[${document.text},${payload?.text()}]`),
    prepare(target) {
      const wire = target.provider.wire.embeddings;
      if (wire === null) {
        return refuse(
          "unsupported_feature",
          NO_EMBEDDINGS,
          "provider",
        );
      }
      const encoded = wire.encode(document, target);
      if (!encoded.ok) return encoded;
      const reader = newResponseHandler(wire, target, document);
      return success<Candidate>({
        target,
        request: encoded.value,
        hasSideEffects: false,
        responseHandler: () => reader,
        onComplete: () => null,
      });
    },
  };
}

function newResponseHandler(
  wire: EmbeddingsWire,
  target: Target,
  document: JsonDocument,
): ResponseHandler {
  const inputs = countInputs(document.value.input ?? null);
  const showsName = target.named?.preset.showsName === true;
  return {
    kind: "whole",
    ...wire.checkVectors !== undefined && !showsName && { needed: ["data", "usage"] },
    read(answer) {
      if (answer.outline !== undefined) return readOutline(wire, answer, answer.outline, inputs);
      const received = utf8Text(answer.body);
      if (received === null) {
        return invalidResponse("The provider's response is not valid UTF-8.");
      }
      const decoded = wire.decode(received, shownModel(target), inputs);
      if (!decoded.ok) return decoded;
      const usage = parseUsage(decoded.value);
      if (!usage.ok) return usage;
      const text = showsName ? withModel(decoded.value, shownModel(target)) : decoded.value;
      return success({
        response: {
          status: 200,
          headers: { ...answer.headers(), "content-type": "application/json" },
          body: text === received ? answer.body : utf8Bytes(text),
        },
        outcome: { resource: null, usage: usage.value },
      });
    },
  };
}

/** Returns a response with this model, if it names one. */
function withModel(text: string, model: string): string {
  const span = findValue(text, ["model"]);
  return span === null ? text : splice(text, [replaceValue(span, JSON.stringify(model))]);
}

/** Returns a large response as it is. */
function readOutline(
  { checkVectors }: EmbeddingsWire,
  { headers, body }: UpstreamResponse,
  { value, lengths }: JsonOutline,
  inputs: number,
): ReturnType<WholeHandler["read"]> {
  const fits = checkVectors?.(lengths.get("data") ?? -1, inputs);
  if (fits?.ok === false) return fits;
  const usage = usageOf(value);
  if (!usage.ok) return usage;
  return success({
    response: { status: 200, headers: { ...headers(), "content-type": "application/json" }, body },
    outcome: { resource: null, usage: usage.value },
  });
}

/** Returns the number of inputs; a list of numbers is one input, in tokens. */
function countInputs(input: JsonValue): number {
  return Array.isArray(input) && numberOf(input[0] ?? null) === null ? input.length : 1;
}

function parseUsage(text: string): Result<Usage | null> {
  const answer = parseJson(text);
  return usageOf(isObject(answer) ? answer : {});
}

function usageOf(answer: JsonObject): Result<Usage | null> {
  const usage = isObject(answer.usage) ? answer.usage : {};
  const problem = fractionProblem(usage, ["prompt_tokens", "total_tokens"]);
  if (problem !== null) return problem;
  const reported = reportedUsage({ usage });
  if (reported === null || reported.unknown === "input") return success(null);
  // All of a total is input.
  const input = Math.max(reported.input, reported.total ?? 0);
  return success(usageFrom({ input, output: 0 }));
}
