import { dirname } from "node:path";

/** Why a database cannot be opened or used. */
export type Problem =
  | "no_folder"
  | "no_file"
  | "no_permission"
  | "not_permitted_by_runtime"
  | "read_only"
  | "locked"
  | "removed"
  | "not_a_database"
  | "foreign"
  | "newer"
  | "damaged"
  | "full"
  | "io"
  | "worker"
  | "other";

/** Setting with the path of the state store. */
const USUAL_SETTING = "state.sqlite.path";

/**
 * Returns one sentence about a database that cannot be opened: what is wrong, where, what to do.
 * `setting` has its path.
 */
export function openingProblem(problem: Problem, path: string, setting = USUAL_SETTING): string {
  const file = `The database "${path}" (${setting})`;
  switch (problem) {
    case "no_folder":
      return `${file} cannot be created, because there is no folder "${dirname(path)}"; ` +
        "create the folder or set another path.";
    case "no_file":
      return `${file} is a folder, a pipe or a device; set the path of a file.`;
    case "no_permission":
      return `${file} may not be written by the user of this process; make the file and its ` +
        "folder writable for that user, or set another path.";
    case "not_permitted_by_runtime":
      return `${file} may not be read and written by this process; start it with --allow-read ` +
        "and --allow-write for the file.";
    case "read_only":
      return `${file} is on a read-only file system, or in a folder that the user of this process ` +
        "may not write; set a path where files can be written.";
    case "locked":
      return `${file} is in use by another process; stop that process or set another path: ` +
        "each gateway needs a file of its own.";
    case "removed":
      return `${file} was removed while it was opened; start the gateway again.`;
    case "not_a_database":
      return `${file} is not a database; move the file away or set another path.`;
    case "foreign":
      return `${file} was written by another program; set another path.`;
    case "newer":
      return `${file} was written by a newer version of the gateway; start that version, or set ` +
        "another path.";
    case "damaged":
      return `${file} is damaged; move the file away, and a new one is created.`;
    case "full":
      return `${file} has no room, because the disk is full; free some space or set another path.`;
    case "io":
      return `${file} cannot be read or written, because the disk reports an error; check the disk.`;
    case "worker":
      return `${file} cannot be opened, because its thread does not respond; check that the path ` +
        "is on a local disk.";
    case "other":
      return `${file} cannot be opened; check that the path is a file on a local disk.`;
  }
}

/** Returns one sentence for the log about an operation that failed. */
export function operationProblem(problem: Problem, path: string): string {
  const file = `The database "${path}" (${USUAL_SETTING})`;
  switch (problem) {
    case "full":
      return `${file} cannot be written, because the disk is full; free some space.`;
    case "read_only":
    case "no_permission":
      return `${file} cannot be written, because the file is read-only; make it writable.`;
    case "not_a_database":
    case "damaged":
      return `${file} is damaged; stop the gateway and move the file away.`;
    case "worker":
      return `${file} cannot be used, because its thread has stopped or does not respond; ` +
        "it is opened again.";
    case "removed":
      return `${file} was removed while it is in use; restart the gateway, which creates a new one.`;
    case "locked":
      return `${file} cannot be opened again, because it is in use; stop other processes that use it.`;
    case "not_permitted_by_runtime":
      return `${file} cannot be opened again, because this process may no longer write files; ` +
        "restart the gateway.";
    case "io":
      return `${file} cannot be used, because the disk reports an error; check the disk.`;
    default:
      return `${file} cannot be used for an unknown reason; check that its disk works.`;
  }
}
