import { join } from "node:path";
import { tmpdir } from "node:os";
import puppeteer, {
  type BrowserContext,
  type ConnectionTransport,
  type Page,
} from "puppeteer-core";
import { assertEquals } from "./assert.ts";

/**
 * Maximum time for anything in the browser: a bound for broken tests, which no passing one reaches.
 */
const MAX_WAIT_MS = 30_000;

/**
 * Time between two evaluations of a condition. The library's polling by mutation misses a text node
 * that is written in place, the focus and the values of fields; its polling by frame stops in a
 * hidden page.
 */
const POLL_INTERVAL_MS = 20;

/** A page of the browser, with all that went wrong in it. */
export interface TestPage {
  readonly page: Page;
  /** Error messages of the console and the content policy, uncaught errors, and dialogs. */
  readonly errors: string[];
  /**
   * Resolves once the expression is true in the page, whatever makes it true: nodes, texts, the
   * focus, a scroll.
   */
  until(expression: string): Promise<void>;
  /** Returns the text of the first element that matches. */
  text(selector: string): Promise<string>;
  /** Evaluates an expression, whose value is JSON. */
  value<T>(expression: string): Promise<T>;
}

/** Settings of a page. */
export interface PageSettings {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  readonly reducedMotion?: boolean;
}

/**
 * A browser with a separate context for one test: no page, cookie or storage of another test is in
 * it.
 */
export interface TestBrowser extends AsyncDisposable {
  /** Opens an address in a new page. */
  open(url: string, settings?: PageSettings): Promise<TestPage>;
}

/**
 * The browser of the tests of this file, which is started before the first of them and ended after
 * the last.
 */
let shared: BrowserProcess | null = null;
let isSharing = false;

/**
 * Registers a test in a browser. The tests that share an isolate have one browser and a context
 * each. Without a browser it fails where CI is set, and is listed as ignored with the reason
 * elsewhere.
 */
export function browserTest(
  name: string,
  run: (browser: TestBrowser, context: Deno.TestContext) => Promise<void>,
): void {
  const missing = missingBrowser();
  if (missing !== null && Deno.env.get("CI") === undefined) {
    Deno.test({ name: `${name} (ignored: ${missing})`, ignore: true, fn() {} });
    return;
  }
  if (missing === null) shareBrowser();
  Deno.test(name, async (context) => {
    if (missing !== null) throw new Error(missing);
    await using browser = await connectBrowser(shared?.endpoint ?? "");
    await run(browser, context);
  });
}

/** Starts the browser of this file before its first test, and ends it after the last. */
function shareBrowser(): void {
  if (isSharing) return;
  isSharing = true;
  Deno.test.beforeAll(async () => {
    shared = await startBrowser();
  });
  Deno.test.afterAll(async () => {
    await shared?.[Symbol.asyncDispose]();
    shared = null;
  });
}

/** Returns why this machine has no browser; null if it has one. */
export function missingBrowser(
  { os, arch }: { readonly os: string; readonly arch: string } = Deno.build,
  named: string | undefined = Deno.env.get("CHROMIUM"),
): string | null {
  if (named !== undefined || (os === "linux" && arch === "x86_64")) return null;
  return `there is no browser from npm for ${os} ${arch}; name one with CHROMIUM=/path/to/chromium`;
}

/** Process of a browser; it has no open operation in this process until it is ended. */
interface BrowserProcess extends AsyncDisposable {
  /** Address at which the browser is driven. */
  readonly endpoint: string;
}

async function startBrowser(): Promise<BrowserProcess> {
  const path = Deno.env.get("CHROMIUM") ?? await unpackedBrowser();
  const profile = await Deno.makeTempDir();
  const process = new Deno.Command(path, {
    args: [...BROWSER_OPTIONS, `--user-data-dir=${profile}`, "about:blank"],
    // With the locale C or POSIX of a machine Intl fails in the page.
    env: { LANG: "en_US.UTF-8", LC_ALL: "en_US.UTF-8", TZ: "UTC" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const errors = process.stderr.pipeThrough(new TextDecoderStream()).getReader();
  const endpoint = await readEndpoint(errors);
  // Its messages are not read on: a read that waits would be an open operation of every test. A
  // full pipe would stop the browser; a closed one does not.
  await errors.cancel();
  return {
    endpoint,
    async [Symbol.asyncDispose]() {
      const { transport, closed } = await openTransport(endpoint);
      transport.send(JSON.stringify({ id: 1, method: "Browser.close" }));
      await Promise.all([closed, process.status]);
      await Deno.remove(profile, { recursive: true });
    },
  };
}

/** Connects to a browser and creates a context, which ends with the connection. */
async function connectBrowser(endpoint: string): Promise<TestBrowser> {
  const { transport, closed } = await openTransport(endpoint);
  const browser = await puppeteer.connect({ transport, protocolTimeout: MAX_WAIT_MS });
  const context = await browser.createBrowserContext();
  return {
    open: (url, settings = {}) => openPage(context, url, settings),
    async [Symbol.asyncDispose]() {
      await context.close();
      await browser.disconnect();
      await closed;
    },
  };
}

/**
 * Connects to a browser whose end can be awaited. The library's own connection does not wait for
 * its end, so it would be open when the test is over.
 */
async function openTransport(
  endpoint: string,
): Promise<{ transport: ConnectionTransport; closed: Promise<void> }> {
  const socket = new WebSocket(endpoint);
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const transport: ConnectionTransport = {
    send: (message) => socket.send(message),
    close: () => socket.close(),
  };
  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error("there is no connection to the browser"));
  socket.onmessage = ({ data }) => transport.onmessage?.(String(data));
  socket.onclose = () => {
    transport.onclose?.();
    closed.resolve();
  };
  await opened.promise;
  return { transport, closed: closed.promise };
}

const BROWSER_OPTIONS = [
  "--headless",
  "--remote-debugging-port=0",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
  "--no-default-browser-check",
  "--hide-scrollbars",
  "--lang=en-US",
  // Processes that no test looks at: each takes processor time with every page.
  "--in-process-gpu",
  "--disable-features=SpareRendererForSitePerProcess,IsolateOrigins,site-per-process",
  // A foreign name that points at this machine.
  "--host-resolver-rules=MAP evil.example 127.0.0.1",
];

/** Reads the messages of a starting browser up to the address at which it is driven. */
async function readEndpoint(errors: ReadableStreamDefaultReader<string>): Promise<string> {
  let text = "";
  for (;;) {
    const { done, value } = await errors.read();
    if (done) throw new Error(`the browser has not started: ${text}`);
    text += value;
    const [, address] = /DevTools listening on (ws:\S+)\s/.exec(text) ?? [];
    if (address !== undefined) return address;
  }
}

/**
 * Returns the path of the browser. Test files run in parallel, so only one of them may unpack it.
 */
async function unpackedBrowser(): Promise<string> {
  const lock = await Deno.open(join(tmpdir(), "switchyard-chromium.lock"), {
    create: true,
    write: true,
  });
  await lock.lock(true);
  try {
    // A process without configuration: what it imports is not in the lock file, whose packages Deno
    // downloads for every test.
    const script = new URL("./unpack_browser.ts", import.meta.url).pathname;
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", "--no-config", script],
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout).trim();
  } finally {
    lock.close();
  }
}

async function openPage(
  context: BrowserContext,
  url: string,
  { width = 1280, height = 900, scheme = "light", reducedMotion = true }: PageSettings,
): Promise<TestPage> {
  const page = await context.newPage();
  const errors: string[] = [];
  page.setDefaultTimeout(MAX_WAIT_MS);
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warn") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => {
    errors.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: reducedMotion ? "reduce" : "no-preference" },
  ]);
  await page.goto(url, { waitUntil: "load" });
  return {
    page,
    errors,
    async until(expression) {
      await page.waitForFunction(expression, { polling: POLL_INTERVAL_MS });
    },
    text: async (selector) => String(await page.$eval(selector, textOf)),
    value: async <T>(expression: string) => await page.evaluate(`(${expression})`) as T,
  };
}

function textOf(element: unknown): string {
  const { innerText, textContent } = element as { innerText?: string; textContent?: string };
  return innerText ?? textContent ?? "";
}

/** Fails if anything went wrong in the page. */
export function assertNoErrors({ errors }: TestPage): void {
  assertEquals([...errors], []);
}
