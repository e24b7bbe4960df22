import { isRefusal } from "../core/failure.ts";
import { type Failed, failed, type Result, success } from "../core/result.ts";
import type { ChatRequest } from "./chat_request/chat_request.ts";
import { foldSystemMessages } from "./chat_request/system_messages.ts";
import type { Target, UpstreamRequest } from "./wire.ts";

/**
 * Returns a Chat request as a request to a target, with system messages where its provider expects
 * them. Refusals and lossy paths name the messages of the request as it was given.
 */
export function encodeChatRequest(chat: ChatRequest, target: Target): Result<UpstreamRequest> {
  const { system_messages } = target.provider.settings;
  const folded = system_messages === "leading" ? foldSystemMessages(chat.document) : null;
  if (folded === null) return target.wire.encode(chat, target);
  const { document, origins } = folded;
  const encoded = target.wire.encode({ ...chat, document }, target);
  if (!encoded.ok) return withOwnPath(encoded, origins);
  const lossy = encoded.value.lossy ?? [];
  return success({
    ...encoded.value,
    lossy: [...folded.lossy, ...lossy.map((path) => ownPath(path, origins))],
  });
}

function withOwnPath(refused: Failed, origins: readonly number[]): Failed {
  const { failure } = refused;
  if (!isRefusal(failure) || failure.param === null) return refused;
  const param = ownPath(failure.param, origins);
  const message = failure.message.replaceAll(`'${failure.param}'`, `'${param}'`);
  return failed({ ...failure, param, message });
}

/** Returns a path with the index that its message had before system messages were folded. */
function ownPath(path: string, origins: readonly number[]): string {
  return path.replace(
    /^messages\[(\d+)\]/,
    (whole, index: string) => {
      const origin = origins[Number(index)];
      return origin === undefined ? whole : `messages[${origin}]`;
    },
  );
}
