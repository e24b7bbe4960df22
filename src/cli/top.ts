import type { Snapshot } from "../admin/snapshot.ts";
import { readText } from "../config/files.ts";
import { load } from "../config/load.ts";
import { isObject, parseJson } from "../core/json/json.ts";
import { Cancellation } from "../core/cancellation.ts";
import { pause } from "../core/pause.ts";
import type { Incoming, World } from "../core/world.ts";
import { newSseFraming } from "../formats/sse.ts";
import { newRealWorld } from "../world/real_world.ts";
import { optionValue, type OptionValues } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  FAILED_STATUS,
  OK_STATUS,
  printProblems,
  USUAL_CONFIG,
} from "./command.ts";
import { urlOf } from "./listen.ts";
import { texts } from "./post_json.ts";
import type { Terminal } from "./terminal.ts";
import { nextView, renderTop, type TopView } from "./top_text.ts";

/** Environment variable with the password of the admin page. */
const PASSWORD_VARIABLE = "SWITCHYARD_ADMIN_PASSWORD";

/** Command `switchyard top`: shows the snapshots of the admin page in a terminal. */
export const top: Command = {
  name: "top",
  about:
    "Shows what the gateway does, once a second, as its admin page does; once if stdout is no terminal.",
  options: {
    config: CONFIG_OPTION,
    url: {
      value: "URL",
      about: "The address of the admin page; default: that in the configuration file.",
    },
    password: {
      value: "FILE",
      about: `A file with the password of the page; default: ${PASSWORD_VARIABLE}, else ` +
        "admin.password of the configuration file.",
    },
  },
  async run(options, terminal) {
    const place = await findPlace(options, terminal);
    if (!place.ok) return printProblems(terminal, place.problems);
    const world = newRealWorld();
    try {
      const size = terminal.size();
      return size === null
        ? await showOnce(place, world, terminal)
        : await showAlways(place, world, terminal);
    } finally {
      world.close();
    }
  },
};

/** Address and headers of requests to the admin page. */
interface Place {
  readonly ok: true;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

type FoundPlace = Place | { readonly ok: false; readonly problems: readonly string[] };

async function findPlace(options: OptionValues, terminal: Terminal): Promise<FoundPlace> {
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
  const path = optionValue(options, "config") ?? USUAL_CONFIG;
  const loaded = await load(path, terminal.environment);
  if (!loaded.ok) return { ok: false, problems: loaded.problems };
  const { enabled, host, port, password: configured } = loaded.config.admin;
  if (!enabled) {
    return failed(
      `The admin page is off in ${path}: set admin.enabled to true and restart the gateway.`,
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

/** Returns the response to a request of the admin page, or what to do about its failure. */
async function request(
  { url, headers }: Place,
  path: string,
  world: Pick<World, "send">,
  cancellation: Cancellation,
): Promise<Incoming | string> {
  try {
    const response = await world.send(`${url}${path}`, {
      method: "GET",
      headers,
      body: null,
      cancellation,
    });
    if (response.status === 200) return response;
    await response.body?.cancel();
    switch (response.status) {
      case 401:
        return `The admin page at ${url} requires its password: set ${PASSWORD_VARIABLE}, or name ` +
          "a file with --password.";
      case 503:
        return `Too many pages of ${url} are open: close one of them.`;
      default:
        return `${url} answers with status ${response.status}; is it the address of an admin page?`;
    }
  } catch {
    return `Nothing answers at ${url}: set admin.enabled to true, start the gateway, or name its ` +
      "admin page with --url.";
  }
}

async function showOnce(place: Place, world: World, terminal: Terminal): Promise<number> {
  const cancellation = new Cancellation();
  const forgetTimer = world.after(MAX_SILENCE_MS, () => cancellation.cancel(null));
  try {
    const response = await request(place, "/snapshot", world, cancellation);
    if (typeof response === "string") return printProblems(terminal, [response]);
    const view = shownView(null, await boundedText(response).catch(() => ""));
    if (view === null) return printProblems(terminal, [notAPage(place)]);
    terminal.out(`${renderTop(view, PIPE).join("\n")}\n`);
    return OK_STATUS;
  } finally {
    forgetTimer();
    cancellation.cancel(null);
  }
}

/** Maximum length of a snapshot in characters. The address may be that of any server. */
const MAX_SNAPSHOT_CHARS = 16 * 1024 * 1024;

/** Time without a snapshot after which the connection counts as lost: one is sent each second. */
const MAX_SILENCE_MS = 10_000;

/** Returns the body of a response as text; one that is too long for a snapshot is cut. */
async function boundedText(response: Incoming): Promise<string> {
  const pieces: string[] = [];
  let length = 0;
  for await (const text of texts(response)) {
    pieces.push(text);
    length += text.length;
    if (length > MAX_SNAPSHOT_CHARS) break;
  }
  return pieces.join("");
}

/** Width of output that is no terminal. */
const PIPE = { columns: 120, rows: null, isColoured: false };

/** Sequences of terminals: cursor to the top left, clear to the end of the line and of the screen. */
const HOME = "\x1b[H", CLEAR_LINE = "\x1b[K", CLEAR_BELOW = "\x1b[J";

/** Sequences that open and close the second screen without a cursor. */
const OPEN_SCREEN = "\x1b[?1049h\x1b[?25l", CLOSE_SCREEN = "\x1b[?25h\x1b[?1049l";

/** Time from a lost connection to the next one. */
const RECONNECT_MS = 1_000;

/** Shows each snapshot until a stop signal; connects again if the connection is lost. */
async function showAlways(place: Place, world: World, terminal: Terminal): Promise<number> {
  const stop = terminal.stop();
  const noColor = terminal.environment["NO_COLOR"] ?? "";
  const shown: { view: TopView | null } = { view: null };
  let problem: string | null = null;

  function draw() {
    const size = terminal.size();
    if (shown.view === null || size === null) return;
    const lines = renderTop(shown.view, { ...size, isColoured: noColor === "" });
    terminal.out(HOME + lines.map((line) => line + CLEAR_LINE).join("\r\n") + CLEAR_BELOW);
  }

  /** Shows the snapshots of a stream until its end. */
  async function follow(response: Incoming, onSnapshot: () => void) {
    const framing = newSseFraming();
    for await (const text of texts(response)) {
      for (const { data } of framing.push(text)) {
        const next = shownView(shown.view, data);
        if (next === null) continue;
        shown.view = next;
        onSnapshot();
        draw();
      }
      if (framing.held() > MAX_SNAPSHOT_CHARS) return;
    }
  }

  /** Follows one connection until it is lost or silent; returns what to do if it shows nothing. */
  async function connection(): Promise<string> {
    const cancellation = new Cancellation();
    const unsubscribe = stop.onCancel((reason) => cancellation.cancel(reason));
    const lose = () => cancellation.cancel(null);
    let forgetTimer = world.after(MAX_SILENCE_MS, lose);
    try {
      const response = await request(place, "/events", world, cancellation);
      if (typeof response === "string") return response;
      await follow(response, () => {
        forgetTimer();
        forgetTimer = world.after(MAX_SILENCE_MS, lose);
      }).catch(() => {});
      return notAPage(place);
    } finally {
      forgetTimer();
      unsubscribe();
      lose();
    }
  }

  terminal.out(OPEN_SCREEN);
  while (!stop.isCancelled) {
    const lost = await connection();
    if (stop.isCancelled) break;
    if (shown.view === null) {
      problem = lost;
      break;
    }
    shown.view = { ...shown.view, isLive: false };
    draw();
    await pause(world, stop, RECONNECT_MS);
  }
  terminal.out(CLOSE_SCREEN);
  if (problem === null) return OK_STATUS;
  terminal.err(`${problem}\n`);
  return FAILED_STATUS;
}

function notAPage({ url }: Place): string {
  return `${url} is not the address of an admin page.`;
}

/** Returns the view after the snapshot in a text; null if it is no snapshot of this program. */
function shownView(earlier: TopView | null, text: string): TopView | null {
  const value = parseJson(text);
  if (!isSnapshot(value)) return null;
  try {
    const view = nextView(earlier, value);
    renderTop(view, PIPE);
    return view;
  } catch {
    // A member of another type: the server is another program, or another version of this one.
    return null;
  }
}

/** True for a document with the lists of a snapshot. */
function isSnapshot(value: unknown): value is Snapshot {
  return isObject(value) && ["seconds", "providers", "routes", "running", "finished", "keys"]
    .every((name) => Array.isArray(value[name]));
}
