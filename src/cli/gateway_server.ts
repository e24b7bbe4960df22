import type { StartMessage } from "../workers/messages.ts";
import { type Feed, newFeed } from "../admin/feed.ts";
import { newNoteBook } from "../admin/notes.ts";
import type { Config } from "../config/schema.ts";
import { bugText } from "../core/failure/bug_text.ts";
import { newRealWorld } from "./real_world.ts";
import { VERSION } from "../core/build.ts";
import type { World } from "../core/world.ts";
import { newCredentials } from "../credentials/credentials.ts";
import { compile, type Divide } from "../gateway/compile.ts";
import { type KeyReceiver, newKeyRefresh, withinFirstKeys } from "../gateway/key_refresh.ts";
import { newCredentialLink } from "../workers/credential_link.ts";
import type { Demand, Handed } from "../workers/handed.ts";
import { type BeginningListener, newGateway, newKeyWarning } from "../gateway/gateway.ts";
import { newLoopTurns } from "../traffic/loop_turns.ts";
import { openStateStore } from "../store/open_store.ts";
import { newAvailableStore } from "../store/availability/available_store.ts";
import { joinCaptures } from "../call/call.ts";
import type { Generation } from "../call/generation.ts";
import { accessLog } from "../observe/access_log.ts";
import { newLog } from "../observe/log.ts";
import { newSpans, type Spans } from "../observe/spans/spans.ts";
import { newSpanProviders } from "../observe/spans/span_providers.ts";
import { newOutbound } from "../remote/remote_services.ts";
import { type App, createApp } from "../server/app.ts";
import { newIdleLimits } from "../runtime/connections/idle_rules.ts";
import { releaseFreeMemory } from "../runtime/free_memory.ts";
import { isHeapFull } from "../runtime/heap.ts";
import { closePage, drain } from "./drain.ts";
import { firstCall } from "./first_call.ts";
import { foreignFunctions, missingFunctions } from "./foreign_functions.ts";
import { listen, type Listening } from "./listen.ts";
import type { Reloadable } from "./reload.ts";
import { startRecorder } from "./start_recorder.ts";
import { openAdmin } from "./open_admin.ts";
import { routeLine, writtenRoutes } from "../routing/route_text.ts";
import type { Terminal } from "./terminal.ts";
import type { MetricValues } from "../observe/worker_metrics.ts";
import { newRemoteAdmission } from "../server/admission/admit.ts";

/** A listening gateway, or the reason why it cannot start. */
export type GatewayServer =
  | Reloadable & {
    readonly ok: true;
    readonly url: string;
    /** Address of the admin page; null while it is off. */
    readonly adminUrl: string | null;
    readonly generation: Generation;
    readonly world: World;
    /** Receives what the parent has fetched for its workers. */
    receive(handed: Handed): void;
    /** Returns the metrics of this process. */
    metricValues(): Promise<MetricValues>;
    /** Drains the gateway and releases all resources; `hurry` ends `server.drain_delay`. */
    close(...hurry: readonly Promise<void>[]): Promise<void>;
  }
  | Extract<Listening, { readonly ok: false }>;

/** Time after the start at which the runtime itself has freed what only the start needed. */
const STARTED_MS = 45_000;

/** Settings of a gateway that is one of several workers. */
export interface WorkerRole
  extends Pick<StartMessage, "port" | "generation" | "instanceId" | "handed"> {
  readonly number: number;
  readonly divide: Divide;
  /** Returns the metrics of all workers in the text format. */
  scrape(): Promise<string>;
  /** Requests something that the parent refreshes; it arrives at `receive`. */
  demand(demanded: Demand): void;
}

/**
 * Serves a configuration at its host and port. `openStore` opens the state store; `role` is null
 * for a gateway of one process.
 */
export async function openGateway(
  whole: Config,
  terminal: Terminal,
  openStore: typeof openStateStore = openStateStore,
  role: WorkerRole | null = null,
): Promise<GatewayServer> {
  const config = role === null ? whole : role.divide(whole);
  const { isColoured, environment } = terminal;
  const { format } = config.logging;
  let { level } = config.logging;
  const settings = {
    get level() {
      return level;
    },
    format,
    isColoured,
    ...role !== null && { worker: role.number },
  };
  const log = newLog(settings, (line) => terminal.err(line));
  const world = newRealWorld();
  world.after(STARTED_MS, () => void releaseFreeMemory());
  const turns = newLoopTurns(
    world,
    () => gateway.state.admission.count(),
    () => gateway.state.admission.refused(),
  );
  const opened = await openStore(config.state, {
    world,
    log,
    turns,
    onQuotaFallback: (operation) => gateway.metrics.fellBack(operation),
  });
  const recording = role === null && opened?.ok !== false
    ? await startRecorder(config, {
      world,
      log,
      recorded: (kind, records) => gateway.metrics.recorded(kind, records),
      dropped: (reason, records) => gateway.metrics.recordsDropped(reason, records),
    })
    : null;
  terminal.dropWriteAccess();
  if (opened?.ok === false) {
    world.close();
    return notStarted(opened.problem);
  }
  if (recording?.ok === false) {
    if (opened !== null) await opened.store.close();
    world.close();
    return notStarted(recording.problem);
  }
  const recorder = recording?.recorder ?? null;
  const store = opened === null ? null : newAvailableStore(opened.store, {
    world,
    log,
    settings: config.state,
    turns,
    onFailure: (operation) => gateway.metrics.storeFailed(operation),
    onLoss: (reason, writes) => gateway.metrics.writesLost(reason, writes),
  });
  const spans = await newSpans({
    serviceName: config.telemetry.service_name,
    protocol: config.telemetry.protocol,
    environment,
    log,
    provider: newSpanProviders(() => gateway.generation.config),
    turn: () => turns.next("rest"),
    after: world.after,
  });
  /** Made for the first remote command, because most gateways have no dashboard. */
  let remote: App | null = null;
  const outbound = newOutbound({
    world,
    log,
    ...role !== null && { instanceId: role.instanceId },
    dropped: (events) => gateway.metrics.exportDropped(events),
    generation: () => gateway.generation,
    handle: (request) => (remote ??= createApp(gateway, newRemoteAdmission(gateway)))(request),
  });
  const feed = config.admin.enabled ? newFeed(world, () => gateway.generation) : null;
  const sinks = [
    accessLog(log),
    ...(spans === null ? [] : [spans.sink]),
    ...(feed === null ? [] : [feed.sink]),
  ];
  const began = beginningOf(feed, spans);
  const gateway = newGateway(
    compile(whole, role?.generation ?? 1, null, role?.divide),
    world,
    sinks,
    {
      hostname: hostname(),
      newCapture: recorder === null
        ? outbound.newCapture
        : (call) => joinCaptures(outbound.newCapture(call), recorder.newCapture(call)),
      ...recorder !== null && { records: recorder.sizes },
      store,
      turns,
      isHeapFull,
      ...role !== null && { scrape: role.scrape, divide: role.divide },
      onKeyRejected: newKeyWarning(log),
      ...began !== null && { began },
      onBug(error) {
        log.error("a report of a call was lost; this is a bug", { at: bugText(error) });
      },
    },
  );
  const credentials = role === null
    ? newCredentials({
      world,
      log,
      variable: (name) => environment[name],
      counted: (provider, result) => gateway.metrics.credentialRefreshed(provider, result),
    })
    : null;
  const link = newCredentialLink((id) => role?.demand({ of: "credential", id }));
  applyCredentials();
  const receiver: KeyReceiver = {
    begin: (source) => gateway.generation.tokens?.keySets.begin(source),
    end: (source, keys) => gateway.generation.tokens?.keySets.end(source, keys, world.now()),
  };
  const counted = gateway.metrics.keysRefreshed;
  const refresh = role === null ? newKeyRefresh({ world, log, receiver, counted }) : null;
  role?.handed.forEach(receive);
  await applyKeys(config);
  const notes = newNoteBook(() => world.wall());
  const isStateUp = store === null || await store.start();
  const { host, port } = config.server;
  const listening = isStateUp || !config.state.required
    ? listen(
      createApp(gateway),
      host,
      role?.port ?? port,
      newIdleLimits(config.server),
      { reusePort: role !== null, http2: config.server.http2, warn: log.warn },
    )
    : notStarted("state.required: the state store does not answer, so the gateway does not start");
  if (!listening.ok) return await abandon(listening);
  const gatewayUrl = () => listening.boundUrl;
  const admin = feed === null
    ? null
    : await openAdmin({ gateway, feed, notes, gatewayUrl, recorder }, log);
  if (admin?.ok === false) {
    await listening.close();
    return await abandon(admin);
  }
  const missing = missingFunctions(foreignFunctions()) ?? listening.note;
  if (missing !== null) log.debug(missing);
  const warning = runtimeWarning(Deno.version.deno);
  if (warning !== null) log.warn(warning);
  outbound.apply(config);

  /** Lets this process, or the parent of the workers, refresh the credentials from now on. */
  function applyCredentials(): void {
    const { credentials: all } = gateway.generation;
    credentials?.configure(all);
    if (role !== null) link.follow(all.values().map(({ holder }) => holder));
  }

  /** Refreshes the keys of issuers. Resolves when the first ones are there, or after a bound. */
  async function applyKeys(next: Config): Promise<void> {
    gateway.generation.tokens?.keySets.onDemand(
      refresh?.demand ?? ((source) => role?.demand({ of: "keys", source })),
    );
    if (refresh === null) return;
    const applied = refresh.apply(next);
    if (gateway.generation.tokens !== null) await withinFirstKeys(applied, world);
  }

  function receive(handed: Handed): void {
    const { credentials, tokens } = gateway.generation;
    switch (handed.kind) {
      case "credential":
        return link.received(credentials.get(handed.id)?.holder, handed.id, handed.update);
      case "keys_begin":
        return receiver.begin(handed.source);
      case "keys": {
        const { source, keys, ageMs, isFailing } = handed;
        tokens?.keySets.end(source, keys, world.now() - ageMs);
        if (isFailing) receiver.end(source, null);
        return;
      }
    }
  }

  /** Releases what was opened for a gateway that cannot start, and returns the reason. */
  async function abandon(reason: Extract<Listening, { readonly ok: false }>) {
    feed?.close();
    credentials?.close();
    await Promise.all([store?.close(), spans?.flush(), refresh?.close(), recorder?.close()]);
    world.close();
    return reason;
  }

  return {
    ok: true,
    url: listening.url,
    adminUrl: admin?.url ?? null,
    notes,
    get generation() {
      return gateway.generation;
    },
    get config() {
      return gateway.generation.config;
    },
    log,
    world,
    reload(next) {
      level = next.logging.level;
      const changes = gateway.reload(next);
      applyCredentials();
      outbound.apply(gateway.generation.config);
      recorder?.apply(gateway.generation.config);
      void applyKeys(gateway.generation.config);
      return changes;
    },
    reloaded: (result) => gateway.metrics.reloaded(result),
    receive,
    metricValues: () => gateway.metrics.values(),
    async close(...hurry) {
      const { inFlight } = gateway.state;
      await drain({ inFlight, world, log, shutDown: listening.close }, config.server, ...hurry);
      feed?.close();
      credentials?.close();
      if (admin !== null) await closePage(admin, world);
      const calls = await gateway.state.usage.close();
      if (calls > 0) {
        log.error("the usage of calls may be lost: the store does not answer", { calls });
      }
      const closing = [store?.close(), outbound.close(), spans?.flush(), refresh?.close()];
      await Promise.all([...closing, recorder?.close()]);
      world.close();
    },
  };
}

/** Returns what receives the calls that begin; null if nothing does. */
function beginningOf(feed: Feed | null, spans: Spans | null): BeginningListener | null {
  if (spans === null) return feed?.began ?? null;
  return (report, headers) => {
    spans.begin(report, headers);
    feed?.began(report);
  };
}

function notStarted(trouble: string): Extract<Listening, { readonly ok: false }> {
  return { ok: false, isTaken: false, trouble };
}

/** Returns the host name of this machine; empty if it is not available. */
function hostname(): string {
  try {
    return Deno.hostname();
  } catch {
    return "";
  }
}

/** Returns the start message: address, routes and an example call. */
export function greeting(
  url: string,
  generation: Generation,
  adminUrl: string | null = null,
): string {
  const routes = writtenRoutes(generation).map(({ route, match }) =>
    `  ${routeLine(route, match)}`
  );
  return [
    `Switchyard ${VERSION} listens on ${url}`,
    ...(adminUrl === null ? [] : [`Admin page: ${adminUrl}/`]),
    "",
    "Routes; the first one that matches a request serves it:",
    ...routes,
    "",
    "An example call:",
    firstCall(generation, url).replace(/^/gm, "  "),
    "",
    "",
  ].join("\n");
}

/** Returns the known problem of a Deno version. */
export function runtimeWarning(version: string): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 8)
    ? `Deno ${version} does not report a client that disconnects during a larger JSON request; use 2.7.11`
    : null;
}
