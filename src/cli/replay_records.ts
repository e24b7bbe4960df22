import { pushAll } from "../core/push_all.ts";
import { exportLine } from "../record/export_record.ts";
import type { Hit } from "../record/record_file.ts";
import type { RecordPlace, RecordText, ReplayFilter } from "../replay/record_set.ts";
import { placesIn } from "../replay/record_set.ts";
import { optionValue, type OptionValues } from "./arguments.ts";
import { findSource, type LogProblem } from "./log_source.ts";
import type { Terminal } from "./terminal.ts";

/** Maximum size of the records that are read from a gateway or its file. */
const MAX_READ_BYTES = 512 * 1024 * 1024;

/** The text of records, or the problems as sentences. */
export type OpenedText =
  | { readonly ok: true; readonly text: RecordText & Disposable }
  | { readonly ok: false; readonly problems: readonly string[]; readonly isUsage: boolean };

/** Opens the records that the options name: an exported file, else those of the gateway. */
export async function openText(
  options: OptionValues,
  filter: ReplayFilter,
  terminal: Terminal,
): Promise<OpenedText> {
  const path = optionValue(options, "records");
  return path === undefined ? await readGateway(options, filter, terminal) : openFile(path);
}

function openFile(path: string): OpenedText {
  let file: Deno.FsFile | null = null;
  try {
    // Records are read again by their places, which a folder or a pipe does not have.
    if (Deno.statSync(path).isFile) file = Deno.openSync(path, { read: true });
  } catch {
    // As a place without a file.
  }
  if (file === null) {
    return { ok: false, problems: [`The file ${path} cannot be read.`], isUsage: false };
  }
  const readInto = (buffer: Uint8Array, start: number) => {
    file.seekSync(start, Deno.SeekMode.Start);
    return file.readSync(buffer) ?? 0;
  };
  const decoder = new TextDecoder();
  return {
    ok: true,
    text: {
      places: () => placesIn(readInto),
      textAt({ start, length }) {
        const bytes = new Uint8Array(length);
        let size = 0;
        for (let count = 1; size < length && count > 0; size += count) {
          count = readInto(bytes.subarray(size), start + size);
        }
        return decoder.decode(bytes.subarray(0, size));
      },
      [Symbol.dispose]: () => file.close(),
    },
  };
}

/**
 * Reads the records of the gateway into memory: of its file, or of its admin listener while it
 * runs.
 */
async function readGateway(
  options: OptionValues,
  { key, sinceMs }: ReplayFilter,
  terminal: Terminal,
): Promise<OpenedText> {
  const found = await findSource(options, terminal);
  if (!found.ok) return { ...found, isUsage: false };
  const { source } = found;
  const lines: Uint8Array[] = [];
  const encoder = new TextEncoder();
  let bytes = 0;
  const ofKey = {
    before: null,
    filter: (name: string) => name === "key" ? key ?? undefined : undefined,
  };
  let problem: LogProblem | null;
  try {
    // The times of a filter are before the newest record, which no call with a later time follows.
    let newest = NaN;
    problem = await source.search(
      { ...ofKey, limit: 1, withContent: false },
      (hit) => newest = timeOf(hit),
    );
    const since = sinceMs(newest);
    const from = Number.isFinite(since) ? new Date(since).toISOString() : undefined;
    problem ??= await source.search({
      ...ofKey,
      limit: Infinity,
      withContent: true,
      filter: (name) => name === "since" ? from : ofKey.filter(name),
      // Those that cannot be read may be of the key.
      onClosed: (records) => pushAll(lines, Array(records).fill(NO_BYTES)),
    }, (hit) => {
      const line = encoder.encode("record" in hit ? exportLine(hit.record) : "");
      bytes += line.length;
      if (bytes <= MAX_READ_BYTES) lines.push(line);
    });
  } finally {
    source.close();
  }
  if (problem !== null) return { ok: false, problems: [problem.text], isUsage: problem.isUsage };
  if (bytes > MAX_READ_BYTES) {
    const advice = 'The records are too large; write "switchyard log --export" into a file, ' +
      "and name it with --records.";
    return { ok: false, problems: [advice], isUsage: false };
  }
  const decoder = new TextDecoder();
  const places = lines.map(({ length }, start): RecordPlace => ({ start, length }));
  return {
    ok: true,
    text: {
      places: () => places,
      textAt: ({ start }) => decoder.decode(lines[start]),
      [Symbol.dispose]: () => {},
    },
  };
}

/** Line of a record that cannot be read. */
const NO_BYTES = new Uint8Array();

/** Returns the Unix time of a found record in milliseconds. */
function timeOf(hit: Hit): number {
  return "record" in hit ? Date.parse(hit.record.at) : hit.at;
}
