import type { SoakClient } from "../client.ts";

/** One way to use the gateway, with its own check of the answers. */
export interface Use {
  /** Client API, provider type and kind of answer, for the report. */
  readonly name: string;
  /** Throws if an answer is altered. */
  run(client: SoakClient): Promise<void>;
}
