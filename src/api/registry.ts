import { chat } from "./chat/chat.ts";
import type { ClientApi } from "./client_api.ts";
import { ops } from "./ops/ops.ts";

/** Every client API. */
export const clientApis: readonly ClientApi[] = [chat, ops];
