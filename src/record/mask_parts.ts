import { decodeHeaderText, encodeHeaderText } from "../core/header_fields.ts";
import { decodeUriText } from "../core/uri_text.ts";

/** Masks the parts of a record, each as it is written. */
export interface PartMask {
  text(text: string): string;
  header(value: string): string;
  /** Masks the query of a URL without its question mark. */
  query(query: string): string;
}

/** Returns what masks the parts of a record by what masks a text. */
export function newPartMask(mask: (text: string) => string): PartMask {
  function maskPart(part: string): string {
    const text = decodeUriText(part.replaceAll("+", " "));
    const masked = mask(text);
    // Of the first equals sign, which ends the name.
    return masked === text ? part : encodeURIComponent(masked).replace("%3D", "=");
  }

  return {
    text: mask,
    header(value) {
      const text = decodeHeaderText(value);
      const masked = mask(text);
      return masked === text ? value : encodeHeaderText(masked);
    },
    query: (query) => query.split("&").map(maskPart).join("&"),
  };
}
