/** Format of exported records, which each of them names. */
export const RECORD_FORMAT = "switchyard.record/1";
