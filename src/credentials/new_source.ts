import { newAwsSource } from "./aws.ts";
import { newEntraSource } from "./entra.ts";
import { newFileSource } from "./file.ts";
import { newGoogleSource } from "./google.ts";
import type { NewSource } from "./source.ts";

/** Returns the source of a credential by its type. */
export const newSource: NewSource = (settings, deps) => {
  switch (settings.type) {
    case "file":
      return newFileSource(settings, deps);
    case "entra":
      return newEntraSource(settings, deps);
    case "google":
      return newGoogleSource(settings, deps);
    case "aws":
      return newAwsSource(settings, deps);
  }
};
