import { type Admin, type AdminOptions, newAdmin } from "../../src/admin/admin.ts";
import { type Feed, newFeed } from "../../src/admin/feed.ts";
import { newNoteBook, type NoteBook } from "../../src/admin/notes.ts";
import { PAGE_FILES } from "../../src/admin/page_files.ts";
import type { Snapshot } from "../../src/admin/snapshot.ts";
import { REQUEST_FORMS } from "../../src/cli/request_forms.ts";
import { compile } from "../../src/gateway/compile.ts";
import { type Gateway, newGateway } from "../../src/gateway/gateway.ts";
import { type App, createApp } from "../../src/server/app.ts";
import { parsedConfig } from "./parsed_config.ts";
import { storeUnderTest } from "./store_under_test.ts";
import type { ScriptedWorld } from "./world.ts";

/** A gateway with its admin listener, without sockets. */
export interface TestAdmin {
  readonly app: App;
  readonly gateway: Gateway;
  readonly feed: Feed;
  readonly notes: NoteBook;
  readonly admin: Admin;
  /** Sends a request to the admin listener; its `Host` is `localhost:8081` unless it is given. */
  get(path: string, init?: RequestInit): Promise<Response>;
  snapshot(): Promise<Snapshot>;
}

/** A gateway with its admin listener in the process. The configuration is without `admin`. */
export function testAdmin(
  config: string,
  world: ScriptedWorld,
  settings = "{enabled: true}",
  overrides: Partial<AdminOptions> = {},
): TestAdmin {
  const parsed = parsedConfig(`admin: ${settings}\n${config}`);
  const feed = newFeed(world, () => gateway.generation);
  const gateway = newGateway(compile(parsed, 1), world, [feed.sink], {
    ...storeUnderTest(world),
    hostname: "machine",
    began: feed.began,
  });
  const notes = newNoteBook(() => world.wall());
  const admin = newAdmin({
    gateway,
    feed,
    notes,
    gatewayUrl: () => "http://127.0.0.1:8080",
    forms: REQUEST_FORMS,
    files: PAGE_FILES,
    log: { info() {} },
    onBug(error) {
      throw error;
    },
    ...overrides,
  });

  async function get(path: string, init: RequestInit = {}) {
    const headers = new Headers(init.headers);
    if (!headers.has("host")) headers.set("host", "localhost:8081");
    return await admin.handle(new Request(`http://localhost:8081${path}`, { ...init, headers }));
  }

  return {
    app: createApp(gateway),
    gateway,
    feed,
    notes,
    admin,
    get,
    snapshot: async () => await (await get("/snapshot")).json(),
  };
}
