import type { JsonDocument } from "../../../core/json/json.ts";
import { fault, type Result, success } from "../../../core/result.ts";
import { insertMembers, parseMembers, splice } from "../../../formats/edit.ts";
import { utf8Bytes } from "../../../formats/utf8.ts";
import type { Candidate, ResponseHandler } from "../../../call/inference.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import { encodeChatRequest } from "../../../wires/encode_chat_request.ts";
import { newPayload } from "../../../wires/payload.ts";
import type { Target } from "../../../wires/wire.ts";
import { parseResponseDocument } from "../../response_document.ts";
import type { MessagesRequest } from "../request.ts";
import { newChatTranslation } from "../translate/to_chat.ts";

/**
 * Fields of a message request that a request to count does not have (Messages API, token counting).
 */
const NOT_COUNTED = ["max_tokens", "stream"];

/**
 * Every message request has a limit. The lowest one that all targets take, because it is not sent.
 */
const ANY_LIMIT = "16";

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
  const { translate } = newChatTranslation({
    ...request,
    document: withLimit(request.document),
    stream: false,
  });
  return (target) => {
    const translated = translate(target);
    if (!translated.ok) return translated;
    const { chat, lossy, toClientPaths, lossyPaths } = translated.value;
    const encoded = encodeChatRequest(chat, target);
    if (!encoded.ok) return toClientPaths(encoded);
    const { payload } = encoded.value;
    return success<Candidate>({
      target,
      request: {
        ...encoded.value,
        path: "/responses/input_tokens",
        payload: newPayload(() => countedPart(payload?.text() ?? "")),
      },
      hasSideEffects: false,
      billing: "tokens",
      lossy: [...lossy, ...lossyPaths(encoded.value.lossy ?? [])],
      responseHandler: () => COUNT_HANDLER,
      onComplete: () => null,
    });
  };
}

function withLimit({ text, value }: JsonDocument): JsonDocument {
  const edit = insertMembers(text, text.indexOf("{"), [["max_tokens", ANY_LIMIT]]);
  const limited = splice(text, [edit]);
  return {
    text: limited,
    value: { ...value, max_tokens: Number(ANY_LIMIT) },
    members: parseMembers(limited),
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
      return fault("invalid_upstream_response", "The provider's response holds no token count.");
    }
    const headers = { "content-type": "application/json" };
    const body = utf8Bytes(JSON.stringify({ input_tokens }));
    return success({
      response: { status: 200, headers, body },
      outcome: { resource: null, usage: null },
    });
  },
};
