import { exact, exactBut, type Treatment } from "../../../prompt/field_table.ts";

/** Blocks that the gateway made are cut out, because no upstream could check their signature. */
const THINKING = exactBut("a block that the gateway made is cut out and lossy");

/**
 * Returns the treatment of a request field by a target with the Messages API, which gets the
 * client's own text.
 */
export function relayedTreatment(path: string): Treatment {
  return path.startsWith("messages[assistant].content[thinking].") ? THINKING : exact;
}
