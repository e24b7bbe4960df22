import { ROUTED_PATHS } from "../../core/endpoint.ts";
import type { Call } from "../../call/call.ts";
import type { Inference } from "../../call/inference.ts";
import { exchange } from "../../exchange.ts";
import type { ClientApi } from "../client_api.ts";
import { countTokens } from "./count/endpoint.ts";
import { newEarlyMessage } from "./early.ts";
import { messagesErrors } from "./errors.ts";
import { refuseMaxTokens } from "./relay/preset.ts";
import { newRelayedCandidates } from "./relay/candidate.ts";
import { type MessagesRequest, parseMessagesRequest } from "./request.ts";
import { translatedCandidates } from "./translated.ts";
import { withUpstreamWords } from "./upstream_words.ts";

/** Request types under which a message is routed: its targets are those of Chat. */
const MATCHES_AS = ["messages", "chat_completions"] as const;

/** Maximum size of a request body: images and files of a whole session are in it. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** `POST /v1/messages` and `POST /v1/messages/count_tokens` (Messages API). */
export const messages: ClientApi = {
  name: "messages",
  errors: messagesErrors,
  endpoints: [{
    method: "POST",
    path: ROUTED_PATHS.messages,
    about: "Messages: a whole message or a stream.",
    body: true,
    maxBodyBytes: MAX_BODY_BYTES,
    matchesAs: MATCHES_AS,
    operation: "chat",
    sharesAnswer: true,
    async handle(call, { document, query }) {
      call.report.stream = document.value.stream === true;
      const request = parseMessagesRequest(document, query);
      if (!request.ok) return request;
      const reply = await exchange(call, await newInference(call, request.value));
      return withUpstreamWords(reply, document.value.max_tokens);
    },
  }, countTokens(MATCHES_AS, MAX_BODY_BYTES)],
};

async function newInference(call: Call, request: MessagesRequest): Promise<Inference> {
  const relayedCandidate = newRelayedCandidates(call, request);
  const translated = await translatedCandidates(call, request);
  return {
    matchesAs: MATCHES_AS,
    model: request.model,
    stream: request.stream,
    owner: null,
    canonical: () => null,
    ...request.stream && {
      newEarly: () => newEarlyMessage(call.id, request.document.value.max_tokens),
    },
    ...translated,
    prepare: (target) =>
      refuseMaxTokens(request.document, target) ??
        (target.wire.name === "messages" ? relayedCandidate(target) : translated.prepare(target)),
  };
}
