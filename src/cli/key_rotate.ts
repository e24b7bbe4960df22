import { createHash } from "node:crypto";
import type { ClientKeyConfig } from "../config/schema.ts";
import { newCalendar } from "../core/calendar.ts";
import { optionValue } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  loadConfig,
  OK_STATUS,
  printProblems,
  wrongUsage,
} from "./command.ts";
import { newSecret } from "./key_new.ts";
import { yamlText } from "../config/yaml_text.ts";

const NAME = "NAME";

/** Time for which the replaced secret is accepted by default. */
const USUAL_OVERLAP = "14d";

/** Command `switchyard key rotate NAME`: prints a new secret for a client key of the file. */
export const keyRotate: Command = {
  name: "key rotate",
  about: "Prints a new secret of a client key, and its lines for the file, which keep the old " +
    "secret for some days. Writes nothing.",
  word: NAME,
  options: {
    config: CONFIG_OPTION,
    grace: {
      value: "DAYS",
      about: `Days for which the old secret is accepted; ${USUAL_OVERLAP} by default.`,
    },
  },
  async run(options, terminal) {
    const name = optionValue(options, NAME) ?? "";
    const [, days] = /^(\d{1,3})d$/.exec(optionValue(options, "grace") ?? USUAL_OVERLAP) ??
      [];
    if (days === undefined || days === "0") {
      return wrongUsage(terminal, "key rotate", "--grace must be a number of days, such as 14d.");
    }
    const loaded = await loadConfig(options, terminal);
    if (!loaded.ok) return printProblems(terminal, loaded.problems);
    const key = loaded.config.security.api_key.keys.find((one) => one.name === name);
    if (key === undefined) return printProblems(terminal, [`There is no client key ${name}.`]);
    const until = endOfGrace(loaded.config.security.time_zone, Date.now(), Number(days));
    const { secret, digest } = newSecret();
    terminal.out([
      `New secret of the client key, shown only here: ${secret}`,
      "",
      "Lines that replace name, value and sha256 of the key in the configuration file:",
      "",
      `      - name: ${yamlText(name)}`,
      `        sha256: ${digest}`,
      "        previous:",
      ...previousLines(key, until),
      "",
    ].join("\n"));
    return OK_STATUS;
  },
};

/**
 * Returns the first day on which the old secret is refused: after `days` whole days from a Unix
 * time in milliseconds. Days are counted by the calendar, because not every one has 24 hours.
 */
export function endOfGrace(timeZone: string, wallMs: number, days: number): string {
  const today = Temporal.PlainDate.from(newCalendar(timeZone).dateOf(wallMs));
  return today.add({ days: days + 1 }).toString();
}

/** Returns the lines of the current secret, and of the one before that is accepted the longest. */
function previousLines({ value = "", sha256, previous }: ClientKeyConfig, until: string): string[] {
  const digest = sha256 ?? createHash("sha256").update(value).digest("hex");
  const [longest] = previous.toSorted((a, b) => a.until < b.until ? 1 : -1);
  const kept = longest === undefined ? [] : [{
    digest: longest.sha256 ?? createHash("sha256").update(longest.value ?? "").digest("hex"),
    until: longest.until,
  }];
  return [{ digest, until }, ...kept].map((one) =>
    `          - {sha256: ${one.digest}, until: ${one.until}}`
  );
}
