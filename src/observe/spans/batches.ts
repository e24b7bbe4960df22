/** How spans are put into batches. */
export interface BatchSettings {
  readonly maxExportBatchSize: number;
  readonly maxQueueSize: number;
  readonly scheduledDelayMillis: number;
  readonly exportTimeoutMillis: number;
}

/**
 * Returns the settings of the variables `OTEL_BSP_*`. A value that is no positive integer is as if
 * it were not set.
 */
export function batchSettings(variable: (name: string) => string): BatchSettings {
  const number = (name: string, otherwise: number) =>
    isPositiveInteger(variable(name)) ? Number(variable(name)) : otherwise;
  const maxQueueSize = number("OTEL_BSP_MAX_QUEUE_SIZE", 2_048);
  return {
    maxExportBatchSize: Math.min(number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512), maxQueueSize),
    maxQueueSize,
    scheduledDelayMillis: number("OTEL_BSP_SCHEDULE_DELAY", 5_000),
    exportTimeoutMillis: number("OTEL_BSP_EXPORT_TIMEOUT", 30_000),
  };
}

/** True for the text of an integer from 1 up that a timer takes. */
export function isPositiveInteger(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) > 0 && Number(text) < 2 ** 31;
}
