import type { OperationContext } from "../operation.ts";

/** Reads from the file, as a sign of life. */
export const ping = {
  kind: "read" as const,
  run({ database }: OperationContext): null {
    database.row("select 1 from total");
    return null;
  },
};
