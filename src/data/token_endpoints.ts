/**
 * Addresses from which clouds issue credentials. No file of a key and no response changes them, so
 * that a secret is sent to its cloud only.
 */

/** Authority of Microsoft Entra ID in the public cloud. */
export const ENTRA_AUTHORITY = "https://login.microsoftonline.com";

/** Token endpoint of Google, which is also the audience of assertions. */
export const GOOGLE_TOKEN_ENDPOINT = "https://oauth2.googleapis.com/token";

/** Metadata service of a machine at Azure, Google and AWS. */
export const METADATA_ORIGIN = "http://169.254.169.254";

/** Credentials of a task of ECS. */
export const CONTAINER_ORIGIN = "http://169.254.170.2";

/** Hosts at which the agent of a pod or a task issues credentials without TLS. */
export const CONTAINER_HOSTS: readonly string[] = [
  "169.254.170.2",
  "169.254.170.23",
  "[fd00:ec2::23]",
];

/** Returns the address of the Security Token Service (STS) of AWS in a region. */
export function stsAddress(region: string): string {
  return `https://sts.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}/`;
}
