import type { FallbackOperation } from "../data/state_operation.ts";
import type { World } from "../core/world.ts";
import type { LoopTurns } from "../traffic/loop_turns.ts";
import type { RecordCodec } from "./records/record_codec.ts";

/** Dependencies of a store outside the memory of the process. */
export interface StoreDependencies {
  readonly world: World;
  readonly codec: RecordCodec;
  /** Writes a line to the log; never content, keys or passwords. */
  readonly log: StoreLog;
  /** Turns of the gateway; absent if nothing else waits. */
  readonly turns?: LoopTurns;
  /** Counts an operation of quotas that the process does itself while its store is unavailable. */
  onQuotaFallback?(operation: FallbackOperation): void;
}

/** Log of a store. */
export interface StoreLog {
  warn(message: string): void;
  error(message: string): void;
}
