import * as z from "zod";
import { RECORD_CHOICES } from "../core/record_choice.ts";
import { duration, flag, integer, section, text } from "./fields.ts";

/** Bounds and default of `record.max_bytes`. */
const MIN_FILE_BYTES = 16 * 1024 * 1024;
const MAX_FILE_BYTES = 64 * 1024 * 1024 * 1024;
const DEFAULT_FILE_BYTES = 1024 * 1024 * 1024;

/** Default of `record.path`. */
export const DEFAULT_RECORD_PATH = "record.db";

/** Values of `record.policy` besides the names of the policies of `privacy`. */
export const BUILT_IN_POLICIES: readonly string[] = ["credentials", "none"];

/** Minimum of `record.keep`. */
const MIN_KEEP_MS = 60 * 60 * 1000;

/** Returns the schema of what is recorded of the calls of a key, a group or a route. */
export function recordChoice() {
  return z.enum(RECORD_CHOICES).optional();
}

/** Schema of `record`: the file of recorded calls. */
export const recordSchema = section({
  enabled: flag().prefault(false).describe(
    "Open the file of recorded calls at the start; needs state.encryption_keys. What is recorded is " +
      "chosen by calls, and by record at keys, groups and routes.",
  ),
  path: text().default(DEFAULT_RECORD_PATH).describe(
    "Path of the file; its folder must exist. Applied at start.",
  ),
  calls: z.enum(["none", "heads", "all"]).default("none").describe(
    "What is recorded of each call, unless its key, group or route says more: nothing, figures " +
      "(heads), or content too (all).",
  ),
  keep: duration(MIN_KEEP_MS).prefault("168h")
    .describe("Time after which a record is deleted, at least 1h."),
  max_bytes: integer(MIN_FILE_BYTES, MAX_FILE_BYTES).prefault(DEFAULT_FILE_BYTES)
    .describe("Maximum size of the file; the oldest records are deleted first."),
  policy: text().default("credentials").describe(
    "What is masked before a record is written: credentials such as API keys and private keys, none, " +
      "or what a policy of privacy finds.",
  ),
});
