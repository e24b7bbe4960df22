import { parseChatRequest } from "../api/chat/request.ts";
import { NO_EMBEDDINGS } from "../api/embeddings/embeddings.ts";
import { COUNT_PATH, refuseUncountable } from "../api/messages/count/endpoint.ts";
import { findApi, findRequestTypes } from "../api/registry.ts";
import { findOwnedFamily, findRouted } from "../api/relay/table.ts";
import { refuseIncapable } from "../routing/capability.ts";
import type { RequestType } from "../core/endpoint.ts";
import { refuse, type Result, success } from "../core/failure/result.ts";
import { newDocument } from "../formats/document.ts";
import type { RequestForms } from "../routing/explain.ts";
import type { Target, UpstreamRequest } from "../wires/wire.ts";

/** Forms of the requests that `explain` and the admin listener explain, by client API. */
export const REQUEST_FORMS: RequestForms = {
  findApi,
  findRequestTypes,
  findOwnedFamily,
  isModelOptional: (type) => findRouted(type)?.model === "optional",
  plainRequest,
};

/**
 * Returns the function that prepares the simplest request of a path, matched as a type, for a
 * target.
 */
function plainRequest(path: string, type: RequestType): (target: Target) => Result<unknown> {
  if (path === COUNT_PATH) {
    return (target) => refuseUncountable(target) ?? preparePlainQuestion(target);
  }
  const relayed = findRouted(type);
  if (relayed === null) {
    return type === "embeddings" ? preparePlainInput : preparePlainQuestion;
  }
  return ({ provider }) => refuseIncapable(provider, relayed.family) ?? success(null);
}

/** Translates the simplest chat request for a target; refused if not even that can be carried. */
function preparePlainQuestion(target: Target): Result<UpstreamRequest> {
  const messages = [{ role: "user", content: "Say hello." }];
  const plain = parseChatRequest(newDocument({ model: target.model, messages }));
  return plain.ok ? target.wire.encode(plain.value, target) : plain;
}

/** Translates the simplest embeddings request for a target. */
function preparePlainInput({ provider, account, model }: Target): Result<UpstreamRequest> {
  const { wire } = provider;
  return wire.embeddings === null
    ? refuse("unsupported_feature", NO_EMBEDDINGS, "provider")
    : wire.embeddings.encode(newDocument({ model, input: "Say hello." }), {
      provider,
      account,
      model,
      wire,
    });
}
