import { ROUTED_PATHS } from "../../core/endpoint.ts";
import { openaiErrors } from "../../core/failure/openai_error.ts";
import type { ClientApi } from "../client_api.ts";
import { counting } from "./counting.ts";
import { createResponse, MATCHES_AS } from "./create.ts";
import { lifecycle } from "./lifecycle.ts";
import { resolveStoredResponse } from "./state/resolve_continuation.ts";
import { newResponsesSession } from "./socket/session.ts";

/**
 * The Responses API, served by native providers or translated to Chat Completions (OpenAI API,
 * Responses).
 */
export const responses: ClientApi = {
  name: "responses",
  errors: openaiErrors,
  endpoints: [
    {
      method: "POST",
      path: ROUTED_PATHS.responses,
      about: "Responses: a whole response or a stream.",
      body: true,
      matchesAs: MATCHES_AS,
      operation: "chat",
      sharesAnswer: true,
      handle: (call, { document }) =>
        createResponse(call, document, { resolvePrevious: resolveStoredResponse }),
    },
    ...counting,
    ...lifecycle,
  ],
  sockets: [{
    path: ROUTED_PATHS.responses,
    about: "Responses over WebSocket.",
    operation: "chat",
    newSession: newResponsesSession,
  }],
};
