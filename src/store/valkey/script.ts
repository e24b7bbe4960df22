import { createHash } from "node:crypto";
import { type Result, success } from "../../core/failure/result.ts";
import { recordUnreadable, storeUnavailable } from "../store_failure.ts";
import type { Argument, Reply, ValkeyConnection } from "./connection.ts";

/** A Lua script that a server executes as one operation. */
export interface Script {
  readonly text: string;
  /** SHA-1 of the text, by which the server knows a script that it has executed before. */
  readonly digest: string;
}

/** Returns the script with this text. */
export function newScript(text: string): Script {
  return { text, digest: createHash("sha1").update(text).digest("hex") };
}

/**
 * Executes a script and returns its reply. Its text is sent only if the server does not know it.
 * Fails with `state_unavailable` if there is no reply (the script may have been executed) or if the
 * server refuses it, and with `state_unreadable` for a stored value of an unknown type.
 */
export async function runScript(
  connection: ValkeyConnection,
  script: Script,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<Result<unknown>> {
  const rest = [keys.length, ...keys, ...args];
  const first = await connection.send("EVALSHA", [script.digest, ...rest]);
  const isUnknown = first.kind === "refused" && first.code === "NOSCRIPT";
  return replyResult(isUnknown ? await connection.send("EVAL", [script.text, ...rest]) : first);
}

/** Returns the value of a reply, or the failure of an operation without one. */
export function replyResult(reply: Reply): Result<unknown> {
  if (reply.kind === "reply") return success(reply.value);
  return reply.kind === "refused" && reply.isWrongType ? recordUnreadable() : storeUnavailable();
}
