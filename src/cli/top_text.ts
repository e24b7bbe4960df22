import type { FinishedCall, SecondView, Snapshot } from "../admin/snapshot.ts";
import { visible } from "../core/visible_text.ts";
import { finishedTable, keyTable, runningTable, type Table } from "./top_tables.ts";
import { percent } from "../routing/route_text.ts";
import { durationText, figure } from "./top_words.ts";

/** Content of the screen of `switchyard top`. */
export interface TopView {
  readonly snapshot: Snapshot;
  /** Seconds of the last minute. */
  readonly seconds: readonly SecondView[];
  /** The last finished calls, newest first. */
  readonly finished: readonly FinishedCall[];
  /** False while the connection is lost. */
  readonly isLive: boolean;
}

/** Size and abilities of the output. */
export interface TopScreen {
  readonly columns: number;
  /** Null for no limit. */
  readonly rows: number | null;
  readonly isColoured: boolean;
}

/** Maximum number of finished calls that are shown. */
const MAX_FINISHED = 20;

/** Number of seconds over which rates are added up. */
const MAX_RATE_SECONDS = 60;

/**
 * Returns the view of a new snapshot, which has only what is new in the stream since the earlier
 * one. The first snapshot after a lost connection has everything again.
 */
export function nextView(latest: TopView | null, snapshot: Snapshot): TopView {
  const earlier = latest?.isLive ? latest : null;
  const { seconds, finished, atMs } = snapshot;
  const oldest = Math.floor(atMs / 1000) - MAX_RATE_SECONDS;
  return {
    snapshot,
    seconds: [...earlier?.seconds ?? [], ...seconds].filter(({ second }) => second >= oldest),
    finished: [...finished, ...earlier?.finished ?? []].slice(0, MAX_FINISHED),
    isLive: true,
  };
}

/** Returns the lines of a snapshot, cut to the screen and without control characters. */
export function renderTop(view: TopView, screen: TopScreen): readonly string[] {
  const { snapshot } = view;
  const lines = [
    ...headLines(view),
    ...problemLines(snapshot),
    ...[
      providerTable(snapshot),
      runningTable(snapshot),
      keyTable(snapshot),
      routeTable(snapshot),
      finishedTable(view.finished),
    ].flatMap((table) => tableLines(table)),
  ];
  const shown = screen.rows === null ? lines : lines.slice(0, screen.rows);
  return shown.map(({ text, style }) => {
    const cut = [...visible(text)].slice(0, screen.columns).join("").trimEnd();
    return screen.isColoured && style !== null ? `\x1b[${style}m${cut}\x1b[0m` : cut;
  });
}

/**
 * A line with its style, a parameter of the terminal's "select graphic rendition"; null for none.
 */
interface Line {
  readonly text: string;
  readonly style: number | null;
}

const BOLD_CODE = 1, RED_CODE = 31, YELLOW_CODE = 33;

function plain(text: string): Line {
  return { text, style: null };
}

function headLines({ snapshot, seconds, isLive }: TopView): readonly Line[] {
  const { version, uptimeMs, generation, gatewayUrl, isDraining, atMs } = snapshot;
  const until = Math.floor(atMs / 1000);
  const recent = seconds.filter(({ second }) => second >= until - MAX_RATE_SECONDS);
  const length = Math.max(1, Math.min(MAX_RATE_SECONDS, Math.floor(uptimeMs / 1000)));
  const sum = (read: (one: SecondView) => number) =>
    recent.reduce((total, one) => total + read(one), 0);
  const rate = (read: (one: SecondView) => number) => `${figure(sum(read) / length)}/s`;
  const last = recent.findLast(({ firstTokenP50Ms }) => firstTokenP50Ms !== null);
  const state = [
    isLive ? "live" : "connection lost",
    ...isDraining ? ["draining"] : [],
  ].join(", ");
  return [
    {
      text: `Switchyard ${version}  ${state}  up ${durationText(uptimeMs)}  ` +
        `generation ${generation}  ${gatewayUrl}`,
      style: isLive ? BOLD_CODE : RED_CODE,
    },
    plain(
      `Calls: ${rate(({ calls }) => calls)}, ` +
        `failures ${rate(({ failures }) => failures)}, ` +
        `refused ${rate(({ refusals }) => refusals)}, ` +
        `not sent ${rate(({ notSent }) => notSent)}, ` +
        `running ${snapshot.runningCount}, finished ${snapshot.finishedCount}`,
    ),
    plain(
      `First token: p50 ${durationText(last?.firstTokenP50Ms ?? null)}, ` +
        `p95 ${durationText(last?.firstTokenP95Ms ?? null)}; ` +
        `tokens in ${rate(({ inputTokens }) => inputTokens)}, ` +
        `out ${rate(({ outputTokens }) => outputTokens)}; ` +
        `cost ${costText(recent, length)}`,
    ),
    storeLine(snapshot),
  ];
}

/** Returns the cost of an hour like these seconds; `-` if none of it is known. */
function costText(seconds: readonly SecondView[], length: number): string {
  const known = seconds.flatMap(({ usd }) => usd ?? []);
  if (known.length === 0 && seconds.length > 0) return "-";
  return `${figure(known.reduce((sum, usd) => sum + usd, 0) / length * 3600)} USD/h`;
}

function storeLine({ store, atMs }: Snapshot): Line {
  const { engine, isUp, awaySinceMs, pingMs, pendingWrites } = store;
  const entries = store.objects.reduce((sum, one) => sum + one.entries, 0);
  const size = entries === 1 ? "1 entry" : `${entries} entries`;
  if (isUp) {
    const ping = pingMs === null ? "" : `, answers in ${durationText(pingMs)}`;
    return plain(`State: ${engine}${ping}, ${size}`);
  }
  const away = durationText(awaySinceMs === null ? null : atMs - awaySinceMs);
  return {
    text: `State: ${engine}, away for ${away}, ` +
      (pendingWrites === 1 ? "1 write waits" : `${pendingWrites} writes wait`),
    style: RED_CODE,
  };
}

function problemLines({ refusedReload, warnings }: Snapshot): readonly Line[] {
  const refused = refusedReload?.lines ?? [];
  return [
    ...refusedReload === null ? [] : [
      { text: "", style: null },
      {
        text: "The last reload was refused; the earlier configuration is in use:",
        style: RED_CODE,
      },
    ],
    ...refused.map((text) => ({ text: `  ${text}`, style: RED_CODE })),
    ...warnings.length === 0 ? [] : [{ text: "", style: null }],
    ...warnings.map((text) => ({ text: `Warning: ${text}`, style: YELLOW_CODE })),
  ];
}

function tableLines({ head, rows, empty }: Table): readonly Line[] {
  if (rows.length === 0 && empty === null) return [];
  const all = [head, ...rows].map((row) => row.map(visible));
  const widths = head.map((_, at) => Math.max(...all.map((row) => [...row[at] ?? ""].length)));
  const [title = "", ...others] = all.map((row) =>
    row.map((field, at) => field + " ".repeat((widths[at] ?? 0) - [...field].length)).join("  ")
  );
  return [
    plain(""),
    { text: title, style: BOLD_CODE },
    ...others.map(plain),
    ...rows.length === 0 && empty !== null ? [plain(empty)] : [],
  ];
}

function providerTable({ providers }: Snapshot): Table {
  return {
    head: ["PROVIDER", "BREAKER", "ATTEMPTS", "FAILED", "P50", "P95", "RUNNING", "KEYS"],
    rows: providers.map((one) => {
      const opens = one.opensInMs === null ? "" : ` ${durationText(one.opensInMs)}`;
      const ready = one.keys.filter(({ isUsed, restsForMs, opensInMs }) =>
        isUsed && restsForMs === null && opensInMs === null
      ).length;
      return [
        one.id,
        one.breaker + opens,
        String(one.attempts),
        String(one.attempts - (one.outcomes["success"] ?? 0)),
        durationText(one.p50Ms),
        durationText(one.p95Ms),
        one.maxConcurrent === null ? "-" : `${one.running ?? 0}/${one.maxConcurrent}`,
        one.credential ?? (one.keys.length === 0 ? "-" : `${ready}/${one.keys.length}`),
      ];
    }),
    empty: null,
  };
}

function routeTable({ routes }: Snapshot): Table {
  return {
    head: ["ROUTE", "TARGET", "SHARE", "SERVED", "CALLS", "FAILED"],
    rows: routes.flatMap(({ name, targets, fallbacks }) =>
      [...targets, ...fallbacks].map((target, at) => [
        at === 0 ? name : "",
        `${at < targets.length ? "" : "fallback "}${target.provider}/${target.model ?? "*"}`,
        target.share === null ? "-" : percent(target.share),
        target.servedShare === null ? "-" : percent(target.servedShare),
        String(target.calls),
        target.failed === 0 ? "0" : `${target.failed} (${percent(target.failed / target.calls)})`,
      ])
    ),
    empty: null,
  };
}
