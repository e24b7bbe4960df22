import { compat } from "./compat/compat.ts";
import { local } from "./local/local.ts";
import { messages } from "./messages/messages.ts";
import type { Wire, WireName } from "./wire.ts";

/** Every provider type and its protocol. */
export const wires = { compat, messages, local } as const satisfies Record<WireName, Wire>;
