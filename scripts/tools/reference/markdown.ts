/** Returns a Markdown table; its cells may hold any text. */
export function tableText(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [header, header.map(() => "---"), ...rows.map((row) => row.map(cellText))];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Returns the line that names the generator of a page; it must follow the title. */
export function generatedNote(source: string): string {
  return `<!-- \`./scripts/deno run -A scripts/tools/docs.ts\` writes this page from ${source} -->`;
}

/** Returns a text as the cell of a table; code in it is shown as it is written. */
function cellText(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(
    /`[^`]*`|</g,
    (found) => found === "<" ? "&lt;" : found,
  );
}
