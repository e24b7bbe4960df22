import type { OperationContext } from "../operation.ts";

/** Reads from the file, as a sign of life; fails if the file was removed. */
export const ping = {
  kind: "read" as const,
  run({ database }: OperationContext): null {
    database.checkFile();
    database.row("select 1 from total");
    return null;
  },
};
