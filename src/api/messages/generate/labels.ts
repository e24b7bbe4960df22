import type { Signer } from "../../reasoning/host_seals.ts";

/** Fields of a generated message that stay the same from its first record to its last. */
export interface MessageLabels {
  /**
   * `msg_` and 32 hexadecimal digits, new for each response: clients take equal IDs for one
   * message.
   */
  readonly id: string;
  /** ID of the call, which an error record repeats. */
  readonly requestId: string;
  /** Requested model, used until the upstream reports its own. */
  readonly model: string;
  /** Whether thinking is sent as text and seal, as a seal only, or not at all. */
  readonly thinking: "shown" | "sealed" | "hidden";
  /**
   * True if the upstream encrypts its reasoning, which is then stored for the client's next
   * request.
   */
  readonly storesReasoning: boolean;
  /** Signer of what the client gets sealed to send it back; null if the host needs nothing back. */
  readonly signer: Signer | null;
  /** True if the client has requested thinking: then a message may have a block without text. */
  readonly addsThinking: boolean;
  /** Returns the client's name of a tool for the name that the upstream uses. */
  toolName(name: string): string;
}
