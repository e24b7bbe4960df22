/** Findings of the last read of the configuration file. */
export interface Notes {
  /** Lines of the refused reload as in the log; null unless the last one was refused. */
  readonly refusedReload: { readonly atMs: number; readonly lines: readonly string[] } | null;
  /** Warnings of the running configuration. */
  readonly warnings: readonly string[];
}

/** Maximum number of lines of a list, which a long broken file would exceed. */
const MAX_LINES = 200;

/** Notes that the reload writes and snapshots read. */
export interface NoteBook extends Notes {
  /** Records a file that was not applied, with its problems. */
  refused(lines: readonly string[]): void;
  /** Records a file that is in use, with its warnings. */
  accepted(warnings: readonly string[]): void;
  /** Calls the task after each change; there is one task. */
  onChange(task: () => void): void;
}

/** Returns notes of a gateway without warnings. `wall` is the Unix time in milliseconds. */
export function newNoteBook(wall: () => number): NoteBook {
  let refusedReload: Notes["refusedReload"] = null;
  let warnings: readonly string[] = [];
  let changed = () => {};
  return {
    get refusedReload() {
      return refusedReload;
    },
    get warnings() {
      return warnings;
    },
    refused(lines) {
      refusedReload = { atMs: wall(), lines: bounded(lines) };
      changed();
    },
    onChange(task) {
      changed = task;
    },
    accepted(lines) {
      refusedReload = null;
      warnings = bounded(lines);
      changed();
    },
  };
}

function bounded(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `and ${lines.length - MAX_LINES} more`];
}
