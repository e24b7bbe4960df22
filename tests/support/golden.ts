/** A request of a golden case. */
export interface GoldenRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer of a golden case. */
export interface GoldenAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One call from its beginning to its end: what each side sends. */
export interface GoldenCase {
  /** Path of the file below the folder that was read, without `.txt`. */
  readonly name: string;
  readonly clientRequest: GoldenRequest;
  readonly upstreamRequest: GoldenRequest;
  readonly upstreamAnswer: GoldenAnswer;
  readonly clientAnswer: GoldenAnswer;
}

const PARTS = ["client request", "upstream request", "upstream answer", "client answer"] as const;
const CUT_OFF = ", cut off";
const STREAMS = ["text/event-stream", "application/x-ndjson"];

interface Part {
  /** Words of the first line. */
  readonly start: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Reads the text of a case: `=== client request`, `=== upstream request`, `=== upstream answer`,
 * `=== client answer` and `=== end`, each on a separate line.
 *
 * A part begins with `POST /v1/chat/completions` or `200 text/event-stream`; header lines, a blank
 * line and the body may follow. A stream keeps the line break at its end, unless its line says
 * `, cut off`; every other body is read without it. Throws when the text is not of this form.
 */
export function parseGolden(name: string, text: string): GoldenCase {
  const marks = [...text.matchAll(/^=== (.*)\n/gm)];
  const titles = marks.map(([, title = ""]) => title.replace(CUT_OFF, ""));
  if (titles.join() !== [...PARTS, "end"].join()) {
    throw new Error(`${name}: the parts are ${titles.join(", ")}`);
  }
  const parts = marks.slice(0, -1).map((mark, index) => {
    const content = text.slice(mark.index + mark[0].length, marks[index + 1]?.index);
    return partOf(content, mark[0].trimEnd().endsWith(CUT_OFF));
  });
  const [clientRequest, upstreamRequest, upstreamAnswer, clientAnswer] = parts;
  return {
    name,
    clientRequest: requestOf(name, clientRequest),
    upstreamRequest: requestOf(name, upstreamRequest),
    upstreamAnswer: answerOf(name, upstreamAnswer),
    clientAnswer: answerOf(name, clientAnswer),
  };
}

function partOf(content: string, isCutOff: boolean): Part {
  const blank = content.indexOf("\n\n");
  const head = blank < 0 ? content.trimEnd() : content.slice(0, blank);
  const [first = "", ...lines] = head.split("\n");
  const start = first.split(" ");
  const headers = Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  }));
  const body = blank < 0 ? "" : content.slice(blank + 2);
  const isStream = start.some((word) => STREAMS.includes(word));
  return { start, headers, body: isStream && !isCutOff ? body : body.replace(/\n$/, "") };
}

function requestOf(name: string, part: Part | undefined): GoldenRequest {
  const [method, path] = part?.start ?? [];
  if (part === undefined || method === undefined || !path?.startsWith("/")) {
    throw new Error(`${name}: a request begins with its method and its path`);
  }
  return { method, path, headers: part.headers, body: part.body };
}

function answerOf(name: string, part: Part | undefined): GoldenAnswer {
  const [status, type] = part?.start ?? [];
  if (part === undefined || !/^\d{3}$/.test(status ?? "")) {
    throw new Error(`${name}: an answer begins with its status`);
  }
  const headers = type === undefined ? part.headers : { "content-type": type, ...part.headers };
  return { status: Number(status), headers, body: part.body };
}

/** Reads one case; it is named after its file. Throws when the file is not of the form. */
export function readGolden(path: string): GoldenCase {
  const name = path.split("/").at(-1)?.replace(/\.txt$/, "") ?? path;
  return parseGolden(name, Deno.readTextFileSync(path));
}

/** Every `.txt` file below the folder as a case, by name. */
export function goldenCases(folder: string): readonly GoldenCase[] {
  const cases: GoldenCase[] = [];
  for (const entry of Deno.readDirSync(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) {
      const inside = goldenCases(path);
      cases.push(...inside.map((found) => ({ ...found, name: `${entry.name}/${found.name}` })));
    } else if (entry.name.endsWith(".txt")) {
      cases.push(readGolden(path));
    }
  }
  return cases.toSorted((a, b) => a.name < b.name ? -1 : 1);
}

/** The same stream with the other line end that upstreams use. */
export function withCrlf(text: string): string {
  return text.replaceAll("\n", "\r\n");
}
