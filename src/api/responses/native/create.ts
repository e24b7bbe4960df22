import { newId } from "../../../core/ids.ts";
import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { type Failed, refuse, success } from "../../../core/failure/result.ts";
import type { Candidate, ResponseHandler } from "../../../call/inference.ts";
import type { Carrier } from "../../../prompt/carry.ts";
import { newPayload } from "../../../wires/payload.ts";
import { newTargetCarrier } from "../../../wires/prompt_encoder.ts";
import { shownAs } from "../../../routing/ownership.ts";
import { shownModel, systemTexts, type Target } from "../../../wires/wire.ts";
import { localConversation } from "../state/continuation.ts";
import type { CandidateFactory, Creation } from "../creation.ts";
import { MAX_RESOURCE_BYTES } from "../../stored/native_call.ts";
import { CLIENT_RUN } from "./fields.ts";
import { newNativeRelay } from "./relay.ts";
import { parseNativeResponse } from "./whole_response.ts";
import {
  omittedChoiceProblem,
  type OmittedTools,
  omittedTools,
  toolLists,
} from "./omitted_tools.ts";
import { nativePreset } from "./preset.ts";
import { nativeBody } from "./request.ts";
import { withoutSealed } from "./sealed_reasoning.ts";
import { withTakenTools } from "./stored_tools.ts";
import { bindResponse } from "../state/store_response.ts";
import { dropStore } from "../state/without_store.ts";

/** Creates the candidates for targets with the Responses API: the client's own document is sent. */
export function nativeCandidates(creation: Creation): CandidateFactory {
  const { call, request, context, storeOutcome } = creation;
  const own = withoutSealed(context);
  const isBackground = request.document.value.background === true;
  return (target) => {
    const carrier = newTargetCarrier(target);
    const omitted = omittedTools(request.document.value, target);
    const taken = withTakenTools(own.context, target);
    const problem = undeclaredProblem(request.document.value, target, omitted, carrier) ??
      omittedChoiceProblem(request.document.value, omitted, taken.tools, carrier) ??
      unreceivedOutputProblem(creation);
    if (problem !== null) return problem;
    const preset = nativePreset(request.document, target, carrier);
    if (!preset.ok) return preset;
    dropStore(request, carrier);
    const lost = [...own.lossy, ...taken.lossy, ...omitted.keys(), ...preset.value.lossy];
    lost.forEach(carrier.drop);
    return success<Candidate>({
      target,
      request: {
        method: "POST",
        path: "/responses",
        payload: newPayload(() =>
          nativeBody(request, taken.context, target, omitted, preset.value)
        ),
        ...carrier.done(),
      },
      // A provider adds the new items and the output to its conversation even with `store: false`.
      hasSideEffects: request.store || isBackground ||
        context.continuation.kind === "upstream_conversation",
      ...request.store && { storage: "optional" },
      responseHandler: () => newResponseHandler(creation, target),
      onComplete: (outcome) => storeOutcome(target, outcome),
      ...(isBackground && request.stream && request.store && {
        // The client may disconnect and retrieve or cancel the response while it still runs.
        identify: (id: string) => bindResponse(call, { context, target }, id),
      }),
    });
  };
}

/**
 * Returns the refusal of an unstreamed background request in a local conversation. The gateway does
 * not receive the output of such a response, and could not store it.
 */
function unreceivedOutputProblem({ request, context }: Creation): Failed | null {
  const isUnheard = request.document.value.background === true && !request.stream;
  if (!isUnheard || localConversation(context.continuation) === null) return null;
  return refuse(
    "unsupported_feature",
    "The gateway stores this conversation and would miss the output; set 'stream' or omit 'background'.",
    "background",
  );
}

function newResponseHandler(creation: Creation, target: Target): ResponseHandler {
  const { call, request, context } = creation;
  const { world } = call;
  const own = {
    conversation: localConversation(context.continuation),
    storesNothing: call.state.objects.storesNothing === true,
    ...shownAs(target),
    hidden: target.named === undefined ? [] : systemTexts(target.named.preset),
  };
  if (!request.stream) {
    return {
      kind: "whole",
      limit: MAX_RESOURCE_BYTES,
      read: (answer) => parseNativeResponse(answer, { ...own, expected: null }),
    };
  }
  const translation = newNativeRelay({
    ...own,
    expected: null,
    newId: () => newId("resp_", world),
    unix: () => world.unix(),
    model: shownModel(target),
    // An error event may quote what is hidden; the terminal says the same.
    hidesErrors: creation.hidesErrors || own.hidden.length > 0,
  });
  return { kind: "stream", translation, copiesHeaders: true };
}

/** Returns the refusal of a field that the target's declared capabilities exclude; null if none. */
function undeclaredProblem(
  request: JsonObject,
  target: Target,
  omitted: OmittedTools,
  carrier: Carrier,
): Failed | null {
  const { background_responses, hosted_tools } = target.provider.settings.capabilities;
  if (request.background === true && !background_responses) {
    return carrier.refuseUndeclared({ path: "background" }, "background_responses");
  }
  const path = unlistedTool(request, hosted_tools, omitted);
  return path === null ? null : carrier.refuseUndeclared({ path: `${path}.type` }, "hosted_tools");
}

/**
 * Returns the path of the first upstream tool whose type is not in `listed` and that is sent; null
 * if none.
 */
function unlistedTool(
  request: JsonObject,
  listed: readonly string[],
  omitted: OmittedTools,
): string | null {
  // A queue instead of recursion: nested namespaces may exceed the depth of the call stack.
  const waiting = toolLists(request).map((list) => ({ ...list, level: 0 }));
  for (const { tools, path, level } of waiting) {
    for (const [index, tool] of (Array.isArray(tools) ? tools : []).entries()) {
      const at = `${path}[${index}]`;
      // No deeper tool is left out, and to look up the path of each costs the square of the depth.
      if (level < 2 && omitted.has(at)) continue;
      if (!isObject(tool) || typeof tool.type !== "string") continue;
      if (!CLIENT_RUN.includes(tool.type) && !listed.includes(tool.type)) return at;
      if (tool.type === "namespace") {
        waiting.push({ tools: tool.tools, path: `${at}.tools`, level: level + 1 });
      }
    }
  }
  return null;
}
