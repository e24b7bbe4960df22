import type { Config } from "../config/schema.ts";
import { USUAL_KEY_PLACE } from "../config/security_schema.ts";
import { newCalendar } from "../core/calendar.ts";
import { Cancellation } from "../core/cancellation.ts";
import { isObject, parseJson } from "../core/json/json.ts";
import { newNdjsonFraming } from "../formats/ndjson.ts";
import { FILTER_NAMES, type FilterName, parseFilter } from "../record/filter_options.ts";
import { MaskingTimeout } from "../record/mask_text.ts";
import type { CurlPlace } from "../record/curl.ts";
import type { Hit, RecordFile } from "../record/record_file.ts";
import { parseRecord } from "../record/record.ts";
import { MAX_LIMIT_RECORDS, searchRecords } from "../record/search.ts";
import { findPlace } from "./admin_place.ts";
import { optionValue, type OptionValues } from "./arguments.ts";
import { loadConfig } from "./command.ts";
import { urlOf } from "./listen.ts";
import { texts } from "./post_json.ts";
import { newRealWorld } from "./real_world.ts";
import type { Terminal } from "./terminal.ts";
import type { Place } from "./top_screen.ts";

/** A search as a command has it. */
export interface LogSearch {
  readonly limit: number;
  readonly before: number | null;
  readonly withContent: boolean;
  /** Returns the value of an option of the filter. */
  filter(name: FilterName): string | undefined;
  /** Receives the number of records that were passed by because they cannot be opened. */
  onClosed?(records: number): void;
}

/** Where a command reads records. */
export interface LogSource extends CurlPlace {
  /**
   * Calls `each` with the found records, the newest first. Returns null, or the problem as a
   * sentence; `isUsage` is set if an option is wrong.
   */
  search(search: LogSearch, each: (hit: Hit) => void): Promise<LogProblem | null>;
  close(): void;
}

/** Why a search has ended early. */
export interface LogProblem {
  readonly text: string;
  readonly isUsage: boolean;
}

/** The source of records, or the problems as sentences. */
export type FoundSource =
  | { readonly ok: true; readonly source: LogSource }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Returns the source of records: the file while no gateway has it open, else the admin listener of
 * that gateway.
 */
export async function findSource(options: OptionValues, terminal: Terminal): Promise<FoundSource> {
  const written = optionValue(options, "file");
  if (written === undefined && optionValue(options, "url") !== undefined) {
    const unknown = { gatewayUrl: "", keyPlace: USUAL_KEY_PLACE };
    return await listenerSource(options, terminal, unknown);
  }
  const loaded = await loadConfig(options, terminal);
  if (!loaded.ok) return { ok: false, problems: loaded.problems };
  const { config } = loaded;
  const record = written === undefined ? config.record : { ...config.record, path: written };
  const place = {
    gatewayUrl: urlOf(config.server.host, config.server.port),
    keyPlace: config.security.api_key,
  };
  // Loaded only now, because most commands open no database.
  const { openRecords } = await import("../record/read_records.ts");
  const opened = openRecords({ ...config, record });
  if (opened.ok) return fileSource(opened.file, config, place);
  if (opened.reason !== "locked" || written !== undefined) {
    return { ok: false, problems: [opened.problem] };
  }
  const found = await listenerSource(options, terminal, place);
  if (found.ok) return found;
  const running = `A gateway has ${record.path} open, so records are read from its admin listener.`;
  return { ok: false, problems: [running, ...found.problems] };
}

function fileSource(
  file: RecordFile,
  { security }: Config,
  place: CurlPlace,
): FoundSource {
  const calendar = newCalendar(security.time_zone);
  return {
    ok: true,
    source: {
      ...place,
      async search({ filter: valueOf, onClosed, ...rest }, each) {
        const parsed = parseFilter(valueOf, { wallMs: Date.now(), calendar });
        if (!parsed.ok) return { text: `--${parsed.option} ${parsed.problem}`, isUsage: true };
        for await (const hit of searchRecords(file.scan, { ...rest, filter: parsed.filter })) {
          if (hit === null) return { text: "The file of records is damaged.", isUsage: false };
          if ("closed" in hit) onClosed?.(hit.closed);
          else each(hit);
        }
        return null;
      },
      close: () => file.close(),
    },
  };
}

async function listenerSource(
  options: OptionValues,
  terminal: Terminal,
  place: CurlPlace,
): Promise<FoundSource> {
  const listener = await findPlace(options, terminal);
  if (!listener.ok) return listener;
  const world = newRealWorld();
  return {
    ok: true,
    source: {
      ...place,
      search: (search, each) => readListener(listener, search, each, world),
      close: () => world.close(),
    },
  };
}

async function readListener(
  { url, headers }: Place,
  { limit, before, withContent, filter, onClosed }: LogSearch,
  each: (hit: Hit) => void,
  world: ReturnType<typeof newRealWorld>,
): Promise<LogProblem | null> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (before !== null) query.set("cursor", String(before));
  if (withContent || limit > MAX_LIMIT_RECORDS) query.set("content", String(withContent || "none"));
  for (const name of FILTER_NAMES) {
    const value = filter(name);
    if (value !== undefined) query.set(name, value);
  }
  const problem = (text: string): LogProblem => ({ text, isUsage: false });
  try {
    const response = await world.send(`${url}/log?${query}`, {
      method: "GET",
      headers,
      body: null,
      cancellation: new Cancellation(),
    });
    const framing = newNdjsonFraming();
    let refusal = "";
    for await (const text of texts(response)) {
      if (response.status !== 200) {
        refusal += text;
        continue;
      }
      for (const { data } of framing.push(text)) {
        const hit = parseHit(data);
        if (typeof hit === "number") {
          onClosed?.(hit);
          continue;
        }
        if (hit === null) return problem(`The search has ended early: ${url} reports an error.`);
        each(hit);
      }
    }
    switch (response.status) {
      case 200:
        return null;
      case 400:
        return { text: `--${refusal.trim()}`, isUsage: true };
      case 401:
        return problem(`The admin listener at ${url} requires its password.`);
      case 404:
        return problem(
          `The admin listener at ${url} shows no records: it needs admin.password and record.enabled, ` +
            "and its log says if the file could not be opened.",
        );
      default:
        return problem(`${url} answers with status ${response.status}; try again.`);
    }
  } catch (error) {
    // Of the reader of the records, not of the listener.
    if (error instanceof MaskingTimeout) throw error;
    return problem(`Nothing answers at ${url}: set admin.enabled to true, or stop the gateway.`);
  }
}

/**
 * Returns the hit in a line of the admin listener, or the number of records that were passed by;
 * null for any other line.
 */
function parseHit(line: string): Hit | number | null {
  const value = parseJson(line);
  if (isObject(value) && typeof value.closed === "number") return value.closed;
  if (!isObject(value) || typeof value.seq !== "number") return null;
  const { seq, at, keyNumber, excerpt } = value;
  if (typeof at === "number") {
    return { seq, at, keyNumber: typeof keyNumber === "number" ? keyNumber : null };
  }
  const parsed = parseRecord(JSON.stringify(value.record));
  if (!parsed.ok) return null;
  return { seq, record: parsed.record, excerpt: typeof excerpt === "string" ? excerpt : null };
}
