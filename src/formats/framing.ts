import type { StreamRecord } from "../core/reply.ts";

/** Cuts text that arrives in any pieces into whole records. */
export interface Framing {
  /** Takes the next text; gives the records that are whole now. */
  push(text: string): readonly StreamRecord[];
  /** The source is at its end; gives the records that the end itself makes whole. */
  end(): readonly StreamRecord[];
  /** Characters of the record that is not whole yet. */
  held(): number;
}
