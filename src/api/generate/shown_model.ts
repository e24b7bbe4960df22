import { success } from "../../core/failure/result.ts";
import type { Stage } from "../../wires/verified/stage.ts";

/** Returns the stage that replaces the model of a response by the one that its client requested. */
export function newShownModelStage(model: string): Stage {
  return {
    push: (event) => success([event.type === "start" ? { ...event, model } : event]),
    end: () => success([]),
    done: () => false,
    isHolding: () => false,
    heldBytes: () => 0,
  };
}
