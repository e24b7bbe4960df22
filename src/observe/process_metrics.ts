import process from "node:process";
import { Counter, Gauge, type Registry } from "prom-client";

const MICROSECONDS_PER_S = 1_000_000;

/** Registers the standard Prometheus metrics of a process: memory, CPU time and start time. */
export function registerProcessMetrics(registry: Registry): void {
  const registers = [registry];
  new Counter({
    name: "process_cpu_seconds_total",
    help: "CPU time of this process, in seconds.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / MICROSECONDS_PER_S);
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of this process, in bytes.",
    registers,
    collect() {
      this.set(Deno.memoryUsage().rss);
    },
  });
  new Gauge({
    name: "process_start_time_seconds",
    help: "Start time of this process, in seconds since 1970.",
    aggregator: "min",
    registers,
  }).set(performance.timeOrigin / 1000);
}
