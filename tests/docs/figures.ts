/**
 * A number of the documentation with what it counts, in base units: milliseconds, bytes, shares.
 */
export interface Figure {
  /** As the page has it: `30 minutes`, `9,000 requests a second`. */
  readonly text: string;
  /** The values of it; a range has two. */
  readonly values: readonly number[];
  readonly kind: "time" | "size" | "share" | "factor" | "count";
}

const TIMES: Readonly<Record<string, number>> = {
  ns: 1e-6,
  nanosecond: 1e-6,
  µs: 1e-3,
  microsecond: 1e-3,
  ms: 1,
  millisecond: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 2_592_000_000,
  year: 31_536_000_000,
};
const SIZES: Readonly<Record<string, number>> = {
  byte: 1,
  kB: 1000,
  KB: 1000,
  KiB: 1024,
  kilobyte: 1000,
  MB: 1e6,
  MiB: 1024 ** 2,
  megabyte: 1e6,
  GB: 1e9,
  GiB: 1024 ** 3,
  gigabyte: 1e9,
  TB: 1e12,
};
const SHARES = ["%", "percent", "per cent"];
const FACTORS = ["times", "fold", "-fold", "x", "×"];

const SMALL: readonly string[] = (
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen " +
  "sixteen seventeen eighteen nineteen"
).split(" ");
const SPELLED: Readonly<Record<string, number>> = {
  ...Object.fromEntries(SMALL.map((word, at) => [word, at])),
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  ninety: 90,
  a: 1,
  an: 1,
  half: 0.5,
  "half a": 0.5,
  dozen: 12,
};
const POWERS: Readonly<Record<string, number>> = {
  hundred: 100,
  thousand: 1000,
  million: 1e6,
  billion: 1e9,
  k: 1000,
  K: 1000,
  M: 1e6,
};

const DIGITS = String.raw`\d+(?:,\d{3})*(?:\.\d+)?`;
const WORDS = Object.keys(SPELLED).filter((word) => !["a", "an", "half"].includes(word)).join("|");
const POWER = "hundred|thousand|million|billion";
const NUMBER = `(?:${DIGITS}(?:[kKM](?!\\w)| (?:${POWER})s?\\b)?|` +
  `\\b(?:${WORDS}|an?)(?: (?:${POWER})s?\\b)|\\b(?:${WORDS})\\b)`;
const START = String.raw`(?<![\w.,:/#+-]|\b[A-Z]\w* |\b[Vv]ersions? |up to version )`;
const UNIT = [...Object.keys(TIMES), ...Object.keys(SIZES)].map((unit) =>
  unit.length > 2 && !unit.endsWith("B") ? `${unit}s?` : unit
).concat(SHARES, FACTORS).join("|");

/**
 * A number with a unit, or two of them, also behind a capital letter: `1-2 ms`, `Latency 5 ms`. `a
 * second` alone is none, `half a second` is.
 */
const WITH_UNIT = new RegExp(
  `(?<![\\w.,:/#+-])(${NUMBER})(?:(?: (?:to|and|or) |[-–])(${NUMBER}))? ?-?(${UNIT})(?![\\w-])`,
  "g",
);
/** An amount of money: `$5`, `500 USD`. */
const MONEY = new RegExp(
  `[$€] ?(${DIGITS})(?![\\w-])|(?<![\\w.,])(${DIGITS}) ?(?:USD|EUR|[$€]|dollars?|euros?|cents?)(?![\\w-])`,
  "g",
);
/**
 * A number of things in digits, from 10 on; smaller ones are in every program. Statuses are none.
 */
const COUNT = new RegExp(`${START}(?![2-5]\\d\\d )(\\d{2,}) (?:[a-z]+ )?[a-z]{2,}s(?![\\w-])`, "g");
/** A number of things in a time: `9,000 requests a second`, `20 requests/s`. */
const RATE = new RegExp(
  `${START}(${NUMBER})(?: (?:rps|qps)|(?: [a-z]+){0,2}(?:/| ?(?:an?|per|each|every) )` +
    "(?:s|second|minute|hour|day))\\b",
  "g",
);
/** A number in words of a bound, or one that is large enough to be written with a comma. */
const BOUND = new RegExp(
  String.raw`\b(?:at most|at least|up to|more than|less than|fewer than|over|below|above|only)` +
    String.raw` (?:the (?:last|first|newest) )?(?<![-\w])(${NUMBER})(?![\w.:/-]*\w)`,
  "gi",
);
const LARGE = new RegExp(
  `${START}(\\d{1,3}(?:,\\d{3})+|\\d+(?:\\.\\d+)?e\\d+|\\d+(?:\\.\\d+)?[kKM](?!\\w)|` +
    `\\b(?:${WORDS}|an?|\\d+) (?:${POWER}))s?(?![\\w-])`,
  "g",
);
/** A ratio: `0.75`, `1 in 10`, `3:1`. Versions have a name before them. */
const RATIO = /(?<![\w.,:/-]|[A-Z]\w* |[Vv]ersions? |up to )(\d+\.\d+)(?!\.?[\w-])/g;
const TO_ONE = /(?<![\w.,:])(\d+):1(?![\d:])/g;
const ONE_IN = new RegExp(`${START}(${NUMBER}) (?:in|of|out of) (?:every )?(${NUMBER})\\b`, "g");
/** A part of something: `a third of`, `a tenth more`, `2/3`. */
const PARTS: Readonly<Record<string, number>> = {
  half: 2,
  third: 3,
  quarter: 4,
  fifth: 5,
  tenth: 10,
  hundredth: 100,
};
const PART = new RegExp(
  `\\b(?:an?|(${SMALL.join("|")})) (${Object.keys(PARTS).join("|")})s? (?:of|more|less|as)\\b`,
  "gi",
);
const FRACTION = /(?<![\w/.,:-])(\d+)\/(\d+)(?![\w/])/g;

/** Returns the figures of a text without code. One number is listed once. */
export function figuresIn(prose: string): readonly Figure[] {
  const found: (Figure & { readonly at: number; readonly end: number })[] = [];
  function add(match: RegExpExecArray, values: readonly number[], kind: Figure["kind"]) {
    const at = match.index;
    const end = at + match[0].length;
    if (found.some((other) => at < other.end && other.at < end)) return;
    found.push({ at, end, text: match[0], values, kind });
  }
  for (const match of prose.matchAll(WITH_UNIT)) {
    const [, first = "", second, unit = ""] = match;
    const { kind, factor } = unitOf(unit);
    const numbers = second === undefined ? [first] : [first, second];
    add(match, numbers.map((one) => numberOf(one) * factor), kind);
  }
  for (const match of prose.matchAll(ONE_IN)) {
    add(match, [numberOf(match[1] ?? ""), numberOf(match[2] ?? "")], "count");
  }
  for (const match of prose.matchAll(PART)) {
    const [, count = "one", part = ""] = match;
    add(match, [numberOf(count) / (PARTS[part.toLowerCase()] ?? 1)], "factor");
  }
  for (const match of prose.matchAll(FRACTION)) {
    add(match, [Number(match[1]) / Number(match[2])], "factor");
  }
  for (const pattern of [RATE, LARGE, BOUND, RATIO, TO_ONE, MONEY, COUNT]) {
    for (const match of prose.matchAll(pattern)) {
      add(match, [numberOf(match[1] ?? match[2] ?? "")], "count");
    }
  }
  return found.toSorted((a, b) => a.at - b.at).map(({ text, values, kind }) => ({
    text,
    values,
    kind,
  }));
}

function unitOf(text: string): { readonly kind: Figure["kind"]; readonly factor: number } {
  const unit = text.length > 2 ? text.replace(/s$/, "") : text;
  const time = TIMES[text] ?? TIMES[unit];
  if (time !== undefined) return { kind: "time", factor: time };
  const size = SIZES[text] ?? SIZES[unit];
  if (size !== undefined) return { kind: "size", factor: size };
  return SHARES.includes(text) ? { kind: "share", factor: 0.01 } : { kind: "factor", factor: 1 };
}

/** Returns the value of a number in digits or words: `9,000`, `1k`, `two million`. */
export function numberOf(text: string): number {
  const [, digits, power] = /^([\d,.]+) ?(\w+)?$/.exec(text) ?? [];
  const [head = "", tail = ""] = text.toLowerCase().split(/ (?=\w+$)/);
  return digits === undefined
    ? (SPELLED[head] ?? 1) * (POWERS[tail.replace(/s$/, "")] ?? 1)
    : Number(digits.replaceAll(",", "")) * (POWERS[(power ?? "").replace(/s$/, "")] ?? 1);
}

/** A numeric literal of TypeScript, or a product of some. */
const LITERAL = String.raw`\d[\d_]*(?:\.\d+)?(?:e\d+)?`;
const PRODUCT = new RegExp(
  String.raw`(?<![\w.])${LITERAL}(?: ?(?:\*\*|\*|<<) ?${LITERAL})*(?![\w.]*\w)`,
  "g",
);
/** A number in the value of a constant with a unit in its name: `FIRST_PROBE_S = 30`. */
const NAMED = /\b\w*_(MS|S|MIN|MINUTES|H|HOURS|DAYS|KIB|MIB)\b(?:: number)? ?= ?(\d[\d_]*)/g;
const NAMED_UNITS: Readonly<Record<string, number>> = {
  MS: 1,
  S: 1000,
  MIN: 60_000,
  MINUTES: 60_000,
  H: 3_600_000,
  HOURS: 3_600_000,
  DAYS: 86_400_000,
  KIB: 1024,
  MIB: 1024 ** 2,
};
/** A duration of the configuration: `30s`, `1h30m`. */
const DURATION = /(?<![\w.])(\d+)(ms|s|m|h|d)(?!\w)/g;
const DURATION_UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A size in a unit of systemd: `MemoryMax=2G`. */
const SYSTEMD_SIZE = /(?<!\w)(\d+)([KMG])(?!\w)/g;
const SYSTEMD_UNITS: Readonly<Record<string, number>> = { K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** The numbers that a program has: literals and products, and those with a unit. */
export interface ProgramNumbers {
  readonly plain: ReadonlySet<number>;
  readonly times: ReadonlySet<number>;
  readonly sizes: ReadonlySet<number>;
}

/** Returns the numbers in the text of a program. */
export function programNumbers(text: string): ProgramNumbers {
  const plain = new Set<number>(), times = new Set<number>(), sizes = new Set<number>();
  for (const [product] of text.matchAll(PRODUCT)) plain.add(valueOfProduct(product));
  for (const [, unit = "", digits = ""] of text.matchAll(NAMED)) {
    const value = Number(digits.replaceAll("_", "")) * (NAMED_UNITS[unit] ?? 1);
    (unit.endsWith("IB") ? sizes : times).add(value);
  }
  for (const [, digits, unit = ""] of text.matchAll(DURATION)) {
    times.add(Number(digits) * (DURATION_UNITS[unit] ?? 1));
  }
  for (const [, digits, unit = ""] of text.matchAll(SYSTEMD_SIZE)) {
    sizes.add(Number(digits) * (SYSTEMD_UNITS[unit] ?? 1));
  }
  for (const { kind, values } of figuresIn(text)) {
    const set = kind === "time" ? times : kind === "size" ? sizes : plain;
    values.forEach((value) => set.add(value));
  }
  return { plain, times, sizes };
}

function valueOfProduct(product: string): number {
  return product.replaceAll("_", "").split(/ ?(?<!\*)\*(?!\*) ?/).map((factor) => {
    const [base = 0, power = 1] = factor.split("**").map(Number);
    const [number = 0, shift = 0] = factor.split("<<").map(Number);
    return factor.includes("<<") ? number * 2 ** shift : base ** power;
  }).reduce((product, factor) => product * factor, 1);
}

/**
 * True if a program has each value of a figure. Times and sizes below a thousand need their unit.
 */
export function hasFigure(numbers: ProgramNumbers, { text, values, kind }: Figure): boolean {
  return values.every((value) => {
    if (/ bytes?$/.test(text)) return near(value);
    if (kind === "time") return numbers.times.has(value) || isLarge(value);
    if (kind === "size") return numbers.sizes.has(value) || isLarge(value);
    if (kind === "share") return near(value) || near(value * 100);
    return near(value);
  });
  function isLarge(value: number): boolean {
    return value >= 50 && numbers.plain.has(value);
  }
  function near(value: number): boolean {
    return numbers.plain.has(Number(value.toPrecision(12)));
  }
}
