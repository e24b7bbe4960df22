import type { OperationContext } from "../operation.ts";

/** Writes a page of the file again, as a sign of life; fails also if the disk is full. */
export const writePing = {
  kind: "write" as const,
  run({ database }: OperationContext): null {
    database.checkFile();
    database.change("update total set entries = entries where name = 'quotas'");
    return null;
  },
};

/** Reads from the file, as a sign of life; fails if the file was removed. */
export const ping = {
  kind: "read" as const,
  run({ database }: OperationContext): null {
    database.checkFile();
    database.row("select 1 from total");
    return null;
  },
};
