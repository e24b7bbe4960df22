import * as conversations from "./conversations.ts";
import * as lifecycle from "./responses/lifecycle.ts";
import * as stored from "./stored_completions.ts";
import { compactResponse, countInputTokens } from "./responses/input_endpoints.ts";
import { createResponse } from "./responses/create.ts";
import type { RouteHandler, RouteTable } from "./routes.ts";
import { FILE_ROUTES } from "./relay/files.ts";
import { editImages, generateImages, speak, transcribe, varyImages } from "./relay/media.ts";
import { complete, moderate, rerank } from "./relay/texts.ts";

/**
 * The routes of chat completions, responses and conversations, with the endpoints of their stored
 * objects.
 */
export const NATIVE_ROUTES: RouteTable = new Map<string, RouteHandler>([
  ["POST /chat/completions", stored.createCompletion],
  ["GET /chat/completions", stored.listCompletions],
  ["GET /chat/completions/:id", stored.retrieveCompletion],
  ["POST /chat/completions/:id", stored.updateCompletion],
  ["DELETE /chat/completions/:id", stored.deleteCompletion],
  ["GET /chat/completions/:id/messages", stored.listMessages],
  ["POST /responses", createResponse],
  ["POST /responses/compact", compactResponse],
  ["POST /responses/input_tokens", countInputTokens],
  ["GET /responses/:id", lifecycle.retrieveResponse],
  ["DELETE /responses/:id", lifecycle.deleteResponse],
  ["POST /responses/:id/cancel", lifecycle.cancelResponse],
  ["GET /responses/:id/input_items", lifecycle.listInputItems],
  ["POST /conversations", conversations.createConversation],
  ["GET /conversations/:id", conversations.retrieveConversation],
  ["POST /conversations/:id", conversations.updateConversation],
  ["DELETE /conversations/:id", conversations.deleteConversation],
  ["POST /conversations/:id/items", conversations.addItems],
  ["GET /conversations/:id/items", conversations.listItems],
  ["GET /conversations/:id/items/:item", conversations.retrieveItem],
  ["DELETE /conversations/:id/items/:item", conversations.deleteItem],
]);

/** The routes of completions, moderations, images, audio, files, batches, uploads and rerank. */
export const RELAY_ROUTES: RouteTable = new Map<string, RouteHandler>([
  ["POST /completions", complete],
  ["POST /moderations", moderate],
  ["POST /rerank", rerank],
  ["POST /images/generations", generateImages],
  ["POST /images/edits", editImages],
  ["POST /images/variations", varyImages],
  ["POST /audio/speech", speak],
  ["POST /audio/transcriptions", transcribe],
  ["POST /audio/translations", transcribe],
  ...FILE_ROUTES,
]);
