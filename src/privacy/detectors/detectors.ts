import type { DetectorName } from "../../config/privacy_schema.ts";
import type { Finder } from "../types.ts";
import { newEmailFinder } from "./email.ts";
import { newIbanFinder } from "./iban.ts";
import {
  newApiKeyFinder,
  newAwsKeyFinder,
  newGithubTokenFinder,
  newSlackTokenFinder,
} from "./keys.ts";
import { newCardFinder, newPhoneFinder, newSsnFinder } from "./numbers.ts";
import { newPrivateKeyFinder } from "./private_key.ts";

/** Makes the finder of each built-in detector, with its label. */
export const DETECTORS: Readonly<Record<DetectorName, (label: string) => Finder>> = {
  email: newEmailFinder,
  phone: newPhoneFinder,
  card: newCardFinder,
  iban: newIbanFinder,
  us_ssn: newSsnFinder,
  aws_key: newAwsKeyFinder,
  github_token: newGithubTokenFinder,
  slack_token: newSlackTokenFinder,
  api_key: newApiKeyFinder,
  private_key: newPrivateKeyFinder,
};
