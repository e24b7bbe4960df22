import { MAY_IMPORT, PACKAGES } from "../layers.ts";
import { tableText } from "./markdown.ts";

/**
 * Returns the import table of the folders of src, and the packages that only some of them import.
 */
export function importTable(): string {
  const rows = Object.entries(MAY_IMPORT).map(([folder, allowed]) => [
    `\`src/${nameOf(folder)}\``,
    allowed === "everything"
      ? "everything"
      : allowed.map((one) => `\`${nameOf(one)}\``).join(", ") || "nothing",
  ]);
  const packages = Object.entries(PACKAGES).map(([name, owners]) => [
    `\`${name}\``,
    owners.map((one) => `\`${nameOf(one)}\``).join(", "),
  ]);
  return [
    tableText(["folder", "may import"], rows),
    tableText(["package", "only imported by"], packages),
  ].join("\n\n");
}

function nameOf(layer: string): string {
  return layer.endsWith(".ts") ? layer : `${layer}/`;
}
