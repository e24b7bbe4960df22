import type { EventEncoder } from "../../../core/stream.ts";
import type { StreamEvent } from "../../../core/events.ts";
import { fault, type Result } from "../../../core/result.ts";
import type { EncodedResponse } from "../../translated_handler.ts";

/** Fields of a generated message that stay the same from its first record to its last. */
export interface MessageLabels {
  /** `msg_` and 32 hexadecimal digits, new for each response. */
  readonly id: string;
  /** ID of the call, which an error record repeats. */
  readonly requestId: string;
  /** Requested model, used until the upstream reports its own. */
  readonly model: string;
  /** Whether thinking is sent as text and seal, as a seal only, or not at all. */
  readonly thinking: "shown" | "sealed" | "hidden";
  /** Returns the client's name of a tool for the name that the upstream uses. */
  toolName(name: string): string;
}

/** Returns the encoder of a Messages stream (Messages API, streaming). */
export function newMessageEncoder(_labels: MessageLabels): EventEncoder {
  return {
    push: () => notBuilt(),
    end: () => notBuilt(),
    fail: () => [],
    done: () => false,
    usage: () => null,
    resource: () => null,
  };
}

/** Returns the message of a complete list of events. */
export function encodeMessage(
  _events: readonly StreamEvent[],
  _labels: MessageLabels,
): Result<EncodedResponse> {
  return notBuilt();
}

function notBuilt(): Result<never> {
  return fault("internal_error", "The gateway has failed; this is a bug in it.");
}
