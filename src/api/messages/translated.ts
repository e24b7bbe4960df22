import { newId } from "../../core/ids.ts";
import { isObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Call } from "../../call/call.ts";
import type { Candidate, Inference, ResponseHandler } from "../../call/inference.ts";
import type { Optional } from "../../prompt/refusals.ts";
import { encodePromptFor, newTargetCarrier } from "../../wires/prompt_encoder.ts";
import { newStrictSchemas } from "../../wires/verified/strict_schemas.ts";
import { shownModel, type Target } from "../../wires/wire.ts";
import {
  findForTargets,
  findTargets,
  reasoningAccount,
  type ReasoningByWire,
  storeReasoning,
} from "../reasoning/reasoning_memory.ts";
import { signerOf } from "../reasoning/host_seals.ts";
import { newTranslatedHandler, type ResponseChanges } from "../generate/translated_handler.ts";
import { CALL_ID_PREFIX } from "./generate/call_id.ts";
import { encodeMessage, type MessageLabels, newMessageEncoder } from "./generate/encoder.ts";
import { type MessagesPrompt, parsePrompt, promptMessages } from "./parse/parse_prompt.ts";
import type { MessagesRequest } from "./request.ts";

/**
 * Returns the preparation of a request for targets with another protocol. Targets with the
 * Responses API get the stored encrypted reasoning of earlier tool calls, which no block of a
 * client can hold; a pool of keys uses the account of that reasoning first.
 */
export async function translatedCandidates(
  call: Call,
  request: MessagesRequest,
): Promise<Pick<Inference, "prepare" | "reasoningAccount">> {
  const schemas = newStrictSchemas();
  const stored = await storedReasoning(call, request);

  function prepare(target: Target): Result<Candidate> {
    const carrier = newTargetCarrier(target);
    const parsed = parsePrompt(request, { target, carrier, ...stored.get(target.wire.name) });
    if (!parsed.ok) return parsed;
    const encoded = encodePromptFor(parsed.value.prompt, { target, carrier, schemas });
    if (!encoded.ok) return encoded;
    const { promises, numbered } = encoded.value;
    return success<Candidate>({
      target,
      request: encoded.value,
      hasSideEffects: false,
      responseHandler: () => newResponseHandler(call, parsed.value, target, { promises, numbered }),
      onComplete: ({ reasoning }) =>
        reasoning === undefined ? null : storeReasoning(call, target, reasoning),
    });
  }

  return { prepare, ...reasoningAccount(stored.values()) };
}

/** Returns the stored reasoning of past calls, for targets that need it back. */
async function storedReasoning(
  call: Call,
  { document }: MessagesRequest,
): Promise<ReasoningByWire> {
  if (!hasPastCalls(document.value.messages)) return new Map();
  return await findForTargets(
    call,
    findTargets(call, ["responses"]),
    (target) => promptMessages(document, target.wire, newTargetCarrier(target)),
  );
}

/** True if an assistant message has a tool call. */
function hasPastCalls(messages: Optional): boolean {
  return Array.isArray(messages) &&
    messages.some((message) =>
      isObject(message) && Array.isArray(message.content) &&
      message.content.some((block) => isObject(block) && block.type === "tool_use")
    );
}

function newResponseHandler(
  call: Call,
  { prompt: { stream }, thinking, asksForThinking, toolName }: MessagesPrompt,
  target: Target,
  changes: ResponseChanges,
): ResponseHandler {
  const { id, world } = call;
  const signer = signerOf(target);
  const labels: MessageLabels = {
    // Clients take two responses with the same ID for one message.
    id: newId("msg_", world),
    requestId: id,
    model: shownModel(target),
    thinking,
    storesReasoning: target.wire.name === "responses" || signer !== null,
    signer,
    addsThinking: asksForThinking,
    toolName,
  };
  return newTranslatedHandler({ call, target, isStream: stream, ...changes }, {
    callIdPrefix: CALL_ID_PREFIX,
    newEncoder: () => newMessageEncoder(labels),
    encodeWhole: (events) => encodeMessage(events, labels),
  });
}
