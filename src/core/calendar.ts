/** Lengths of the calendar windows of budgets. */
export const CALENDAR_PERIODS = ["hour", "day", "week", "month"] as const;

/** Length of a calendar window. A week begins on Monday. */
export type CalendarPeriod = (typeof CALENDAR_PERIODS)[number];

/** One hour, day, week or month of a calendar. */
export interface CalendarWindow {
  /**
   * Name that no other window of the calendar has: `h:2026-11-22T14+01:00`, `d:2026-11-22`,
   * `w:2026-11-16` (its Monday) or `m:2026-11`.
   */
  readonly name: string;
  /** First millisecond of the window, and the first one after it, in Unix time. */
  readonly startMs: number;
  readonly endMs: number;
}

/** Windows and days in one time zone. */
export interface Calendar {
  readonly timeZone: string;
  /** Returns the window that has this Unix time in milliseconds. */
  windowOf(period: CalendarPeriod, wallMs: number): CalendarWindow;
  /** Returns the date that has this Unix time in milliseconds, such as `2026-11-22`. */
  dateOf(wallMs: number): string;
  /** Returns the Unix time in milliseconds at which a date such as `2027-06-30` begins. */
  startOfDay(date: string): number;
}

/** True for the name of a time zone that this machine knows, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** True for a date of the Gregorian calendar, written as `2027-06-30`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/**
 * Returns the calendar of a time zone. The windows of a period follow each other without gap and
 * overlap, whatever the time zone does. The latest window of each period is stored, because a time
 * zone costs far more than a comparison.
 */
export function newCalendar(timeZone: string): Calendar {
  const latest = new Map<CalendarPeriod, CalendarWindow>();
  const calendar: Calendar = {
    timeZone,
    windowOf(period, wallMs) {
      const earlier = latest.get(period);
      if (earlier !== undefined && wallMs >= earlier.startMs && wallMs < earlier.endMs) {
        return earlier;
      }
      const time = Temporal.Instant.fromEpochMilliseconds(Math.floor(wallMs))
        .toZonedDateTimeISO(timeZone);
      const found = period === "hour" ? hourOf(time) : daysOf(period, time);
      latest.set(period, found);
      return found;
    },
    dateOf: (wallMs) => calendar.windowOf("day", wallMs).name.slice("d:".length),
    startOfDay: (date) => startOf(Temporal.PlainDate.from(date), timeZone),
  };
  return calendar;
}

/**
 * Returns the hour of a time. A change of the clock ends an hour, and the next one has another
 * offset in its name, so that a repeated hour is a window besides the first one.
 */
function hourOf(time: Temporal.ZonedDateTime): CalendarWindow {
  const { epochMilliseconds: at, offset, minute, second, millisecond } = time;
  const startMs = at - ((minute * 60 + second) * 1000 + millisecond);
  const before = time.add({ milliseconds: 1 }).getTimeZoneTransition("previous");
  const after = time.getTimeZoneTransition("next");
  const hour = `${time.toPlainDate()}T${String(time.hour).padStart(2, "0")}`;
  return {
    name: `h:${hour}${offset}`,
    startMs: Math.max(startMs, before?.epochMilliseconds ?? startMs),
    endMs: Math.min(startMs + HOUR_MS, after?.epochMilliseconds ?? Infinity),
  };
}

const HOUR_MS = 3_600_000;

/** Returns the window of whole days that has a time. */
function daysOf(
  period: Exclude<CalendarPeriod, "hour">,
  time: Temporal.ZonedDateTime,
): CalendarWindow {
  const { timeZoneId: zone, epochMilliseconds: at } = time;
  const today = time.toPlainDate();
  const tomorrow = today.add({ days: 1 });
  // If clocks go back over midnight the previous date appears again; the new day stays current.
  const date = at >= startOf(tomorrow, zone) ? tomorrow : today;
  const first = firstDay(period, date);
  return {
    name: period === "month" ? `m:${first.toPlainYearMonth()}` : `${period[0]}:${first}`,
    startMs: startOf(first, zone),
    endMs: startOf(first.add(LENGTHS[period]), zone),
  };
}

const LENGTHS = { day: { days: 1 }, week: { days: 7 }, month: { months: 1 } } as const;

function firstDay(
  period: Exclude<CalendarPeriod, "hour">,
  date: Temporal.PlainDate,
): Temporal.PlainDate {
  switch (period) {
    case "day":
      return date;
    case "week":
      return date.subtract({ days: date.dayOfWeek - 1 });
    case "month":
      return date.with({ day: 1 });
  }
}

function startOf(date: Temporal.PlainDate, zone: string): number {
  return date.toZonedDateTime(zone).epochMilliseconds;
}
