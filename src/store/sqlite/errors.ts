import { UnusableDatabase } from "./database.ts";
import type { Problem } from "./problems.ts";

/** Problems by the primary result codes of SQLite. */
const BY_CODE: Readonly<Record<number, Problem>> = {
  3: "no_permission",
  5: "locked",
  6: "locked",
  8: "read_only",
  10: "io",
  11: "damaged",
  13: "full",
  14: "no_permission",
  23: "no_permission",
  26: "not_a_database",
};

/**
 * Problems by the text of an error. Errors of opening a file have no code; all other texts are
 * ignored, because they may contain what a client has sent.
 */
const BY_TEXT: readonly (readonly [RegExp, Problem])[] = [
  [/^database is locked/, "locked"],
  [/^file is not a database/, "not_a_database"],
  [/^unable to open database file/, "no_permission"],
  [/^attempt to write a readonly database/, "read_only"],
  [/^database or disk is full/, "full"],
  [/^database disk image is malformed/, "damaged"],
  [/^disk I\/O error/, "io"],
];

/** Problems by the names of the errors of the runtime. */
const BY_NAME: Readonly<Record<string, Problem>> = {
  NotCapable: "not_permitted_by_runtime",
  NotFound: "no_folder",
  NotADirectory: "no_folder",
  PermissionDenied: "no_permission",
};

/** Returns the problem behind an error of SQLite, or of the runtime. */
export function problemOf(error: unknown): Problem {
  if (error instanceof UnusableDatabase) return error.reason;
  if (!(error instanceof Error)) return "other";
  const byName = BY_NAME[error.name];
  if (byName !== undefined) return byName;
  if ("code" in error && error.code === "EROFS") return "read_only";
  if ("code" in error && error.code === "ENOSPC") return "full";
  const code = "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
  const byText = () => BY_TEXT.find(([text]) => text.test(error.message))?.[1];
  return BY_CODE[code] ?? byText() ?? "other";
}
