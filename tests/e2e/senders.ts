import { type Sdk, startNativeSdk, startSdk, WIRES } from "./sdk.ts";

/** The provider types, and a compat provider whose Responses API serves chats and responses. */
export const SENDERS = [...WIRES, "native Responses"] as const;

/** Starts the official client before a gateway with one provider of this kind. */
export function startSender(sender: typeof SENDERS[number]): Sdk {
  return sender === "native Responses" ? startNativeSdk(["sim"], "responses") : startSdk(sender);
}
