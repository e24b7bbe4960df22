import type { CallReport } from "../../src/observe/report.ts";
import type { CapturedCall } from "../../src/remote/capture.ts";
import type { DashboardFields } from "../../src/remote/dashboard_fields.ts";
import { reportOf } from "../observe/reports.ts";

/** The fields of a call that a provider served. */
export const FIELDS: DashboardFields = {
  headers: {},
  upstreamRequestType: "chat_completions",
  targetIndex: 1,
  breaker: "half-open",
  baseUrl: "https://up.example/v1",
  temperature: 0.5,
  topP: null,
  topK: null,
};

/** A captured chat call without content, with the differences given. */
export function capturedOf(
  report: Partial<CallReport> = {},
  call: Partial<Omit<CapturedCall, "report">> = {},
): CapturedCall {
  return { report: reportOf(report), prompt: null, response: null, fields: () => FIELDS, ...call };
}
