import { newId } from "../../../core/ids.ts";
import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { type Failed, refuse, success } from "../../../core/result.ts";
import type { Candidate, ResponseHandler } from "../../../call/inference.ts";
import { undeclared } from "../../../wires/chat_request/refusals.ts";
import { newPayload } from "../../../wires/payload.ts";
import type { Target } from "../../../wires/wire.ts";
import { localConversation } from "../state/continuation.ts";
import type { Attempts, Creation } from "../creation.ts";
import { MAX_RESOURCE_BYTES } from "../../native_call.ts";
import { nativeAnswer, nativeRelay } from "./relay.ts";
import { nativeBody } from "./request.ts";
import { bindResponse } from "../state/store_response.ts";

/** Attempts at targets that have the Responses API themselves: the client's own document goes up. */
export function nativeAttempts(creation: Creation): Attempts {
  const { call, request, context, settle } = creation;
  const isBackground = request.document.value.background === true;
  return (target) => {
    const problem = undeclaredProblem(request.document.value, target) ?? unheardProblem(creation);
    if (problem !== null) return problem;
    return success<Candidate>({
      target,
      request: {
        method: "POST",
        path: "/responses",
        payload: newPayload(() => nativeBody(request, context, target)),
      },
      // A conversation of the provider gets the new items and the output, stored or not.
      hasSideEffects: request.store || isBackground ||
        context.continuation.kind === "upstream_conversation",
      responseHandler: () => readerOf(creation, target),
      onComplete: (outcome) => settle(target, outcome),
      ...(isBackground && request.stream && request.store && {
        // Its client may leave, and ask for it or cancel it while it is still being made.
        identify: (id: string) => bindResponse(call, context, target, id),
      }),
    });
  };
}

/** The output of a response that only runs on upstream never comes by, so that it cannot be kept. */
function unheardProblem({ request, context }: Creation): Failed | null {
  const isUnheard = request.document.value.background === true && !request.stream;
  if (!isUnheard || localConversation(context.continuation) === null) return null;
  return refuse(
    "unsupported_feature",
    "The gateway keeps this conversation and would miss the output; send 'stream' or no 'background'.",
    "background",
  );
}

function readerOf(creation: Creation, target: Target): ResponseHandler {
  const { call, request, context } = creation;
  const { world } = call;
  const conversation = localConversation(context.continuation);
  if (!request.stream) {
    return {
      kind: "answer",
      limit: MAX_RESOURCE_BYTES,
      read: (answer) => nativeAnswer(answer, { conversation, expected: null }),
    };
  }
  const delivery = nativeRelay({
    conversation,
    expected: null,
    newId: () => newId("resp_", world),
    unix: () => world.unix(),
    model: target.model,
    hidesErrors: creation.hidesErrors,
  });
  return { kind: "stream", delivery, copiesHeaders: true };
}

/** Tools that the client runs itself; every other type runs upstream (OpenAI API, Responses). */
const CLIENT_RUN = ["function", "custom", "namespace", "local_shell", "shell", "apply_patch"];

/** Why a target cannot keep the request, by its declared capabilities; null when it can. */
function undeclaredProblem({ background, tools }: JsonObject, target: Target): Failed | null {
  const { background_responses, hosted_tools } = target.provider.settings.capabilities;
  if (background === true && !background_responses) {
    return undeclared("background", "background_responses");
  }
  const path = unlistedTool(tools, hosted_tools);
  return path === null ? null : undeclared(`${path}.type`, "hosted_tools");
}

/** Where a tool stands that runs upstream and is not listed; null when there is none. */
function unlistedTool(tools: JsonObject[string], listed: readonly string[]): string | null {
  // A list, because namespaces may be nested deeper than calls can be.
  const waiting = [{ tools, path: "tools" }];
  for (const { tools, path } of waiting) {
    for (const [index, tool] of (Array.isArray(tools) ? tools : []).entries()) {
      const at = `${path}[${index}]`;
      if (!isObject(tool) || typeof tool.type !== "string") continue;
      if (!CLIENT_RUN.includes(tool.type) && !listed.includes(tool.type)) return at;
      if (tool.type === "namespace") waiting.push({ tools: tool.tools, path: `${at}.tools` });
    }
  }
  return null;
}
