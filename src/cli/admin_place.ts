import { readText } from "../config/files.ts";
import { load } from "../config/load.ts";
import { optionValue, type OptionValues } from "./arguments.ts";
import { configPath } from "./command.ts";
import { urlOf } from "./listen.ts";
import type { Terminal } from "./terminal.ts";
import { PASSWORD_VARIABLE, type Place } from "./top_screen.ts";

/** Options that name the admin listener, besides the configuration file. */
export const PLACE_OPTIONS = {
  url: {
    value: "URL",
    about: "The address of the admin page; default: that in the configuration file.",
  },
  password: {
    value: "FILE",
    about: `A file with the password of the page; default: ${PASSWORD_VARIABLE}, else ` +
      "admin.password of the configuration file.",
  },
} as const;

/** The admin listener, or why it is not known, as sentences. */
export type FoundPlace = Place | { readonly ok: false; readonly problems: readonly string[] };

/** Returns the admin listener that the options or the configuration file name. */
export async function findPlace(options: OptionValues, terminal: Terminal): Promise<FoundPlace> {
  const written = optionValue(options, "url");
  const file = optionValue(options, "password");
  const text = file === undefined ? null : await readText(file);
  if (text?.ok === false) return failed(`The file of --password ${text.trouble}.`);
  const password = text?.text.trim() ?? terminal.environment[PASSWORD_VARIABLE];
  if (written !== undefined) {
    const url = URL.parse(written);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "") {
      return failed("--url must be an http or https URL without a password in it.");
    }
    return { ok: true, url: url.origin, headers: headersOf(password) };
  }
  const path = configPath(options);
  const loaded = await load(path, terminal.environment);
  if (!loaded.ok) return { ok: false, problems: loaded.problems };
  const { enabled, host, port, password: configured } = loaded.config.admin;
  if (!enabled) {
    // The page shows a single process.
    const one = loaded.config.server.workers === 1 ? "" : ", server.workers to 1,";
    return failed(
      `The admin page is off in ${path}: set admin.enabled to true${one} and restart the gateway.`,
    );
  }
  if (port === 0) {
    return failed("admin.port is 0, so the port is in the start message: name it with --url.");
  }
  return { ok: true, url: urlOf(host, port), headers: headersOf(password ?? configured) };
}

function failed(problem: string): FoundPlace {
  return { ok: false, problems: [problem] };
}

function headersOf(password: string | undefined): Readonly<Record<string, string>> {
  if (password === undefined || password === "") return {};
  const credentials = new TextEncoder().encode(`top:${password}`).toBase64();
  return { authorization: `Basic ${credentials}` };
}
