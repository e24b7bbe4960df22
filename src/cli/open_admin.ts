import { newAdmin } from "../admin/admin.ts";
import type { SnapshotSource } from "../admin/take_snapshot.ts";
import { bugText } from "../core/failure/bug_text.ts";
import type { Log } from "../observe/log.ts";
import { newIdleLimits } from "../runtime/connections/idle_rules.ts";
import { listen, type Listening } from "./listen.ts";
import { REQUEST_FORMS } from "./request_forms.ts";

/** Serves the admin page of a gateway at `admin.host` and `admin.port`, on its own listener. */
export async function openAdmin(
  source: SnapshotSource,
  log: Pick<Log, "error" | "info" | "warn">,
): Promise<Listening> {
  const { admin: { host, port }, server } = source.gateway.generation.config;
  // Loaded only now, because most gateways do not serve the page.
  const { PAGE_FILES } = await import("../admin/page_files.ts");
  const admin = newAdmin({
    ...source,
    forms: REQUEST_FORMS,
    files: PAGE_FILES,
    log,
    onBug: (error) =>
      log.error("the admin listener has failed; this is a bug", { at: bugText(error) }),
  });
  const limits = newIdleLimits(server);
  const settings = { host: "admin.host", port: "admin.port" };
  const listening = listen(admin.handle, host, port, limits, { settings, warn: log.warn });
  if (!listening.ok) {
    return { ...listening, isTaken: false, trouble: `Admin page: ${listening.trouble}` };
  }
  return {
    ...listening,
    async close() {
      admin.close();
      await listening.close();
    },
  };
}
