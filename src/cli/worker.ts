import { type Channel, newChannel } from "../workers/channel.ts";
import { newGroupMetrics } from "../workers/group_metrics.ts";
import type { StartMessage, ToParent, ToWorker } from "../workers/messages.ts";
import { WORKER_COMMAND } from "../workers/process.ts";
import { shareOf } from "../workers/share.ts";
import { newRealWorld } from "./real_world.ts";
import { openStateStore } from "../store/open_store.ts";
import { type Command, FAILED_STATUS, OK_STATUS, wrongUsage } from "./command.ts";
import { openGateway } from "./gateway_server.ts";
import { ignoreSignals, type Terminal } from "./terminal.ts";
import { metricsText, type MetricValues } from "../observe/worker_metrics.ts";

/** Hidden command of a worker process; its parent starts it with `server.workers` above 1. */
export const worker: Command = {
  name: WORKER_COMMAND,
  about: "Serves requests as one of several workers; only for the program itself.",
  options: {},
  async run(_values, terminal) {
    if (Deno.stdin.isTerminal()) return refused(terminal);
    const channel = newChannel<ToParent, ToWorker>(Deno.stdin.readable, Deno.stdout.writable);
    const messages = channel.received();
    const { value: first } = await messages.next();
    if (first?.kind !== "start") return refused(terminal);
    ignoreSignals();
    return await serveAs(first, { channel, messages }, terminal);
  },
};

function refused(terminal: Terminal): number {
  return wrongUsage(
    terminal,
    "",
    'The command "worker" is only for the program itself; set server.workers.',
  );
}

interface Parent {
  readonly channel: Channel<ToParent, ToWorker>;
  readonly messages: AsyncIterableIterator<ToWorker>;
}

async function serveAs(
  { place, port, generation, instanceId, config, isColoured, handed }: StartMessage,
  { channel, messages }: Parent,
  terminal: Terminal,
): Promise<number> {
  const world = newRealWorld();
  const group = newGroupMetrics(channel, world);
  let ownMetrics: () => Promise<MetricValues> = () => Promise.resolve([]);
  const server = await openGateway(config, { ...terminal, isColoured }, openStateStore, {
    number: place.number,
    port,
    generation,
    instanceId,
    divide: (whole) => shareOf(whole, place),
    handed,
    demand: (demanded) => void channel.send({ kind: "demand", demanded }),
    scrape: async () => await group.scrape() ?? await metricsText([await ownMetrics()]),
  });
  if (!server.ok) {
    channel.send({ kind: "refused", problem: server.trouble });
    await channel.close();
    return FAILED_STATUS;
  }
  ownMetrics = server.metricValues;
  channel.send({ kind: "listening" });
  const draining = Promise.withResolvers<void>();
  const withoutParent = follow();
  await Promise.race([draining.promise, withoutParent]);
  // Without its parent a worker would get no reload and no drain, so it ends.
  if (!group.hasParent()) {
    server.log.warn("the parent process has ended: stopping after the requests in flight");
  }
  await server.close(withoutParent);
  channel.send({ kind: "drained", metrics: await server.metricValues() });
  await channel.close();
  return OK_STATUS;

  async function follow(): Promise<void> {
    for await (const message of messages) handle(message);
    group.leave();
  }

  function handle(message: ToWorker): void {
    if (server.ok === false) return;
    switch (message.kind) {
      case "reload":
        return void server.reload(message.config);
      case "credential":
      case "keys_begin":
      case "keys":
        return server.receive(message);
      case "measure":
        return void server.metricValues().then((metrics) =>
          channel.send({ kind: "measured", metrics })
        );
      case "scraped":
        return group.received(message.text);
      case "ping":
        return void channel.send({ kind: "alive" });
      case "drain":
        return draining.resolve();
      case "start":
        return;
    }
  }
}
