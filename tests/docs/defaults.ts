import { type Figure, figuresIn, programNumbers } from "./figures.ts";
import { type Page, pageText, proseOf, tableIn } from "./pages.ts";

/** The defaults of the generated reference by key, without quotes: `120s`, `268435456`. */
const DEFAULTS: ReadonlyMap<string, string> = new Map(
  tableIn(pageText("docs/reference/configuration.md")).map(([key = "", , value = ""]) => [
    withoutQuotes(key),
    withoutQuotes(value),
  ]),
);

function withoutQuotes(text: string): string {
  return text.replaceAll("`", "");
}

/**
 * Returns the defaults of a key, which may be written without its beginning: `providers.*.timeout`,
 * `timeout`.
 */
export function defaultsOf(key: string): readonly string[] {
  const ending = key.replace(/^providers\.(?:\*|NAME)\./, "providers.<id>.");
  return [...DEFAULTS].filter(([name]) => name === ending || name.endsWith(`.${ending}`))
    .map(([, value]) => value);
}

/**
 * A figure or a number next to its key: `` `server.idle_timeout` (120 s) ``, `` `keep_alive`, 4 s
 * ``.
 */
const BESIDE_KEY = /`([a-z][\w.*]*)`(?: \(|, (?=\d+ (?:s|ms)\b))(\d[\d,]*(?: [A-Za-z]+)?)/g;

/** Returns a line for each value behind the name of a key that is not the default of that key. */
export function wrongDefaults(pages: readonly Page[]): readonly string[] {
  return pages.flatMap(({ path, text }) => {
    const prose = proseOf(text).replaceAll(/\s+/g, " ");
    return [...prose.matchAll(BESIDE_KEY)].flatMap(([, key = "", value = ""]) => {
      const defaults = defaultsOf(key).filter((one) => /^\d/.test(one));
      return defaults.length === 0 || defaults.some((one) => isEqual(one, value))
        ? []
        : [`${path}: \`${key}\` (${value}): the default is ${defaults.join(" or ")}`];
    });
  });
}

function isEqual(given: string, written: string): boolean {
  const [figure] = figuresIn(written);
  const value = figure?.values[0] ?? Number(/^[\d,]+/.exec(written)?.[0].replaceAll(",", ""));
  const isTime = figure?.kind === "time";
  const { times, plain } = programNumbers(given);
  return isTime ? times.has(value) : plain.has(value);
}

/** True if a figure is the default of one of these keys. */
export function isDefaultOf(keys: readonly string[], figure: Figure): boolean {
  return keys.flatMap(defaultsOf).some((value) => isEqual(value, figure.text));
}
