import { newCallVerifier } from "../generate/call_verifier.ts";
import type { ChatRequest } from "../../wires/chat_request.ts";
import { ROUTED_PATHS } from "../../core/endpoint.ts";
import { newId } from "../../core/ids.ts";
import { openaiErrors } from "../../core/failure/openai_error.ts";
import type { Refusal } from "../../core/failure/failure.ts";
import { isObject, isTooDeep, type JsonValue } from "../../core/json/json.ts";
import { type Failed, success } from "../../core/failure/result.ts";
import { canonicalJson } from "../../formats/canonical.ts";
import { exchange } from "../../exchange.ts";
import type { Call } from "../../call/call.ts";
import { hasCapability } from "../../routing/capability.ts";
import type {
  Candidate,
  EarlyStream,
  Inference,
  StreamHandler,
  WholeHandler,
} from "../../call/inference.ts";
import { bindObject, protocolOf, shownAs } from "../../routing/ownership.ts";
import { refuseStored } from "../stored/stored_state.ts";
import type { ResponseProvenance } from "../../store/bindings.ts";
import { parseMessages } from "../../prompt/chat/parse_messages.ts";
import { compat } from "../../wires/compat/compat.ts";
import { isSigningHost } from "../../wires/compat/host_reasoning.ts";
import { newTargetCarrier } from "../../wires/prompt_encoder.ts";
import { shownModel, type Target } from "../../wires/wire.ts";
import type { ClientApi } from "../client_api.ts";
import { commentKeepAlive } from "../generate/keep_alive.ts";
import { failedEnd } from "../generate/openai_stream_end.ts";
import { newTranslatedHandler, type ResponseChanges } from "../generate/translated_handler.ts";
import { collectReasoning } from "./collect_reasoning.ts";
import type { Identity } from "./relay_edits.ts";
import { relayResponse } from "./relay_response.ts";
import { encodeCompletion } from "./encode_response.ts";
import type { Labels } from "./deltas.ts";
import { newChatEncoder } from "./encode_stream.ts";
import { newRelay, type RelayOptions } from "./relay_stream.ts";
import {
  findReasoning,
  findTargets,
  type FoundReasoning,
  reasoningAccount,
  storeReasoning,
} from "../reasoning/reasoning_memory.ts";
import { parseChatRequest } from "./request.ts";
import { requireStoredId } from "./require_stored_id.ts";
import { verifyRelay } from "./verify_relay.ts";

const MATCHES_AS = ["chat_completions"] as const;

const EARLY: EarlyStream = {
  begin: () => [commentKeepAlive()],
  keepAlive: commentKeepAlive,
  fail: failedEnd,
};

/** `POST /v1/chat/completions` (OpenAI API, Chat Completions). */
export const chat: ClientApi = {
  name: "chat_completions",
  errors: openaiErrors,
  endpoints: [{
    method: "POST",
    path: ROUTED_PATHS.chat_completions,
    about: "Chat Completions: a whole response or a stream.",
    body: true,
    matchesAs: MATCHES_AS,
    operation: "chat",
    sharesAnswer: true,
    async handle(call, { document }) {
      call.report.stream = document.value.stream === true;
      const request = parseChatRequest(document);
      if (!request.ok) return request;
      const stored = storedReasoning(call, request.value);
      const asked = stored === null ? request.value : { ...request.value, ...await stored };
      return await exchange(call, newInference(call, asked));
    },
  }],
};

/** Returns the provenance of a completion that its upstream stores. */
function originOf({ report }: Call, target: Target): ResponseProvenance {
  const { model, wire, named } = target;
  const route = report.route ?? "";
  const own = {
    route,
    model,
    requestedModel: named?.name ?? null,
    protocol: protocolOf(wire),
    hasSnapshot: false,
  };
  return { ...own, ...shownAs(target) };
}

/** Protocols whose upstreams accept their signed or encrypted reasoning back. */
const SEALING_PROTOCOLS = ["messages", "responses"] as const;

const isPastCall = (message: JsonValue) => isObject(message) && Array.isArray(message.tool_calls);

/**
 * Returns the stored reasoning of past calls, for targets that accept it. It is found with the
 * rules of compat, which takes every message that another protocol takes.
 */
function storedReasoning(
  call: Call,
  { document: { value: { messages } } }: ChatRequest,
): Promise<FoundReasoning> | null {
  // Most requests have no past calls, and the targets are those of the whole file.
  if (!Array.isArray(messages) || !messages.some(isPastCall)) return null;
  const [target] = findTargets(call, SEALING_PROTOCOLS);
  if (target === undefined || isTooDeep(messages)) return null;
  const carrier = newTargetCarrier({ provider: target.provider, wire: compat });
  const parsed = parseMessages(messages, undefined, carrier);
  return parsed.ok ? findReasoning(call, parsed.value) : null;
}

function newInference(call: Call, request: ChatRequest): Inference {
  const { text, value } = request.document;
  return {
    matchesAs: MATCHES_AS,
    model: typeof value.model === "string" ? value.model : "",
    stream: request.stream,
    owner: null,
    ...request.reasoning !== undefined && reasoningAccount([request]),
    // A request with `store`, whatever its value, is not cached: it may have side effects.
    ...request.stream && { newEarly: () => EARLY },
    canonical: ({ payload }) =>
      request.stream || Object.hasOwn(value, "store")
        ? null
        : canonicalJson(`[${text},${payload?.text()}]`),
    prepare(target) {
      const refused = isBound(request, target) ? refuseOwner(call) : null;
      if (refused !== null) return refused;
      const encoded = target.wire.encode(request, target);
      if (!encoded.ok) return encoded;
      const { promises, bridged, numbered } = encoded.value;
      return success<Candidate>({
        target,
        request: encoded.value,
        hasSideEffects: isStored(request),
        ...isBound(request, target) && { storage: "optional" },
        responseHandler: () =>
          newResponseHandler(call, request, target, { promises, bridged, numbered }),
        onComplete({ resource, reasoning }) {
          const bind = () =>
            typeof resource?.id === "string"
              ? bindObject(call, "chat_completion", resource.id, target, {
                origin: originOf(call, target),
              })
              : null;
          if (reasoning === undefined) return bind();
          return storeReasoning(call, target, reasoning).then((stored) => bind() ?? stored);
        },
      });
    },
  };
}

function newResponseHandler(
  call: Call,
  request: ChatRequest,
  target: Target,
  changes: ResponseChanges,
): WholeHandler | StreamHandler {
  const { wire, provider: { settings } } = target;
  const newLabels = (): Labels => ({
    id: newId("chatcmpl-", call.world),
    created: call.world.unix(),
    model: shownModel(target),
    legacyFunctions: hasFunctions(request),
  });
  if (wire.name !== "compat" || changes.bridged !== undefined) {
    const labels = newLabels();
    return newTranslatedHandler({ call, target, isStream: request.stream, ...changes }, {
      newEncoder: () => newChatEncoder({ ...labels, includeUsage: request.includeUsage }),
      encodeWhole(events) {
        const completion = encodeCompletion(events, labels);
        return completion.ok ? success({ ...completion.value, resource: null }) : completion;
      },
    });
  }
  const { promises, numbered } = changes;
  const relay = relayed(call, request, newLabels, {
    extractsReasoning: settings.extract_reasoning_tags,
    ...numbered !== undefined && { numbered },
    ...target.named?.preset.showsName === true && { shownModel: target.named.name },
  });
  const verified = promises === undefined ? relay : verifyRelay(
    relay,
    newCallVerifier(call, promises, request.stream),
    call.world,
  );
  const reader = isSigningHost(target) ? collectReasoning(verified, call.world) : verified;
  return isBound(request, target) ? requireStoredId(reader) : reader;
}

/** True if the gateway stores which upstream has the completion. */
function isBound(request: ChatRequest, { wire, provider }: Target): boolean {
  return wire.name === "compat" && isStored(request) &&
    hasCapability(provider, "chat_completions_lifecycle");
}

/**
 * Returns the refusal of a completion whose owner the gateway would have to store; null if it does.
 */
function refuseOwner(call: Call): Failed<Refusal> | null {
  return refuseStored(
    call,
    "This gateway does not store which provider has a completion (state.store is none); omit 'store'.",
    "store",
  );
}

function isStored({ document }: ChatRequest): boolean {
  return document.value.store === true;
}

/** True if the request has legacy `functions`; an empty list counts as absent. */
function hasFunctions({ document }: ChatRequest): boolean {
  const { functions } = document.value;
  return Array.isArray(functions) && functions.length > 0;
}

function relayed(
  { world: idSource }: Call,
  { stream, includeUsage }: ChatRequest,
  newLabels: () => Labels,
  options: Pick<RelayOptions, "extractsReasoning" | "numbered" | "shownModel">,
): WholeHandler | StreamHandler {
  if (!stream) {
    const newIdentity = () => identityOf(newLabels(), "chat.completion");
    return {
      kind: "whole",
      read: (response) => relayResponse(response, newIdentity, { ...options, idSource }),
    };
  }
  const identity = identityOf(newLabels(), "chat.completion.chunk");
  return {
    kind: "stream",
    translation: newRelay({ ...options, identity, includeUsage, idSource }),
  };
}

function identityOf({ id, created, model }: Labels, object: Identity["object"]): Identity {
  return { id, object, created, model };
}
