import { atPace } from "../core/at_once.ts";
import { daysUntil } from "../core/usage_row.ts";
import type { Gateway } from "../gateway/gateway.ts";
import {
  parseDays,
  USAGE_COLUMNS,
  USAGE_COLUMNS_TEXT,
  usageReportSteps,
  usageTextSteps,
} from "../observe/usage_report.ts";
import { newCallClient, parseControls } from "../call/call.ts";
import {
  explainRouting,
  parseExplainedHeaders,
  type RequestForms,
  USUAL_PATH,
} from "../routing/explain.ts";
import { explainRecord } from "../record/explain_record.ts";
import type { ExplainView } from "./snapshot.ts";

/** Response to `GET /usage`. */
export interface UsageResponse {
  readonly status: 200 | 400 | 503;
  readonly type: string;
  readonly text: string;
}

const JSON_TYPE = "application/json", CSV_TYPE = "text/csv; charset=utf-8";
const TEXT_TYPE = "text/plain; charset=utf-8";

/**
 * Returns the usage of client keys, or of the client key `key`, of the last `days` up to today,
 * added up `by` a column or by all, as JSON or with `format=csv` as CSV.
 */
export async function readUsage(
  query: URLSearchParams,
  { generation, state, world }: Gateway,
): Promise<UsageResponse> {
  const stored = generation.config.state.usage_days;
  const by = query.get("by");
  const column = USAGE_COLUMNS.find((name) => name === by) ?? null;
  if (by !== column) return wrong(`by is ${USAGE_COLUMNS_TEXT}.`);
  const format = query.get("format") ?? "json";
  if (format !== "json" && format !== "csv") return wrong("format is json or csv.");
  const written = query.get("days");
  const days = written === null ? stored : parseDays(written, stored);
  if (days === null) return wrong("days is a number from 1 on.");
  const to = generation.calendar.dateOf(world.wall());
  const wanted = daysUntil(to, Math.max(1, days));
  const rows = await state.usage.read(wanted);
  if (!rows.ok) {
    return { status: 503, type: TEXT_TYPE, text: "The state store does not answer; try again." };
  }
  const from = wanted.at(-1) ?? to;
  const steps = usageReportSteps(rows.value, { from, to }, column, query.get("key"));
  // Each of the short steps has a turn.
  const pace = { next: () => state.turns.next("rest") };
  const report = await atPace(pace, steps);
  const text = await atPace(pace, usageTextSteps(report, format));
  return { status: 200, type: format === "csv" ? CSV_TYPE : JSON_TYPE, text };
}

function wrong(text: string): UsageResponse {
  return { status: 400, type: TEXT_TYPE, text };
}

/** Maximum number of headers of an explained request. */
const MAX_HEADERS = 50;

/**
 * Returns the routing of the request that a query describes, or the problem with the query as a
 * sentence.
 */
export function explainQuery(
  query: URLSearchParams,
  { generation, world }: Pick<Gateway, "generation" | "world">,
  forms: RequestForms,
): ExplainView | string {
  const model = query.get("model") ?? "";
  const path = query.get("path") || USUAL_PATH;
  if (!path.startsWith("/")) return "path must begin with /.";
  const written = query.getAll("header").filter(Boolean);
  if (written.length > MAX_HEADERS) return `At most ${MAX_HEADERS} headers may be explained.`;
  const headers = parseExplainedHeaders(written, query.get("provider") ?? "");
  if (typeof headers === "string") return headers;
  const name = query.get("key") ?? "";
  const key = generation.clientKeys.find((one) => one.name === name) ?? null;
  if (name !== "" && key === null) return "There is no client key of this name.";
  const client = { ...newCallClient(), key };
  const call = { path, headers, controls: parseControls(headers), generation, client };
  const { lines, isServed, route } = explainRouting(call, model, forms, world.wall());
  return { lines: [...lines, ...explainRecord(call, route)], isServed };
}
