import { chat } from "./chat/chat.ts";
import type { ClientApi } from "./client_api.ts";
import { embeddings } from "./embeddings/embeddings.ts";
import { models } from "./models/models.ts";
import { ops } from "./ops/ops.ts";

/** Every client API. */
export const clientApis: readonly ClientApi[] = [chat, embeddings, models, ops];
