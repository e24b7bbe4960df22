import { parseConfig } from "../../src/config/load.ts";
import { newAdmin } from "../../src/admin/admin.ts";
import { type Feed, newFeed } from "../../src/admin/feed.ts";
import { newNoteBook } from "../../src/admin/notes.ts";
import { REQUEST_FORMS } from "../../src/cli/request_forms.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { joinCaptures } from "../../src/call/call.ts";
import { startRecorder } from "../../src/cli/start_recorder.ts";
import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import { accessLog } from "../../src/observe/access_log.ts";
import { newLog } from "../../src/observe/log.ts";
import { newLogWriter } from "../../src/observe/log_writer.ts";
import { newSpanProviders } from "../../src/observe/spans/span_providers.ts";
import { newSpans } from "../../src/observe/spans/spans.ts";
import { newOutbound } from "../../src/remote/remote_services.ts";
import { createApp } from "../../src/server/app.ts";
import { newAvailableStore } from "../../src/store/availability/available_store.ts";
import { newLoopTurns } from "../../src/traffic/loop_turns.ts";
import { openStateStore } from "../../src/store/open_store.ts";
import { loadIssuerKeys } from "../tools/issuer.ts";
import { SPANS_SERVICE } from "./configs.ts";
import { serveUntilStdinEnds } from "./serve.ts";

// The gateway under test, with its access log written to /dev/null. Its argument is the
// configuration text.

const [text = ""] = Deno.args;
const parsed = parseConfig(text, {});
if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
const writer = newLogWriter(await Deno.open("/dev/null", { write: true }));
const log = newLog({ level: "info", format: "json" }, writer.write);
const world = newRealWorld();
const turns = newLoopTurns(world, () => gateway.state.admission.count());
const settings = parsed.config.state;
const opened = await openStateStore(settings, { world, log, turns });
if (opened?.ok === false) throw new Error(opened.problem);
// A store that is unavailable would be measured as a fast one.
const isNeverAway = () => {
  throw new Error("The state store is away.");
};
const store = opened === null ? null : newAvailableStore(opened.store, {
  world,
  log,
  settings,
  turns,
  onFailure: isNeverAway,
  onLoss: isNeverAway,
});
const outbound = newOutbound({
  world,
  log,
  dropped: (events) => gateway.metrics.exportDropped(events),
  generation: () => gateway.generation,
  handle: (request) => app(request),
});
const recording = await startRecorder(parsed.config, {
  world,
  log,
  recorded: (kind, records) => gateway.metrics.recorded(kind, records),
  dropped: (reason, records) => gateway.metrics.recordsDropped(reason, records),
});
if (!recording.ok) throw new Error(recording.problem);
const { recorder } = recording;
const feed = parsed.config.admin.enabled ? newFeed(world, () => gateway.generation) : null;
if (parsed.config.telemetry.service_name === SPANS_SERVICE) {
  const [{ base_url = "" } = {}] = Object.values(parsed.config.providers);
  Deno.env.set("OTEL_EXPORTER_OTLP_ENDPOINT", new URL(base_url).origin);
}
const spans = await newSpans({
  serviceName: parsed.config.telemetry.service_name,
  protocol: "auto",
  environment: Deno.env.toObject(),
  log,
  provider: newSpanProviders(() => gateway.generation.config),
  turn: () => turns.next("rest"),
  after: world.after,
});
const sinks = [
  accessLog(log),
  ...spans === null ? [] : [spans.sink],
  ...feed === null ? [] : [feed.sink],
];
const gateway = newGateway(compile(parsed.config, 1), world, sinks, {
  newCapture: recorder === null
    ? outbound.newCapture
    : (call) => joinCaptures(outbound.newCapture(call), recorder.newCapture(call)),
  store,
  turns,
  ...feed === null ? {} : { began: feed.began },
  ...spans === null ? {} : { began: spans.begin },
});
const app = createApp(gateway);
outbound.apply(parsed.config);
await loadIssuerKeys(gateway);
await store?.start();
if (feed !== null) void readPage(feed);
serveUntilStdinEnds(app);

/** Reads the snapshots of the admin page, as one open page does. */
async function readPage(feed: Feed): Promise<void> {
  const admin = newAdmin({
    gateway,
    feed,
    notes: newNoteBook(() => world.wall()),
    gatewayUrl: () => "http://127.0.0.1",
    forms: REQUEST_FORMS,
    files: new Map(),
    log: { info() {} },
    onBug: reportError,
  });
  const { body } = await admin.handle(new Request("http://localhost/events"));
  for await (const snapshot of body ?? []) {
    if (snapshot.length === 0) throw new Error("The snapshot is empty.");
  }
}
