import type { CheckBudget } from "../../prompt/response_promise.ts";

/**
 * Maximum number of steps of the checks of one response. A step is work of about 100 ns: 30 schemas
 * and patterns, each with the values that are slowest for it, took 5 to 20 ms for all steps on two
 * shared cores, and 35 ms in the first milliseconds of the process. So no piece of the checks is
 * longer than 50 ms, although nothing waits between them.
 */
export const MAX_CHECK_STEPS = 200_000;

/** Maximum number of checks within each other, which a recursive schema could make any number. */
const MAX_CHECK_LEVELS = 1_000;

/** Number of characters that are read in one step. */
export const STEP_CHARS = 8;

/** Returns the budget of a new response. */
export function newCheckBudget(): CheckBudget {
  return { steps: MAX_CHECK_STEPS, levels: MAX_CHECK_LEVELS };
}
