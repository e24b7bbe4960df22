import type { Config } from "../config/schema.ts";
import type { OpenedRecorder, Recorder, RecorderDeps } from "../record/recorder.ts";

/** Problems that end the start: the configuration names a place where no file can be. */
const FATAL: readonly string[] = ["no_folder", "no_file"];

/**
 * Opens the file of records if the configuration has one. A file that cannot be used does not end
 * the start, unless its folder is missing or the state store is required: then nothing is recorded.
 */
export async function startRecorder(
  config: Config,
  deps: RecorderDeps,
): Promise<
  | { readonly ok: true; readonly recorder: Recorder | null }
  | Extract<OpenedRecorder, { readonly ok: false }>
> {
  if (!config.record.enabled) return { ok: true, recorder: null };
  // Loaded only now, because most gateways record nothing.
  const { openRecorder } = await import("../record/recorder.ts");
  const opened = await openRecorder(config, deps);
  if (opened.ok) {
    const { path, calls, keep } = config.record;
    deps.log.info("calls are recorded", { path, calls, keep_hours: Math.round(keep / 3_600_000) });
    return opened;
  }
  if (FATAL.includes(opened.reason) || config.state.required) return opened;
  deps.log.error(`Nothing is recorded: ${opened.problem}`);
  return { ok: true, recorder: null };
}
