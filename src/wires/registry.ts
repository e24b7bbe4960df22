import { compat } from "./compat/compat.ts";
import { local } from "./local/local.ts";
import { messages } from "./messages/messages.ts";
import { responses } from "./responses/responses.ts";
import type { Wire, WireName } from "./wire.ts";

/** All upstream protocols, by wire name. */
export const wires = { compat, responses, messages, local } as const satisfies Record<
  WireName,
  Wire
>;
