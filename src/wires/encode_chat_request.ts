import { isRefusal } from "../core/failure.ts";
import { type Failed, failed, type Result, success } from "../core/result.ts";
import type { ChatRequest } from "./chat_request/chat_request.ts";
import { foldSystemMessages, type Origin } from "./chat_request/system_messages.ts";
import type { Target, UpstreamRequest } from "./wire.ts";

/**
 * Returns a Chat request as a request to a target, with system messages where its provider expects
 * them. Refusals and lossy paths name the messages of the request as it was given.
 */
export function encodeChatRequest(chat: ChatRequest, target: Target): Result<UpstreamRequest> {
  const { system_messages } = target.provider.settings;
  const isText = target.wire.name === "compat";
  const folded = isText && system_messages === "leading" ? foldSystemMessages(chat.document) : null;
  if (folded === null) return target.wire.encode(chat, target);
  const { document, origins } = folded;
  // Compat sends no stored reasoning, whose messages would have other indexes now.
  const encoded = target.wire.encode({ ...chat, document }, target);
  if (!encoded.ok) return withOwnPath(encoded, origins);
  const lossy = encoded.value.lossy ?? [];
  return success({
    ...encoded.value,
    lossy: [...folded.lossy, ...lossy.map((path) => ownPath(path, origins))],
  });
}

function withOwnPath(refused: Failed, origins: readonly Origin[]): Failed {
  const { failure } = refused;
  if (!isRefusal(failure) || failure.at === null) return refused;
  return failed({ ...failure, at: ownPath(failure.at, origins) });
}

/** Returns a path with the indexes that message and part had before system messages were folded. */
function ownPath(path: string, origins: readonly Origin[]): string {
  const [, index = "", , part, rest = ""] =
    /^messages\[(\d+)\](\.content\[(\d+)\])?(.*)$/.exec(path) ?? [];
  const origin = origins[Number(index)];
  if (index === "" || origin === undefined) return path;
  const own = part === undefined ? -1 : Number(part) - origin.addedParts;
  return `messages[${origin.index}]${own < 0 ? "" : `.content[${own}]`}${rest}`;
}
