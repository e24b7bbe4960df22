import { exact, exactBut, type Treatment } from "../../../prompt/field_table.ts";

/** Blocks that the gateway made are cut out, because no upstream could check their signature. */
const THINKING = exactBut("a block that the gateway made is cut out and lossy");

const REQUESTED = exactBut("turned off and lossy in a tool loop that lacks its thinking");

/**
 * Returns the treatment of a request field by a target with the Messages API, which gets the
 * client's own text.
 */
export function relayedTreatment(path: string): Treatment {
  if (/^thinking\[(enabled|adaptive)\]/.test(path)) return REQUESTED;
  return path.startsWith("messages[assistant].content[thinking].") ? THINKING : exact;
}
