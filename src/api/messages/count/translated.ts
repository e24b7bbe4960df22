import { invalidResponse, type Result, success } from "../../../core/failure/result.ts";
import { parseMembers } from "../../../formats/edit.ts";
import { utf8Bytes } from "../../../formats/utf8.ts";
import type { Candidate, ResponseHandler } from "../../../call/inference.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import { newPayload } from "../../../wires/payload.ts";
import { encodePromptFor, newTargetCarrier } from "../../../wires/prompt_encoder.ts";
import { newStrictSchemas } from "../../../wires/verified/strict_schemas.ts";
import type { Target } from "../../../wires/wire.ts";
import { parseResponseDocument } from "../../stored/response_document.ts";
import type { MessagesRequest } from "../request.ts";
import { parsePrompt } from "../parse/parse_prompt.ts";

/**
 * Fields of a message request that a request to count does not have (Messages API, token counting).
 */
const NOT_COUNTED = ["max_tokens", "stream"];

/** Fields that the upstream counts (OpenAI API, Responses, input tokens). */
const COUNTED: readonly string[] = [
  "model",
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning",
  "text",
];

/**
 * Returns a function that prepares the count of a request by a provider with the Responses API: it
 * counts the request into which a message request is translated.
 */
export function newTranslatedCounts(
  request: MessagesRequest,
): (target: Target) => Result<Candidate> {
  const extra = NOT_COUNTED.find((name) => (request.document.value[name] ?? null) !== null);
  if (extra !== undefined) return () => unsupported(extra);
  const schemas = newStrictSchemas();
  return (target) => {
    const carrier = newTargetCarrier(target);
    const parsed = parsePrompt(request, { target, carrier, isCount: true });
    if (!parsed.ok) return parsed;
    const encoded = encodePromptFor(parsed.value.prompt, { target, carrier, schemas });
    if (!encoded.ok) return encoded;
    // Nothing is generated that could be checked.
    const { payload, promises: _, ...sent } = encoded.value;
    return success<Candidate>({
      target,
      request: {
        ...sent,
        path: "/responses/input_tokens",
        payload: newPayload(() => countedPart(payload?.text() ?? "")),
      },
      hasSideEffects: false,
      billing: "tokens",
      responseHandler: () => COUNT_HANDLER,
      onComplete: () => null,
    });
  };
}

/** Returns a request with the fields that the upstream counts, each with its own text. */
function countedPart(text: string): string {
  const kept = parseMembers(text).filter(({ key }) => COUNTED.includes(key));
  return `{${kept.map(({ keyStart, end }) => text.slice(keyStart, end)).join(",")}}`;
}

const COUNT_HANDLER: ResponseHandler = {
  kind: "whole",
  read(answer) {
    const document = parseResponseDocument(answer);
    if (!document.ok) return document;
    const { object, input_tokens } = document.value.value;
    if (object !== "response.input_tokens" || !Number.isSafeInteger(input_tokens)) {
      return invalidResponse("The provider's response holds no token count.");
    }
    const headers = { "content-type": "application/json" };
    const body = utf8Bytes(JSON.stringify({ input_tokens }));
    return success({
      response: { status: 200, headers, body },
      outcome: { resource: null, usage: null },
    });
  },
};
