import { patterns } from "./patterns.ts";
import type { Attack } from "./support.ts";

/** All attacks, in the order of their rows. */
export const ATTACKS: readonly Attack[] = [patterns];
