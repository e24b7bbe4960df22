import { newCalendar } from "../core/calendar.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Log } from "../observe/log.ts";
import { recordCurl } from "../record/curl.ts";
import { dialogueOf } from "../record/dialogue.ts";
import { FILTER_NAMES, parseFilter } from "../record/filter_options.ts";
import type { Recorder } from "../record/recorder.ts";
import {
  DEFAULT_LIMIT_RECORDS,
  MAX_LIMIT_RECORDS,
  parseNumber,
  searchRecords,
} from "../record/search.ts";

/** Response to a request for records. */
export interface LogResponse {
  readonly status: 200 | 400 | 404 | 503;
  readonly type: string;
  readonly body: string | ReadableStream<Uint8Array>;
}

/** Dependencies of requests for records. */
export interface LogDeps {
  readonly gateway: Pick<Gateway, "generation" | "world" | "metrics">;
  /** Null if no calls are recorded, or if the listener has no password. */
  readonly scan: Recorder["scan"] | null;
  readonly log: Pick<Log, "info">;
  /** Returns the address that the gateway listens on. */
  gatewayUrl(): string;
}

/** Answers requests for records. `address` is that of the client. */
export interface AdminLog {
  /** Returns the records of a search as JSON lines, the newest first. */
  list(query: URLSearchParams, address: string): LogResponse;
  /** Returns one record with its content, its dialogue and the command that sends it again. */
  show(id: string, address: string): Promise<LogResponse>;
}

/** Maximum number of searches at the same time. */
const MAX_SEARCHES_COUNT = 5;

const TEXT_TYPE = "text/plain; charset=utf-8", LINES_TYPE = "application/x-ndjson";

const NOT_FOUND: LogResponse = {
  status: 404,
  type: TEXT_TYPE,
  body: "This path is not offered here.\n",
};

/** Returns the answers to requests for records. */
export function newAdminLog({ gateway, scan, log, gatewayUrl }: LogDeps): AdminLog {
  let searches = 0;

  function list(query: URLSearchParams, address: string): LogResponse {
    if (scan === null) return NOT_FOUND;
    const { generation, world, metrics } = gateway;
    const calendar = newCalendar(generation.config.security.time_zone);
    const valueOf = (name: string) => query.get(name) ?? undefined;
    const parsed = parseFilter(valueOf, { wallMs: world.wall(), calendar });
    if (!parsed.ok) return wrong(`${parsed.option} ${parsed.problem}`);
    const unknown = [...query.keys()].find((name) => !KNOWN.has(name));
    if (unknown !== undefined) return wrong(`${unknown.slice(0, 100)} is not a known parameter.`);
    const content = query.get("content");
    const withContent = content === "true";
    // An export has no limit, also without content.
    const isExport = withContent || content === "none";
    const written = valueOf("limit");
    const limit = written === "Infinity" && isExport
      ? Infinity
      : parseNumber(written, DEFAULT_LIMIT_RECORDS);
    const before = parseNumber(valueOf("cursor"), null);
    if (limit === undefined || limit < 1) return wrong("limit must be a number.");
    if (!isExport && limit > MAX_LIMIT_RECORDS) {
      return wrong(`limit is at most ${MAX_LIMIT_RECORDS}.`);
    }
    if (before === undefined) return wrong("cursor must be a number.");
    if (searches >= MAX_SEARCHES_COUNT) return busy();
    searches++;
    metrics.recordsSearched();
    if (withContent || (parsed.filter.text ?? parsed.filter.regex) !== undefined) {
      log.info("records searched", { with_content: withContent, address });
    }
    const search = { filter: parsed.filter, limit, before, withContent };
    const body = linesOf((isLeft) => searchRecords(scan, search, isLeft), () => searches--);
    return { status: 200, type: LINES_TYPE, body };
  }

  async function show(id: string, address: string): Promise<LogResponse> {
    if (scan === null) return NOT_FOUND;
    if (searches >= MAX_SEARCHES_COUNT) return busy();
    searches++;
    try {
      const search = { filter: { id: [id] }, limit: 1, before: null, withContent: true };
      for await (const hit of searchRecords(scan, search)) {
        if (hit === null) return busy();
        if (!("record" in hit)) continue;
        const { record } = hit;
        log.info("record read", { id, address });
        const shown = {
          record,
          dialogue: dialogueOf(record),
          curl: recordCurl(record, {
            gatewayUrl: gatewayUrl(),
            keyPlace: gateway.generation.config.security.api_key,
          }),
        };
        return { status: 200, type: "application/json", body: `${JSON.stringify(shown)}\n` };
      }
    } finally {
      searches--;
    }
    return { ...NOT_FOUND, body: "There is no record of this call.\n" };
  }

  return { list, show };
}

const KNOWN: ReadonlySet<string> = new Set([...FILTER_NAMES, "limit", "cursor", "content"]);

function wrong(text: string): LogResponse {
  return { status: 400, type: TEXT_TYPE, body: `${text}\n` };
}

function busy(): LogResponse {
  return { status: 503, type: TEXT_TYPE, body: "The records cannot be searched now; try again.\n" };
}

/**
 * Returns the lines of hits. Each is searched for when the client has room for it, and the search
 * ends when the client leaves; `onEnd` is called once.
 */
function linesOf(
  search: (isLeft: () => boolean) => ReturnType<typeof searchRecords>,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isLeft = false;
  const hits = search(() => isLeft);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await hits.next();
      if (isLeft) return;
      if (done === true) {
        onEnd();
        return controller.close();
      }
      const line = value ?? { error: "The file of records cannot be read." };
      controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
    },
    async cancel() {
      isLeft = true;
      await hits.return();
      onEnd();
    },
  }, { highWaterMark: 0 });
}
