import { type Result, success } from "../../../core/failure/result.ts";
import type { Call } from "../../../call/call.ts";
import type { Candidate, ResponseHandler } from "../../../call/inference.ts";
import { lostFields } from "../../../wires/prompt_encoder.ts";
import { providerVersion } from "../../../wires/messages/version.ts";
import { secretsOf, type Target } from "../../../wires/wire.ts";
import type { MessagesRequest } from "../request.ts";
import { relayedBody, relayedDefaults, takesSampling } from "./body.ts";
import { relayedPreset } from "./preset.ts";
import { clientVersion, relayedHeaders } from "./headers.ts";
import { relayWhole } from "./relay_whole.ts";
import { newMessageRelay } from "./relay_stream.ts";
import {
  mayLackThinking,
  type SealedBlocks,
  sealedBlocks,
  sealedPaths,
  thinkingOff,
} from "./sealed_blocks.ts";

/**
 * Returns a function that prepares a request for targets with the same API. The client's own
 * document is sent: nothing in it is checked, so that fields which the gateway does not know reach
 * the upstream.
 */
export function newRelayedCandidates(
  { headers, id }: Call,
  request: MessagesRequest,
): (target: Target) => Result<Candidate> {
  const { document, stream, isBeta } = request;
  let found: readonly SealedBlocks[] | null = null;
  let lost: readonly string[] | null = null;

  return (target) => {
    const { provider, model } = target;
    const sealed = found ??= sealedBlocks(document.value.messages);
    const version = clientVersion(headers) ?? providerVersion(provider.settings);
    const isOff = target.isThinkingOff === true;
    const preset = relayedPreset(
      document,
      target,
      takesSampling(document.value, version),
      () => thinkingOff(document.value, sealed, isOff).length > 0,
    );
    if (!preset.ok) return preset;
    const lossy = isOff
      ? sealedPaths(document.value, sealed, isOff)
      : lost ??= sealedPaths(document.value, sealed);
    const { entries, values } = preset.value;
    const filled = { ...document.value, ...values };
    const added = [...entries, ...relayedDefaults(filled, version, provider)];
    return success<Candidate>({
      target,
      request: {
        method: "POST",
        path: `/v1/messages${isBeta ? "?beta=true" : ""}`,
        payload: relayedBody(document, model, added, sealed, isOff),
        ...relayedHeaders(headers, stream),
        ...mayLackThinking(document.value, sealed) && { mayLackThinking: true },
        ...lostFields(lossy, target),
      },
      // The API stores nothing that the answer to a repeated request could contradict.
      hasSideEffects: false,
      responseHandler: () => newResponseHandler(stream, id, target),
      onComplete: () => null,
    });
  };
}

function newResponseHandler(
  isStream: boolean,
  requestId: string,
  target: Target,
): ResponseHandler {
  const { named } = target;
  const shown = named?.preset.showsName === true ? named.name : null;
  return isStream
    ? {
      kind: "stream",
      translation: newMessageRelay(requestId, secretsOf(target), shown),
      copiesHeaders: true,
    }
    : { kind: "whole", read: (answer) => relayWhole(answer, shown) };
}
