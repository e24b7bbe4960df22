import type { Snapshot } from "../admin/snapshot.ts";
import { Cancellation } from "../core/cancellation.ts";
import { isObject, parseJson } from "../core/json/json.ts";
import { pause } from "../core/pause.ts";
import type { Incoming, World } from "../core/world.ts";
import { newSseFraming } from "../formats/sse.ts";
import { FAILED_STATUS, OK_STATUS, printProblems } from "./command.ts";
import { texts } from "./post_json.ts";
import type { Terminal } from "./terminal.ts";
import { nextView, renderTop, type TopView } from "./top_text.ts";

/** Environment variable with the password of the admin page. */
export const PASSWORD_VARIABLE = "SWITCHYARD_ADMIN_PASSWORD";

/** Address and headers of requests to the admin page. */
export interface Place {
  readonly ok: true;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
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

/** World of the commands: requests and timers. */
type TopWorld = Pick<World, "send" | "after">;

/** Prints one snapshot; returns the exit status. */
export async function showOnce(
  place: Place,
  world: TopWorld,
  terminal: Terminal,
): Promise<number> {
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

/**
 * Sequences that enter and leave the alternate screen, with the cursor hidden and line wrap off: wide
 * characters would wrap.
 */
const OPEN_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[?7l", CLOSE_SCREEN = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/** Time from a lost connection to the next one. */
const RECONNECT_MS = 1_000;

/** Shows each snapshot until a stop signal; connects again if the connection is lost. */
export async function showAlways(
  place: Place,
  world: TopWorld,
  terminal: Terminal,
): Promise<number> {
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
