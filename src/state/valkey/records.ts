import type { Result } from "../../core/result.ts";
import type { RecordCodec } from "../records/record_codec.ts";
import type { Retention } from "../retention.ts";
import type { Argument, ValkeyConnection } from "./connection.ts";
import { runScript, type Script } from "./script.ts";

/** The records of a store on its server. */
export interface ValkeyRecords {
  /** Start of all keys. */
  readonly start: string;
  readonly connection: ValkeyConnection;
  readonly codec: RecordCodec;
  readonly retention: Retention;
  /** Executes a script of the store and returns its reply. */
  run(script: Script, args: readonly Argument[]): Promise<Result<unknown>>;
}

/** Returns the records whose keys begin with `start`. */
export function newValkeyRecords(
  start: string,
  connection: ValkeyConnection,
  codec: RecordCodec,
  retention: Retention,
): ValkeyRecords {
  const run = (script: Script, args: readonly Argument[]) =>
    runScript(connection, script, [start], args);
  return { start, connection, codec, retention, run };
}
