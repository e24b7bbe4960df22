/** What a call has used beside tokens, as prices by image, minute and character count it. */
export interface BilledUnits {
  /** Number of images of the response. */
  readonly images?: number;
  /** Length of the audio in seconds. */
  readonly seconds?: number;
  /** Number of characters (Unicode code points) of the request's text. */
  readonly characters?: number;
}
