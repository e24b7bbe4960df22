import type { Problem } from "../store/sqlite/problems.ts";
import type {
  RecordFileOptions,
  RecordSettings,
  RecordTotals,
  ScanRequest,
  ScanResult,
  Written,
} from "./record_file.ts";
import type { WrittenRecord } from "./written_record.ts";

/** A message to the thread of the records. Times are Unix time in milliseconds. */
export type RecordRequest =
  | { readonly kind: "open"; readonly options: RecordFileOptions; readonly now: number }
  | { readonly kind: "write"; readonly records: readonly WrittenRecord[]; readonly now: number }
  | { readonly kind: "expire"; readonly now: number }
  | { readonly kind: "apply"; readonly settings: RecordSettings }
  | { readonly kind: "scan"; readonly id: number; readonly request: ScanRequest }
  | { readonly kind: "close" };

/** A message of the thread of the records. */
export type RecordReply =
  | { readonly kind: "opened"; readonly totals: RecordTotals }
  | { readonly kind: "refused"; readonly problem: Problem }
  | { readonly kind: "written"; readonly written: Written }
  | { readonly kind: "expired"; readonly totals: RecordTotals }
  | { readonly kind: "scanned"; readonly id: number; readonly result: ScanResult | null }
  | { readonly kind: "closed" }
  /** The thread cannot go on. */
  | { readonly kind: "broken" };
