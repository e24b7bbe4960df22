import { type CallReport, NO_PATHS } from "../observe/report.ts";
import type { Candidate } from "./inference.ts";

/**
 * Records which fields of the request the candidate carries only in part, or with a check: of the
 * candidate that is called, or whose cached response is returned.
 */
export function setCarriage(
  report: CallReport,
  { lossy, verified }: Pick<Candidate, "lossy" | "verified">,
): void {
  report.lossy = lossy ?? NO_PATHS;
  report.verified = verified ?? NO_PATHS;
}
