/** Returns the name of a client key's label as a field of log lines and a label of metrics. */
export function keyLabelField(label: string): string {
  return `key_${label}`;
}
