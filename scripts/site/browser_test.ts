import axe from "axe-core";
import { assert, assertEquals } from "../../tests/support/assert.ts";
import {
  assertNoErrors,
  browserTest,
  type PageSettings,
  type TestBrowser,
  type TestPage,
} from "../../tests/support/browser.ts";

// Looks at the site in out/site with a browser: `deno task site-check` makes it first. The test
// command does not run this file.

const SITE = new URL("../../out/site/", import.meta.url).pathname;

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css",
  js: "text/javascript",
  json: "application/json",
  png: "image/png",
};

/** A served site: its address, and the paths that were requested and are missing. */
interface Served extends AsyncDisposable {
  readonly url: string;
  readonly missing: readonly string[];
}

/** Serves the site below a folder, as many hosts do. */
function serveSite(): Served {
  const missing: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const path = pathname.replace(/^\/docs\//, "");
    try {
      const body = await Deno.readFile(`${SITE}${path}`);
      const type = TYPES[path.split(".").at(-1) ?? ""] ?? "application/octet-stream";
      return new Response(body, { headers: { "content-type": type } });
    } catch {
      missing.push(pathname);
      return new Response("Not here.", { status: 404 });
    }
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/docs/`,
    missing,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Registers a test with the site and a browser; nothing may go wrong in any page of it. */
function siteTest(
  name: string,
  run: (open: (path: string, settings?: PageSettings) => Promise<TestPage>) => Promise<void>,
): void {
  browserTest(name, async (browser: TestBrowser) => {
    await using served = serveSite();
    const pages: TestPage[] = [];
    await run(async (path, settings = {}) => {
      const page = await browser.open(`${served.url}${path}`, settings);
      pages.push(page);
      return page;
    });
    for (const page of pages) assertNoErrors(page);
    assertEquals([...served.missing], []);
  });
}

/** Returns the paths of all pages. */
function pathsIn(folder = ""): readonly string[] {
  return [...Deno.readDirSync(`${SITE}${folder}`)].flatMap(({ name, isDirectory }) =>
    isDirectory ? pathsIn(`${folder}${name}/`) : name.endsWith(".html") ? [`${folder}${name}`] : []
  );
}

siteTest(
  "every page loads, and each of its links and images leads somewhere in the browser",
  async (open) => {
    const paths = pathsIn();
    assert(paths.length > 45);
    const shown = await open("index.html");
    const anchors = new Map<string, Set<string>>();
    const links: { readonly from: string; readonly to: string }[] = [];
    const root = (await shown.value<string>("location.href")).replace(/index\.html$/, "");
    for (const path of paths) {
      await shown.page.goto(`${root}${path}`, { waitUntil: "load" });
      const found = await shown.value<{ ids: string[]; hrefs: string[]; broken: number }>(`{
      ids: [...document.querySelectorAll("[id]")].map((one) => one.id),
      hrefs: [...document.querySelectorAll("a[href]")].map((one) => one.href),
      broken: [...document.images].filter((one) => one.naturalWidth === 0).length,
    }`);
      assertEquals(found.broken, 0, path);
      anchors.set(`${root}${path}`, new Set(found.ids));
      for (const to of found.hrefs) links.push({ from: path, to });
    }
    const inside = links.filter(({ to }) => to.startsWith(root));
    assert(inside.length > 2000);
    for (const { from, to } of inside) {
      const [page = "", anchor] = to.split("#");
      const ids = anchors.get(page);
      assert(ids !== undefined, `${from}: ${to}`);
      assert(anchor === undefined || ids.has(decodeURIComponent(anchor)), `${from}: ${to}`);
    }
  },
);

siteTest("the search finds a section, and the keyboard reaches it from anywhere", async (open) => {
  const shown = await open("reference/errors.html");
  await shown.page.keyboard.press("/");
  await shown.page.keyboard.type("circuit breaker half open");
  await shown.until('document.querySelectorAll("#results a").length > 0');
  await shown.page.keyboard.press("ArrowDown");
  assert(await shown.value<boolean>('document.activeElement.matches("#results a")'));
  const target = await shown.value<string>("document.activeElement.href");
  assert(target.includes("/guide/reliability.html"), target);
  await Promise.all([shown.page.waitForNavigation(), shown.page.keyboard.press("Enter")]);
  assertEquals(await shown.value<string>("location.href"), target);
});

siteTest("the search finds a configuration key, and says when it finds nothing", async (open) => {
  const shown = await open("index.html");
  await shown.page.type("#search", "max_concurrent");
  await shown.until('document.querySelectorAll("#results a").length > 0');
  await shown.page.keyboard.press("Escape");
  assertEquals(await shown.value("document.getElementById('results').hidden"), true);
  await shown.page.type("#search", "qqqqzzzz");
  await shown.until('document.getElementById("results").textContent === "Nothing found."');
});

const BACKGROUND = "getComputedStyle(document.body).backgroundColor";

siteTest(
  "the colours are those of the system, until the reader chooses others for every page",
  async (open) => {
    const dark = await open("guide/routing.html", { scheme: "dark" });
    const night = await dark.value<string>(BACKGROUND);
    const shown = await open("guide/routing.html", { scheme: "light" });
    const day = await shown.value<string>(BACKGROUND);
    assert(night !== day);
    await shown.page.click("#colours");
    assertEquals(await shown.value<string>(BACKGROUND), night);
    await shown.page.reload({ waitUntil: "load" });
    assertEquals(await shown.value<string>(BACKGROUND), night);
    const other = await open("index.html", { scheme: "light" });
    assertEquals(await other.value<string>(BACKGROUND), night);
    assertEquals(
      await other.value<string>('document.getElementById("colours").getAttribute("aria-pressed")'),
      "true",
    );
  },
);

for (const scheme of ["light", "dark"] as const) {
  siteTest(`axe finds nothing wrong with the pages in ${scheme} colours`, async (open) => {
    for (const path of ["index.html", "guide/routing.html", "operate/admin.html"]) {
      const shown = await open(path, { scheme });
      await shown.page.evaluate(axe.source);
      const violations = await shown.value<string[]>(
        `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
          violations.map(({ id, nodes }) => id + " " + nodes[0].html))`,
      );
      assertEquals(violations, [], path);
    }
  });
}

siteTest("no page is wider than a phone: tables and code scroll by themselves", async (open) => {
  for (const path of pathsIn()) {
    const shown = await open(path, { width: 390, height: 800 });
    const width = await shown.value<number>("document.documentElement.scrollWidth");
    assert(width <= 390, `${path}: ${width}`);
    await shown.page.close();
  }
});
