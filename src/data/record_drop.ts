/**
 * Why a record is not written: no room in memory, the disk, masking that has failed, a thread that
 * has ended, or the end of the process.
 */
export const RECORD_DROPS = ["queue", "disk", "redaction", "worker", "shutdown"] as const;

/** Why a record is not written. */
export type RecordDrop = (typeof RECORD_DROPS)[number];
