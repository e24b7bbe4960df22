import type { Settings } from "./providers.ts";

/** A target of the written file. */
export interface Target {
  readonly provider: string;
  readonly model: string | undefined;
  readonly weight: number;
  readonly contextSize: number | null;
  /** True if requests go to the Responses API of the provider. */
  readonly isResponses: boolean;
}

/** A name of the source with its targets in the order in which they are tried. */
export interface Named {
  readonly name: string;
  readonly from: readonly string[];
  readonly targets: readonly Target[];
  /** Targets of entries with a higher `order`. */
  readonly later: readonly Target[];
  /** Number of different values of `order` that its entries state. */
  readonly orders: number;
  readonly parameters: Settings;
}

/** Returns what is equal for two targets that send the same model to the same provider. */
export function identityOf({ provider, model }: Target): string {
  return `${provider}/${model ?? ""}`;
}
