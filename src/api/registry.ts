import { chat } from "./chat/chat.ts";
import type { ClientApi } from "./client_api.ts";
import { conversations } from "./conversations/conversations.ts";
import { embeddings } from "./embeddings/embeddings.ts";
import { models } from "./models/models.ts";
import { ops } from "./ops/ops.ts";
import { responses } from "./responses/responses.ts";
import { storedChat } from "./stored_chat/stored_chat.ts";

/** Every client API. */
export const clientApis: readonly ClientApi[] = [
  chat,
  conversations,
  embeddings,
  models,
  ops,
  responses,
  storedChat,
];
